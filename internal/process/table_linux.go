package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procfs reads /proc without a library in between: a table of 2,000 processes costs a few system calls each.
type procfs struct {
	root string // "/proc"; another folder in tests
	uid  int
}

func newKernel() kernel { return procfs{root: "/proc", uid: os.Geteuid()} }

func (k procfs) bootID() (string, error) {
	data, err := os.ReadFile(filepath.Join(k.root, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(data))
	if id == "" {
		return "", errors.New("empty boot_id")
	}
	return id, nil
}

func (k procfs) process(pid int) (Process, error) {
	d, err := k.open(pid)
	if err != nil {
		return Process{}, err
	}
	defer d.close()
	p, err := d.read(pid)
	if err != nil {
		return Process{}, err
	}
	p.Cwd = d.link("cwd")
	return p, nil
}

func (k procfs) processes(ctx context.Context) ([]Process, error) {
	pids, err := k.pids()
	if err != nil {
		return nil, err
	}
	all := make([]Process, 0, len(pids))
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := k.listed(pid)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("pid %d: %w", pid, err)
		}
		all = append(all, p)
	}
	return all, nil
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

// listed reads one process of the scan. With hidepid=1 those of other users are listed but may not be read; they are
// kept with pid and owner, so that they are at least known to exist.
func (k procfs) listed(pid int) (Process, error) {
	d, err := k.open(pid)
	if err != nil {
		return Process{}, err
	}
	defer d.close()
	p, err := d.read(pid)
	if !errors.Is(err, os.ErrPermission) {
		return p, err
	}
	var st unix.Stat_t
	if statErr := unix.Fstat(d.fd, &st); statErr != nil || int(st.Uid) == k.uid {
		return Process{}, errors.Join(err, statErr)
	}
	return Process{Identity: Identity{PID: pid}, UID: int(st.Uid)}, nil
}

// procDir is an open /proc/PID. All files are opened relative to it, so they are of one process even when the pid is
// reused meanwhile: below the folder of an ended process the kernel answers ESRCH.
type procDir struct{ fd int }

func (k procfs) open(pid int) (procDir, error) {
	path := k.root + "/" + strconv.Itoa(pid)
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	return procDir{fd}, goneOr("open", err)
}

func (d procDir) close() { _ = unix.Close(d.fd) }

func (d procDir) read(pid int) (Process, error) {
	var buf [4096]byte
	stat, err := d.file("stat", buf[:0])
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
	status, err := d.file("status", buf[:0])
	if err != nil {
		return Process{}, err
	}
	tgid, uid, err := parseStatus(status)
	if err != nil {
		return Process{}, err
	}
	if tgid != pid { // /proc/TID can be opened though it is never listed
		return Process{}, fmt.Errorf("a thread of pid %d: %w", tgid, ErrGone)
	}
	cmdline, err := d.file("cmdline", buf[:0])
	if err != nil {
		return Process{}, err
	}
	p.UID, p.Args = uid, parseCmdline(cmdline)
	if len(p.Args) > 0 { // kernel threads and zombies have neither
		p.Exe = d.link("exe")
	}
	return p, nil
}

// file reads a whole file into buf, growing it when needed. A short read is the end: the kernel makes each of these files
// in one piece, and asking again costs a quarter of the whole scan.
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

// link reads a symbolic link; what may not be read is left empty, because only the owner may and nothing depends on it.
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
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
		return fmt.Errorf("%s: %w", what, ErrGone)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
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

// parseCmdline splits what execve was given. Every argument ends in one NUL, so empty ones stay.
func parseCmdline(data []byte) []string {
	data = bytes.TrimSuffix(data, []byte{0})
	if len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), "\x00")
}
