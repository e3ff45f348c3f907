package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ccbot/internal/procstat"
)

// procfs reads /proc without a library: even a table of 2,000 processes costs only a few system
// calls per process.
type procfs struct {
	root string // "/proc"; another folder in tests
	uid  int
	// lives asks the kernel directly, not through /proc, whether a process with that pid runs.
	lives func(pid int) (bool, error)
	clock string // the time namespace of this process; empty if the kernel has none
}

func newKernel() kernel {
	clock, _ := os.Readlink("/proc/self/ns/time")
	return procfs{root: "/proc", uid: os.Geteuid(), lives: holdable, clock: clock}
}

func (k procfs) bootID() (string, error) {
	data, err := os.ReadFile(filepath.Join(k.root, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", err
	}
	offsets, err := os.ReadFile(filepath.Join(k.root, "self/timens_offsets"))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel before 5.6 has no such file
		return "", err
	}
	id, err := procstat.Boot(data, offsets)
	if err == nil && id == "" {
		err = errors.New("empty boot_id")
	}
	return id, err
}

// process checks twice before it returns ErrGone: with hidepid the folder of a living process is
// missing too.
func (k procfs) process(pid int) (Process, error) {
	p, err := k.read(pid)
	if !errors.Is(err, ErrGone) || errors.Is(err, errThread) {
		return p, err
	}
	lives, probeErr := k.lives(pid)
	switch {
	case probeErr != nil:
		return Process{}, fmt.Errorf("not in %s, and %w", k.root, probeErr)
	case lives:
		return Process{}, errHidden
	}
	return Process{}, err
}

func (k procfs) read(pid int) (Process, error) {
	d, err := k.open(pid)
	if err != nil {
		return Process{}, err
	}
	defer d.close()
	p, err := d.read(pid, make([]byte, 0, pageSize))
	if err != nil {
		return Process{}, err
	}
	p.Exe, p.Cwd = d.link("exe"), d.link("cwd")
	clock := d.link("ns/time")
	p.OtherClock = clock != "" && clock != k.clock
	return p, nil
}

// pageSize is enough for nearly every file that is read; the buffer grows for a longer command
// line.
const pageSize = 4096

// maxScanners is the number of threads that read the table in parallel: most of the time is spent
// inside the kernel.
const maxScanners = 4

func (k procfs) processes(ctx context.Context) ([]Process, error) {
	pids, err := k.pids()
	if err != nil {
		return nil, err
	}
	all := make([]Process, len(pids))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), maxScanners) {
		group.Go(func() error {
			buf := make([]byte, 0, pageSize)
			for i := int(next.Add(1)) - 1; i < len(pids) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				p, err := k.listed(pids[i], buf)
				if err != nil && !errors.Is(err, ErrGone) {
					return fmt.Errorf("pid %d: %w", pids[i], err)
				}
				all[i] = p
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	// Those that vanished during the read.
	return slices.DeleteFunc(all, func(p Process) bool { return p.PID == 0 }), nil
}

func (k procfs) pids() ([]int, error) {
	dir, err := os.Open(k.root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// listed reads one process of the scan. With hidepid=1 the processes of other users are listed but
// may not be read; they are kept with pid and owner, so that at least their existence is known.
func (k procfs) listed(pid int, buf []byte) (Process, error) {
	d, err := k.open(pid)
	if err != nil {
		return Process{}, err
	}
	defer d.close()
	p, err := d.read(pid, buf)
	if errors.Is(err, os.ErrPermission) && d.uid != k.uid {
		return Process{Identity: Identity{PID: pid}, UID: d.uid}, nil
	}
	if err != nil {
		return Process{}, err
	}
	// The executable shows an agent that has another name (IsAgent), which matters only where argv
	// is the evidence. Reading it for all processes would be an eighth of the scan.
	if slices.ContainsFunc(p.Args, endsInID) {
		p.Exe = d.link("exe")
	}
	return p, nil
}

// endsInID reports whether an argument ends in an id, as the one that names a conversation does.
func endsInID(arg string) bool {
	const length, lastDash = 36, 13 // from the end; the dash is checked first, because few words have it
	arg = strings.TrimSpace(arg)
	return len(arg) >= length && arg[len(arg)-lastDash] == '-' && uuid.Validate(arg[len(arg)-length:]) == nil
}

// procDir is an open /proc/PID. All files are opened relative to it, so they belong to one process
// even when the pid is reused in between: below the folder of an ended process the kernel answers
// ESRCH.
type procDir struct {
	fd int
	// uid is the owner of the folder, which is the effective user of the process. (Only the files
	// inside show root for a process that is not dumpable.) For an ended process it is 0, so it is
	// valid only if a file could be read after it.
	uid int
}

func (k procfs) open(pid int) (procDir, error) {
	path := k.root + "/" + strconv.Itoa(pid)
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return procDir{}, goneOr("open", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return procDir{}, goneOr("stat", err)
	}
	return procDir{fd: fd, uid: int(st.Uid)}, nil
}

func (d procDir) close() { _ = unix.Close(d.fd) }

// read returns everything but the links. It uses buf for the files.
func (d procDir) read(pid int, buf []byte) (Process, error) {
	stat, err := d.file("stat", buf)
	if err != nil {
		return Process{}, err
	}
	p, err := parseStat(stat)
	if err != nil {
		return Process{}, err
	}
	if p.PID != pid {
		return Process{}, fmt.Errorf("stat of pid %d names pid %d", pid, p.PID)
	}
	cmdline, err := d.file("cmdline", buf)
	if err != nil {
		return Process{}, err
	}
	p.UID, p.Args = d.uid, parseCmdline(cmdline)
	return p, nil
}

// file reads a whole file into buf, which grows when needed. A short read means the end of the
// file: the kernel makes each of these files in one piece, and one more read would cost a quarter
// of the whole scan.
func (d procDir) file(name string, buf []byte) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, goneOr(name, err)
	}
	defer unix.Close(fd)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return nil, goneOr(name, err)
		}
		short := n < cap(buf)-len(buf)
		buf = buf[:len(buf)+n]
		if n == 0 || short {
			return buf, nil
		}
	}
}

// link reads a symbolic link; a link that may not be read gives "", because only the owner may read
// it and nothing depends on it.
func (d procDir) link(name string) string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(d.fd, name, buf[:])
	if err != nil || n <= 0 {
		return ""
	}
	return string(buf[:n])
}

func goneOr(what string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
		return fmt.Errorf("%s: %w", what, ErrGone)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// retry repeats a call that a signal interrupted; the runtime's own preemption signals do that.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// parseCmdline splits the arguments that were given to execve. Every argument ends in one NUL, so
// empty arguments are kept.
func parseCmdline(data []byte) []string {
	data = bytes.TrimSuffix(data, []byte{0})
	if len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// errThread means that the number is a thread's: /proc/TID can be opened although it is never
// listed. No process has that number.
var errThread = fmt.Errorf("a thread of another process: %w", ErrGone)

// parseStat reads everything in /proc/PID/stat; the owner is not in that file.
func parseStat(data []byte) (Process, error) {
	s, err := procstat.Parse(data)
	if err == nil && s.Thread {
		err = errThread
	}
	if err != nil {
		return Process{}, err
	}
	return Process{Identity: Identity{PID: s.PID, Start: s.Start}, State: s.State, Comm: s.Comm,
		PPID: s.PPID, PGID: s.PGID, SID: s.SID, TTY: s.TTY, Foreground: s.Foreground}, nil
}
