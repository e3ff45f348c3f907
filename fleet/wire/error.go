package wire

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"syscall"

	"ccbot/internal/wording"
	"ccbot/port/refusal"
)

// Error is an error as it crosses. The receiver matches it as the sender would: by the code of its
// refusal, and with errors.Is for the known errors below.
type Error struct {
	Text    string         `json:"text"`
	Masked  string         `json:"masked,omitempty"` // Text without the words of people, see wording; empty: the same
	Refusal *refusal.Error `json:"refusal,omitempty"`
	Reason  string         `json:"reason,omitempty"` // the text of the refusal's Err; empty: it has none
	Op      string         `json:"op,omitempty"`     // of an error about the file Path
	Path    string         `json:"path,omitempty"`
	Known   []string       `json:"known,omitempty"` // names of known errors that are in it
}

// mostError is the length of each text of an error, in bytes. The rest is cut.
const mostError = 4 << 10

// known are the errors that keep their identity, each with its name on the wire. The order of a
// table keeps the encoding the same each time.
var known = []struct {
	name string
	err  error
}{
	{"canceled", context.Canceled},
	{"deadline_exceeded", context.DeadlineExceeded},
	{"not_exist", fs.ErrNotExist},
	{"invalid", fs.ErrInvalid},
	{"ENOSPC", syscall.ENOSPC},
	{"EDQUOT", syscall.EDQUOT},
	{"EROFS", syscall.EROFS},
	{"EIO", syscall.EIO},
	{"ESTALE", syscall.ESTALE},
	{"EMFILE", syscall.EMFILE},
	{"ENFILE", syscall.ENFILE},
	{"EAGAIN", syscall.EAGAIN},
	{"ENOMEM", syscall.ENOMEM},
	{"EACCES", syscall.EACCES},
	{"EPERM", syscall.EPERM},
	{"ENAMETOOLONG", syscall.ENAMETOOLONG},
}

func encodeError(err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Text: err.Error()}
	if masked := wording.Mask("").Error(err); masked != e.Text {
		e.Masked = masked
	}
	if r := refusal.In(err); r.Code != refusal.Internal {
		refused := *r
		if refused.Err = nil; r.Err != nil {
			e.Reason = r.Err.Error()
		}
		e.Refusal = &refused
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		e.Op, e.Path = file.Op, file.Path
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			e.Known = append(e.Known, k.name)
		}
	}
	return e
}

// decode returns the error, and nil for nil.
func (e *Error) decode() error {
	if e == nil {
		return nil
	}
	cutTexts(reflect.ValueOf(e)) // people read them
	var inside []error
	for _, name := range e.Known {
		for _, k := range known {
			if k.name == name {
				inside = append(inside, k.err)
			}
		}
	}
	if e.Path != "" {
		inside = []error{&fs.PathError{Op: e.Op, Path: e.Path, Err: errors.Join(inside...)}}
	}
	if e.Refusal == nil {
		return &remoteError{e.Text, e.Masked, inside}
	}
	r := *e.Refusal
	if e.Reason != "" {
		r.Err = &remoteError{e.Reason, e.Masked, inside}
	}
	if r.Error() == e.Text {
		return &r
	}
	return &remoteError{e.Text, e.Masked, []error{&r}}
}

// cutTexts cuts each text of the variable that a pointer points to.
func cutTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Len() > mostError {
			v.SetString(strings.ToValidUTF8(v.String()[:mostError], ""))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cutTexts(v.Elem())
		}
	case reflect.Slice:
		for i := range textLen(v) {
			cutTexts(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			cutTexts(v.Field(i))
		}
	}
}

// remoteError is the error of another machine.
type remoteError struct {
	text, masked string
	inside       []error
}

func (e *remoteError) Error() string { return e.text }

// Masked implements wording.Worded.
func (e *remoteError) Masked(wording.Mask) string { return cmp.Or(e.masked, e.text) }

func (e *remoteError) Unwrap() []error { return e.inside }
