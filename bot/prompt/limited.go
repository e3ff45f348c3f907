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
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/talk"
)

// limitPace is the longest pause between two looks at texts that a limit holds: timers stop while the
// machine sleeps, the clock does not.
const limitPace = time.Minute

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
	Model     string        // empty: unknown
	Continues bool          // a prompt that continues it is planned, which goes first
}

// afterLimit decides about the texts that a limit holds. A turn that was answered since ends the
// limit. Texts that would come long after its end, or to another model, are not what their writer
// waits for: a person is asked about them. It is pure.
func (a facts) afterLimit(s limitState) fate {
	late := s.At.Sub(a.Until)
	switch {
	case s.Failed.Phase == "":
		return goes
	case late < 0, s.Continues && late <= MaxAge:
		return stays
	case a.Long, late > MaxAge, a.Model != "" && s.Model != "" && s.Model != a.Model:
		return asks
	}
	return goes
}

// holds reports whether a question shows texts that go at the end of a limit.
func (a facts) holds() bool { return a.Reason == limited && !a.Until.IsZero() }

// Holds reports whether a limit holds texts for a session.
func (p *Prompts) Holds(session uuid.UUID) bool {
	_, is := p.holding(session)
	return is
}

func (p *Prompts) holding(session uuid.UUID) (facts, bool) {
	for _, c := range p.cards.List() {
		if c.Content.Session == session && c.Payload.holds() && stands(p, c) {
			return facts{Reason: limited, Until: c.Payload.Until, Model: c.Payload.Model, Long: c.Payload.Long}, true
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
		why.Until = found.Until.Truncate(time.Second).UTC()
		why.Long = p.Longest > 0 && why.Until.Sub(p.Chat.Now()) > p.Longest
		if work, err := p.Work(ctx, r.ID); err == nil {
			why.Model = modelOf(work)
		}
	}
	return why, true
}

// modelOf returns the model of a session's next turn: the transcript has that of its last answer.
func modelOf(work port.Work) string {
	if work.Usage == nil {
		return ""
	}
	return work.Usage.Model
}

// holdForLimit keeps a text until a limit ends.
func (p *Prompts) holdForLimit(ctx context.Context, why facts, e inbox.Entry, r port.Session) error {
	e.Session, e.Spoken = r.ID, "" // a person has seen the words of a recording
	err := p.wait(ctx, why, e, r)
	p.Limits.Changed()
	return err
}

// holdAgreed is holdForLimit for a text that a person has agreed to send. Its question is closed first:
// the one about the limit is for all texts of the session.
func (p *Prompts) holdAgreed(ctx context.Context, why facts, e inbox.Entry, r port.Session) error {
	below := render.Plain(p.Chat.In(e.Conversation).Say(i18n.QuestionBelow))
	if err := p.close(ctx, e.Key, below); err != nil {
		return err
	}
	return p.holdForLimit(ctx, why, e, r)
}

// AfterLimits sends the texts that a limit has held, in their order, once the limit is over; or asks
// about them. It returns when it has to be called again.
func (p *Prompts) AfterLimits(ctx context.Context) (again time.Duration, all error) {
	again = pause.Forever
	for _, c := range p.cards.List() {
		if !c.Payload.holds() {
			continue
		}
		left, err := p.afterLimit(ctx, c)
		again, all = min(again, left), errors.Join(all, err)
	}
	return again, all
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
	work, err := p.Work(ctx, r.ID)
	if err != nil {
		return limitPace, err
	}
	s := limitState{At: p.Chat.Now(), Failed: work.Failed, Model: modelOf(work), Continues: p.Limits.Planned(r.ID)}
	switch c.Payload.afterLimit(s) {
	case asks:
		return pause.Forever, p.askHeld(ctx, limited, texts, r)
	case goes:
		return pause.Forever, p.sendHeld(ctx, c.Payload, texts, r)
	}
	if left := c.Payload.Until.Sub(s.At); left > 0 {
		return min(limitPace, left), nil
	}
	return limitPace, nil // the prompt that goes first has its own time
}

// heldTexts returns the texts of a question that still wait, oldest first.
func (p *Prompts) heldTexts(c card.Card[facts]) ([]inbox.Entry, error) {
	rest, err := unasked(p, c.Content.To, c.Content.Session)
	if err != nil {
		return nil, err
	}
	own, err := p.Entries.Load(c.Key)
	if err == nil && own.State == inbox.Asked {
		return append([]inbox.Entry{own}, rest...), nil
	}
	if chat.IsGone(err) {
		err = nil
	}
	return rest, err
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
// out; after another failure the others wait for the next try.
func (p *Prompts) sendHeld(ctx context.Context, was facts, texts []inbox.Entry, r port.Session) error {
	for _, e := range slices.Clone(texts) {
		p.Chat.At("text-next")
		if err := p.decide(ctx, sendHeldNow, e, r, was, 0); chat.IsGone(err) {
			continue
		} else if err != nil {
			return err
		}
		if _, own := p.cards.Get(e.Key); own {
			if err := p.answered(ctx, sendHeldNow, e, r, was, 0); err != nil {
				return err
			}
		}
	}
	return nil
}
