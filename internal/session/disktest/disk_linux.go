package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/programtest"
)

const (
	// childEnv contains the mount point, in the environment of the child.
	childEnv = "CCBOT_DISKTEST"
	// The child writes one of these at its end; without either it died, or no test ran.
	saysDone    = "disktest: done\n"
	saysMissing = "disktest: no disk: "
)

// Run runs body in a child process of this test, with an empty disk of size bytes at dir. The test
// must not be a subtest. If this user may not mount anything, Run skips the
// test as programtest.Skip does.
func Run(t *testing.T, size int, body func(dir string)) {
	t.Helper()
	if dir := os.Getenv(childEnv); dir != "" {
		if err := mount(dir, size); err != nil {
			say(saysMissing + err.Error() + "\n")
			return
		}
		body(dir)
		if !t.Failed() {
			say(saysDone)
		}
		return
	}
	out, err := child(t, t.TempDir()).CombinedOutput()
	if why := refused(string(out), err); why != "" {
		programtest.Skip(t, why)
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), saysDone, "the test has not run to its end in the child")
}

// say writes a line for the parent, which reads the child's output.
func say(line string) { _, _ = os.Stdout.WriteString(line) }

// child runs this test once more, in its own mount namespace, and in its own user namespace where
// the mount namespace needs one.
func child(t *testing.T, dir string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.count=1")
	cmd.Env = append(cmd.Environ(), childEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
	return cmd
}

// refused returns the reason for which there can be no disk here, "" if the child failed for
// another reason or not at all.
func refused(out string, err error) string {
	if m := regexp.MustCompile(saysMissing + `(.*)`).FindStringSubmatch(out); m != nil {
		return "no disk of its own for this test: " + m[1]
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSPC) {
		return "no namespace for a disk: " + err.Error() // ENOSPC: the limit of namespaces
	}
	return ""
}

// mount makes the mounts private first, so that the disk does not appear in other namespaces.
func mount(dir string, size int) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// ReadOnly makes the disk at dir read-only, even for root.
func ReadOnly(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}

// Protect makes a folder on the disk read-only, even for root, until heal is called.
func Protect(t *testing.T, dir string) (heal func()) {
	t.Helper()
	require.NoError(t, unix.Mount(dir, dir, "", unix.MS_BIND, ""))
	require.NoError(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	return func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) }
}

// Fill uses all the space that is left on the disk at dir. free releases it.
func Fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, ".filler")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	require.NoError(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, os.Getpagesize()))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, file.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}
