package process

import (
	"context"
	"errors"
	"fmt"

	gopsutil "github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// sysctls reads the process table of darwin through sysctl(3), without cgo.
type sysctls struct{}

func newKernel() kernel { return sysctls{} }

func (sysctls) bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

func (k sysctls) process(pid int) (Process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.pid", pid)
	if err != nil {
		return Process{}, err
	}
	if len(all) == 0 {
		return Process{}, ErrGone
	}
	p, err := k.complete(all[0])
	if err != nil || p.Gone() {
		return p, err
	}
	// For another user's process neither path is available, and nothing is decided on them.
	seen := gopsutil.Process{Pid: int32(pid)}
	if exe, err := seen.Exe(); err == nil && exe != "" {
		p.Exe = exe // from the kernel: the path given to execve may be a link
	}
	p.Cwd, _ = seen.Cwd()
	return p, nil
}

func (k sysctls) processes(ctx context.Context) ([]Process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	found := make([]Process, 0, len(all))
	for _, info := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if info.Proc.P_pid == 0 {
			continue // the kernel itself
		}
		p, err := k.complete(info)
		if err != nil {
			return nil, fmt.Errorf("pid %d: %w", info.Proc.P_pid, err)
		}
		found = append(found, p)
	}
	return found, nil
}

// complete adds the command line. The kernel refuses that of another user's process, and a process
// that ends in between has none.
func (sysctls) complete(info unix.KinfoProc) (Process, error) {
	p := fromKinfo(info)
	if p.Gone() {
		return p, nil
	}
	raw, err := unix.SysctlRaw("kern.procargs2", p.PID)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO) {
		return p, nil
	}
	if err != nil {
		return Process{}, fmt.Errorf("kern.procargs2: %w", err)
	}
	p.Exe, p.Args = parseProcArgs(raw)
	return p, nil
}

func fromKinfo(info unix.KinfoProc) Process {
	const zombie = 5 // SZOMB of <sys/proc.h>
	pid, start := int(info.Proc.P_pid), info.Proc.P_starttime
	p := Process{
		Identity: Identity{PID: pid, Start: uint64(start.Sec)*1000 + uint64(start.Usec)/1000},
		PPID:     int(info.Eproc.Ppid), PGID: int(info.Eproc.Pgid), UID: int(info.Eproc.Ucred.Uid),
		TTY: max(int(info.Eproc.Tdev), 0), Foreground: int(info.Eproc.Tpgid),
		Comm: unix.ByteSliceToString(info.Proc.P_comm[:]), State: 'S',
	}
	if info.Proc.P_stat == zombie {
		p.State = 'Z'
	}
	if sid, err := unix.Getsid(pid); err == nil {
		p.SID = sid
	}
	return p
}
