package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	tgbot "github.com/go-telegram/bot"
)

// richFile says of each server whether it has rich messages (Bot API 10.1).
const richFile = "rich.json"

// richAgain is after how long a server that had none is asked again: it may be newer by then.
const richAgain = 7 * 24 * time.Hour

// richFact is what was found out about one server.
type richFact struct {
	Has bool      `json:"has"`
	At  time.Time `json:"at"`
}

// TakesRich says whether the server is known to have rich messages, or may have them.
func (o *Outbox) TakesRich() bool {
	f, known := o.rich.get(o.server)
	age := time.Since(f.At)
	return !known || f.Has || age < 0 || age >= richAgain
}

// noteRich keeps what was found out.
func (o *Outbox) noteRich(has bool) {
	if f, known := o.rich.get(o.server); known && f.Has && has {
		return
	}
	o.rich.change(func(all map[string]richFact) bool {
		all[o.server] = richFact{Has: has, At: time.Now().UTC().Truncate(time.Second)}
		return true
	})
	if !has {
		o.log.Info("the server has no rich messages", "server", o.server)
	}
}

// unknownMethod finds out what a 404 for a rich message means: the server does not know the method,
// or the token.
func (o *Outbox) unknownMethod(ctx context.Context, missing error) verdict {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := o.api.GetMe(ctx)
	switch {
	case err == nil:
		return verdict{answer: refused, err: fmt.Errorf("%w: %w", ErrNoRich, missing)}
	case errors.Is(err, tgbot.ErrorUnauthorized), errors.Is(err, tgbot.ErrorNotFound):
		return verdict{answer: revoked, err: fmt.Errorf("%w: %w", ErrRevoked, err)}
	}
	return verdict{answer: later}
}
