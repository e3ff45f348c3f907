package host

import (
	"errors"

	"ccbot/bot/port/refusal"
	"ccbot/lifecycle"
)

// Refused puts writers into the terms of the chat, in an error of lifecycle. Its other errors are
// refusals by themselves.
func (m Desk) Refused(err error) error {
	if e, ok := errors.AsType[*lifecycle.WriterError](err); ok {
		return &refusal.Error{Code: refusal.Writers, Writers: m.writersOf(e.Writers), Err: err}
	}
	return err
}
