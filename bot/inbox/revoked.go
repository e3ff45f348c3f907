package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// One answer 401 or 404 proves nothing: a proxy, a restarting server, or Telegram itself may send
// it for a while. A token counts as revoked after this time and this many answers without any
// other.
const (
	revokedAfter   = 10 * time.Minute
	revokedAnswers = 10
)

// tokenDoubt counts consecutive answers of getMe that do not know the token. Any other result of a
// call restarts the count.
type tokenDoubt struct {
	since   time.Time // of the first answer
	answers int
}

// note counts an answer and reports whether the token counts as revoked.
func (d *tokenDoubt) note(now time.Time) (revoked bool) {
	if d.answers == 0 {
		d.since = now
	}
	d.answers++
	return d.answers >= revokedAnswers && now.Sub(d.since) >= revokedAfter
}

// askWho calls getMe for a second opinion after a poll that Telegram refused with 401 or 404. It
// returns the results of explain.
func (i *Intake) askWho(ctx context.Context, p *polling, failed *pollError) (time.Duration, error) {
	_, err := i.ask(ctx, 0, func(ctx context.Context, from *poller) (reply, error) { return reply{}, from.me(ctx) })
	if ctx.Err() != nil {
		return 0, nil
	}
	second, ok := errors.AsType[*pollError](err)
	if err != nil && (!ok || second.cause != revoked) {
		return i.explain(ctx, p, err)
	}
	p.trouble.warn(ctx, slog.LevelError, "bot_token_refused", failed)
	if err == nil {
		p.doubt = tokenDoubt{}
		return p.failing.Next(), nil
	}
	if p.doubt.note(time.Now()) {
		return 0, fmt.Errorf("%w (%s)", ErrRevoked, second.Error())
	}
	i.cfg.Pulse.Failed(revoked)
	return p.failing.Next(), nil
}
