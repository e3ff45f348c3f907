package prompt

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

const (
	// limitPace is the longest pause between two looks at texts that a limit holds: timers stop while the
	// machine sleeps, the clock does not.
	limitPace = time.Minute
	// limitFault is the pause after a failure.
	limitFault = 5 * time.Second
)

// fate is what becomes of the texts that a limit holds.
type fate int

const (
	stays fate = iota
	goes
	asks
)

// limitState is what a session is like while a limit holds its texts.
type limitState struct {
	At        time.Time
	Failed    talk.Activity // how its last turn failed
	Turns     int           // that have ended
	Idle      bool          // it waits for a prompt, and no limit is known
	Model     string        // empty: unknown
	Continues bool          // a prompt that continues it is planned, which goes first
}

// afterLimit decides about the texts that a limit holds. Texts that would come long after its end, or
// to another model, are not what their writer waits for: a person is asked about them. A turn that
// was answered since ends the limit; a failure that is only gone, after a /clear or a /login, does
// not. The agent may continue by itself for a while after the end. It is pure.
func (a facts) afterLimit(s limitState) fate {
	late, fails := s.At.Sub(a.due()), s.Failed.Phase != ""
	switch {
	case late > MaxAge, a.Model != "" && s.Model != "" && s.Model != a.Model:
		return asks
	case !fails && s.Turns > a.Turns:
		return goes
	case !fails && s.Idle:
		return asks
	case !fails, late < 0, s.Continues:
		return stays
	case a.Long:
		return asks
	}
	return goes
}

// due is when the texts go that a limit holds.
func (a facts) due() time.Time { return a.Until.Add(talk.ContinuesWithin) }

// holds reports whether a question shows texts that go at the end of a limit.
func (a facts) holds() bool { return a.Reason == limited && !a.Until.IsZero() }

// Holds reports whether a limit holds texts for a session.
func (p *Prompts) Holds(session uuid.UUID) bool {
	_, is := p.holding(session)
	return is
}

// holding returns the open question of held texts, also while they are being sent: later ones follow.
func (p *Prompts) holding(session uuid.UUID) (why facts, is bool) {
	for _, c := range p.cards.List() {
		if c.Content.Session == session && c.Payload.holds() {
			why = c.Payload
			why.Others, why.Words = "", ""
			return why, true
		}
	}
	return facts{}, false
}

// limit returns the question about a text that a limit holds: it would fail. A command is not held,
// because it may be what ends the limit. A text that follows held ones is held, too: they keep their
// order.
func (p *Prompts) limit(ctx context.Context, e inbox.Entry, r port.Session) (why facts, is bool) {
	if e.Class != talk.ClassPlain || !r.State.Live() {
		return facts{}, false
	}
	if why, is = p.holding(r.ID); is {
		return why, true
	}
	found := r.Now.At(p.Chat.Now())
	if found.Phase != talk.PhaseLimited {
		return facts{}, false
	}
	why = facts{Reason: limited}
	if !found.Until.IsZero() {
		work, _ := p.Work(ctx, r.ID) // what is not known does not count
		why.Model = modelOf(work)
		why = p.until(why, found.Until, work)
	}
	return why, true
}

// until returns the question about texts that a limit holds, with its end.
func (p *Prompts) until(why facts, end time.Time, work port.Work) facts {
	why.Until, why.Turns = end.Truncate(time.Second).UTC(), work.Turns
	why.Long = p.HoldFor > 0 && why.Until.Sub(p.Chat.Now()) > p.HoldFor
	return why
}

// modelOf returns the model of a session's next turn: the transcript has that of its last answer.
func modelOf(work port.Work) string {
	if work.Usage == nil {
		return ""
	}
	return work.Usage.Model
}

// holdForLimit keeps a text until a limit ends. The question about the limit is for all texts of the
// session: an earlier one of the text itself is closed after that.
func (p *Prompts) holdForLimit(ctx context.Context, why facts, e inbox.Entry, r port.Session) error {
	e.Session, e.Spoken = r.ID, "" // a person has seen the words of a recording
	err := p.wait(ctx, why, e, r)
	p.Limits.Changed()
	if c, own := p.cards.Get(e.Key); err != nil || !own || c.Payload.Reason == limited {
		return err
	}
	below := render.Plain(p.Chat.In(e.Conversation).Say(i18n.QuestionBelow))
	return errors.Join(p.close(ctx, e.Key, below), redrawShared(ctx, p, e.Conversation))
}

// SendOrHold queues a prompt for its session, or keeps it until a limit ends.
func (p *Prompts) SendOrHold(ctx context.Context, e inbox.Entry, r port.Session) error {
	if why, is := p.limit(ctx, e, r); is {
		return p.holdForLimit(ctx, why, e, r)
	}
	return p.enqueue(ctx, e, r)
}

// IsLimited reports whether a limit holds a text.
func (p *Prompts) IsLimited(ctx context.Context, e inbox.Entry, r port.Session) bool {
	_, is := p.limit(ctx, e, r)
	return is
}

// AfterLimits sends the texts that a limit has held, in their order, once the limit is over; or asks
// about them. It returns when it has to be called again.
func (p *Prompts) AfterLimits(ctx context.Context) (again time.Duration) {
	again = pause.Forever
	for _, c := range p.cards.List() {
		if c.Payload.Reason != limited {
			continue
		}
		left, err := p.afterLimit(ctx, c)
		if err != nil {
			p.Chat.Log.Warn("limit_texts_not_sent", logkey.SessionID, c.Content.Session.String(), logkey.Error, err)
			left = limitFault
		}
		again = min(again, left)
	}
	return again
}

func (p *Prompts) afterLimit(ctx context.Context, c card.Card[facts]) (again time.Duration, err error) {
	texts, err := p.heldTexts(c)
	r, known := p.book.Records.Get(c.Content.Session)
	if err != nil || len(texts) == 0 || !known || r.State == port.StateUnknown {
		return limitPace, err
	}
	if !r.State.Live() {
		return pause.Forever, p.askHeld(ctx, reasonLeft(texts[0], r, true), texts, r)
	}
	if !c.Payload.holds() {
		return pause.Forever, nil // a person decides
	}
	work, err := p.Work(ctx, r.ID)
	if err != nil {
		return limitPace, err
	}
	if f := work.Failed; f.Phase == talk.PhaseLimited && f.Until.Truncate(time.Second).After(c.Payload.Until) {
		c.Payload = p.until(c.Payload, f.Until, work) // another limit came
		if err := p.redraw(ctx, c, texts[0]); err != nil {
			return limitPace, err
		}
	}
	now := p.Chat.Now()
	s := limitState{At: now, Failed: work.Failed, Turns: work.Turns, Idle: r.Now.At(now).Phase == talk.PhaseIdle,
		Model: modelOf(work), Continues: p.Limits.Planned(r.ID)}
	switch c.Payload.afterLimit(s) {
	case asks:
		return pause.Forever, p.askHeld(ctx, limited, texts, r)
	case goes:
		return pause.Forever, p.sendHeld(ctx, c, texts, r)
	}
	if left := c.Payload.due().Sub(now); left > 0 {
		return min(limitPace, left), nil
	}
	return limitPace, nil // the prompt that goes first has its own time
}

// heldTexts returns the texts of a question that still wait, oldest first; without those of people
// who are no longer allowed.
func (p *Prompts) heldTexts(c card.Card[facts]) ([]inbox.Entry, error) {
	all, err := unasked(p, c.Content.To, c.Content.Session)
	if err != nil {
		return nil, err
	}
	own, err := p.Entries.Load(c.Key)
	if err == nil && own.State == inbox.Asked {
		all = append([]inbox.Entry{own}, all...)
	}
	if chat.IsGone(err) {
		err = nil
	}
	return slices.DeleteFunc(all, func(e inbox.Entry) bool { return isUnauthorized(p, e) }), err
}

// askHeld asks about texts instead of the limit's end. A question for several texts shows all.
func (p *Prompts) askHeld(ctx context.Context, why reason, texts []inbox.Entry, r port.Session) error {
	var errs []error
	for _, e := range texts {
		if _, shares := sharedBy(p, facts{Reason: why}, e); !shares {
			errs = append(errs, p.ask(ctx, facts{Reason: why}, e, r))
		}
	}
	return errors.Join(errs...)
}

// sendHeld sends texts in their order. One that a person has decided about at this moment is left
// out. After a failure the others wait for the next try, or for a person if another try would fail
// too. Their question stays open until the last one is sent: a new text comes after them.
func (p *Prompts) sendHeld(ctx context.Context, c card.Card[facts], texts []inbox.Entry, r port.Session) (err error) {
	for _, e := range texts {
		p.Chat.At("text-next")
		if err = p.decide(ctx, sendHeldNow, e, r, c.Payload, 0); chat.IsGone(err) {
			err = nil
		} else if err != nil && !passes(err) {
			p.Chat.Log.Warn("limit_texts_not_sent", logkey.SessionID, r.ID.String(), logkey.Error, err)
			if texts, err = p.heldTexts(c); err == nil {
				err = p.askHeld(ctx, limited, texts, r)
			}
			break
		} else if err != nil {
			break
		}
	}
	err = errors.Join(err, p.recount(ctx, r.ID))
	if now, open := p.cards.Get(c.Key); open && now.Payload.holds() && !stands(p, c) {
		err = errors.Join(err, askRest(ctx, p, c.Payload, c.Content.To, r.ID),
			p.close(ctx, c.Key, p.Chat.In(c.Content.To).Text(i18n.SentAgain, i18n.Args{"Name": r.Name})))
	}
	return err
}

// passes reports whether an error may be gone at the next try.
func passes(err error) bool {
	return sysfault.Of(err) != "" || refusal.MachineOf(err) != "" || refusal.Is(err, refusal.Unreachable)
}
