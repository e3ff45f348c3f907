package botapi

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pace is Telegram's rate limit, as its FAQ states it; edits count like sends (tdlib/td#2592).
type pace struct {
	all   *rate.Limiter
	chats map[int64][]*rate.Limiter
}

func newPace() *pace {
	return &pace{all: rate.NewLimiter(30, 30), chats: map[int64][]*rate.Limiter{}}
}

// paceLocked refuses what comes too fast, with the time to wait; nothing is used up then.
func (s *Server) paceLocked(c *chat) *apiError {
	if !s.opt.RealLimits {
		return nil
	}
	limits := s.pace.chats[c.ID]
	if limits == nil {
		limits = []*rate.Limiter{s.pace.all, rate.NewLimiter(1, 3)}
		if c.ID < 0 {
			limits = append(limits, rate.NewLimiter(rate.Every(3*time.Second), 20))
		}
		s.pace.chats[c.ID] = limits
	}
	now := s.opt.Now()
	var wait time.Duration
	var taken []*rate.Reservation
	for _, l := range limits {
		r := l.ReserveN(now, 1)
		taken = append(taken, r)
		wait = max(wait, r.DelayFrom(now))
	}
	if wait == 0 {
		return nil
	}
	for _, r := range taken {
		r.CancelAt(now)
	}
	return errTooMany(int(math.Ceil(wait.Seconds())))
}
