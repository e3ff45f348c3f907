package exit

import "errors"

// Exit codes. Service units do not restart after 2 and 3.
const (
	OK      = 0
	Failure = 1
	Misuse  = 2 // wrong usage or configuration: trying again cannot help
	Running = 3 // a live ccbot holds the lock
	Upgrade = 4 // `version --check` has found a release that is newer
)

// ErrRunning means that a live ccbot holds the lock.
var ErrRunning = errors.New("another one is running")

// usageError is an error that goes away only after a change of usage or configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks an error that goes away only after a change of usage or configuration.
func Usage(err error) error { return usageError{err} }

// newerError is about a release that can take this program's place.
type newerError struct{ error }

// Newer marks an error that is a piece of good news: there is a newer release.
func Newer(err error) error { return newerError{err} }

// Code is the exit code after an error.
func Code(err error) int {
	var wrong usageError
	var newer newerError
	switch {
	case errors.As(err, &newer):
		return Upgrade
	case errors.Is(err, ErrRunning):
		return Running
	case errors.As(err, &wrong):
		return Misuse
	}
	return Failure
}
