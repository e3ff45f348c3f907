package exit

import "errors"

// Exit codes. Service units do not restart after 2 and 3.
const (
	OK      = 0
	Failure = 1
	Misuse  = 2 // wrong usage or configuration: trying again cannot help
	Running = 3 // a live ccbot holds the lock
)

// ErrRunning means that a live ccbot holds the lock.
var ErrRunning = errors.New("another one is running")

// usageError is an error that goes away only after a change of usage or configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks an error that goes away only after a change of usage or configuration.
func Usage(err error) error { return usageError{err} }

// Code is the exit code after an error.
func Code(err error) int {
	var wrong usageError
	switch {
	case errors.Is(err, ErrRunning):
		return Running
	case errors.As(err, &wrong):
		return Misuse
	}
	return Failure
}
