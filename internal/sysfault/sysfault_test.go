package sysfault_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/sysfault"
)

func TestOf(t *testing.T) {
	path := func(op string, number syscall.Errno) error {
		return fmt.Errorf("save: %w", &os.PathError{Op: op, Path: "/x", Err: number})
	}
	tests := []struct {
		name string
		err  error
		want sysfault.Kind
	}{
		{"none", nil, ""},
		{"a full disk", path("write", syscall.ENOSPC), sysfault.DiskFull},
		{"a quota", path("write", syscall.EDQUOT), sysfault.DiskFull},
		{"a read-only disk", path("open", syscall.EROFS), sysfault.ReadOnly},
		{"a broken disk", path("fsync", syscall.EIO), sysfault.DiskFails},
		{"no descriptors", path("open", syscall.EMFILE), sysfault.Descriptors},
		{"no descriptors of the machine", path("open", syscall.ENFILE), sysfault.Descriptors},
		{"no processes", path("fork/exec", syscall.EAGAIN), sysfault.Processes},
		{"no memory", path("fork/exec", syscall.ENOMEM), sysfault.Memory},
		{"no permission", path("open", syscall.EACCES), sysfault.Permission},
		{"among others", errors.Join(errors.New("other"), path("open", syscall.EACCES)), sysfault.Permission},
		{"a socket that is not ready", path("read", syscall.EAGAIN), ""},
		{"a missing file", path("open", syscall.ENOENT), ""},
		{"a firewall", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)}, ""},
		{"no descriptor for a connection", &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}, sysfault.Descriptors},
		{"a text alone", errors.New("no space left on device"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, sysfault.Of(tt.err)) })
	}
}

func TestIn(t *testing.T) {
	for _, number := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENOMEM, syscall.EACCES} {
		err := &os.PathError{Op: "open", Path: "/x", Err: number}
		assert.Equal(t, sysfault.Of(err), sysfault.In(err.Error()), number.Error())
	}
	assert.Empty(t, sysfault.In("read: resource temporarily unavailable"))
	assert.Empty(t, sysfault.In("input/output error in the prompt, and more"))
}
