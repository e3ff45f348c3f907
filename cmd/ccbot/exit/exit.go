package exit

import "errors"

// Exit codes. Service units do not restart after 2 and 3. A crash has none: see running.Harden.
const (
	OK      = 0
	Failure = 1
	Misuse  = 2 // wrong usage or configuration: trying again cannot help
	Running = 3 // a live ccbot holds the lock
	// Interrupted is the code of setup after ^C, as a shell has it: 128 and the number of SIGINT.
	Interrupted = 130
)

// Meanings has the meaning of each code, for documents.
var Meanings = [][2]string{
	{"0", "done; a clean stop of the bot"},
	{"1", "not done: the reason is on standard error"},
	{"2", "wrong usage or configuration"},
	{"3", "a live ccbot holds the lock of the same folder"},
	{"130", "setup was interrupted"},
}

// ErrRunning means that a live ccbot holds the lock.
var ErrRunning = errors.New("another one is running")

// coded is an error with an exit code.
type coded struct {
	error
	code int
}

func (e coded) Unwrap() error { return e.error }

// Usage marks an error that goes away only after a change of usage or configuration.
func Usage(err error) error { return coded{err, Misuse} }

// Interrupt marks the error of a verb that a person interrupted.
func Interrupt(err error) error { return coded{err, Interrupted} }

// Code is the exit code after an error.
func Code(err error) int {
	var own coded
	switch {
	case errors.Is(err, ErrRunning):
		return Running
	case errors.As(err, &own):
		return own.code
	}
	return Failure
}
