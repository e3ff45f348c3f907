// Package sysfault names the faults of the machine that stop ccbot's calls and pass without a
// change of ccbot: a full disk, no free file descriptors, and so on.
//
// It promises that one table decides which errors of the system are such faults, for the sentence
// that a person reads, for the decision to try again, and for the log.
//
// It does not know which file or process an error is about, and holds no sentences.
package sysfault

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Kind is a kind of fault; the empty Kind means no fault.
type Kind string

// The kinds. Each has a sentence in every language: i18n.SystemKey.
const (
	DiskFull    Kind = "disk_full"
	ReadOnly    Kind = "read_only"
	DiskFails   Kind = "disk_fails"
	Descriptors Kind = "descriptors"
	Processes   Kind = "processes"
	Memory      Kind = "memory"
	Permission  Kind = "permission"
)

// kinds is the table.
var kinds = []struct {
	number syscall.Errno
	kind   Kind
}{
	{syscall.ENOSPC, DiskFull},
	{syscall.EDQUOT, DiskFull},
	{syscall.EROFS, ReadOnly},
	{syscall.EIO, DiskFails},
	{syscall.ESTALE, DiskFails},
	{syscall.EMFILE, Descriptors},
	{syscall.ENFILE, Descriptors},
	{syscall.EAGAIN, Processes}, // only of a process that cannot be started
	{syscall.ENOMEM, Memory},
	{syscall.EACCES, Permission},
	{syscall.EPERM, Permission},
}

// Kinds returns all kinds, each once.
func Kinds() (all []Kind) {
	for _, k := range kinds {
		if !slices.Contains(all, k.kind) {
			all = append(all, k.kind)
		}
	}
	return all
}

// Of returns the kind of fault that an error is. An error of the network is only a fault of the
// machine if it is about descriptors or memory: a firewall refuses with the numbers of a disk.
func Of(err error) Kind {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return ""
	}
	kind := Kind("")
	for _, k := range kinds {
		if k.number == number {
			kind = k.kind
		}
	}
	switch path, _ := errors.AsType[*os.PathError](err); {
	case kind == Processes && (path == nil || path.Op != "fork/exec"):
		return ""
	case errors.As(err, new(*net.OpError)) && kind != Descriptors && kind != Memory:
		return ""
	}
	return kind
}

// Cause returns the kind of an error, or name_too_long or missing for an error of a path. It is
// empty for any other error.
func Cause(err error) string {
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "name_too_long"
	case errors.Is(err, os.ErrNotExist):
		return "missing"
	}
	return string(Of(err))
}

// In returns the kind of fault that the text of an error ends with. EAGAIN is left out, because an
// error of a socket that is not ready has the same text.
func In(text string) Kind {
	for _, k := range kinds {
		if k.kind != Processes && strings.HasSuffix(text, k.number.Error()) {
			return k.kind
		}
	}
	return ""
}

// IsNoFolder reports whether the error of a look at "path/" proves that no folder is there: nothing,
// another file, or links in a ring. It is no fault of the machine.
func IsNoFolder(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
