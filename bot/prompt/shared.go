package prompt

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/bot/textlist"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/refusal"
)

const (
	mostDown    = 4 // sessions that one question offers to resume
	mostFolders = 3 // lastFolders in which it offers to start one
)

// isShared reports whether one question stands for all waiting prompts of a place to a session, or
// to none, for this reason.
func (a facts) isShared(to address.Conversation) bool {
	return a.Reason == nobody || a.Reason == over || a.Reason == border || a.Reason == limited || a.Reason == unaddressed && to.ThreadID != 0
}

// isSame reports whether two cards of a place ask the same, for any prompts. The reason of a
// question of a topic without a session may change at any time, also during a tap on it.
func (a facts) isSame(b facts, to address.Conversation) bool {
	a.Others, a.Words, a.Turns, b.Others, b.Words, b.Turns = "", "", 0, "", "", 0
	return a == b || a.isLacking(to) && b.isLacking(to)
}

// lacking returns the reason to ask about a text that is for no session.
func lacking(p *Prompts) reason {
	if some, err := openIn(p.book.Records); err == nil && len(some) == 0 {
		return nobody
	}
	return unaddressed
}

// isLacking reports whether a question is about all texts of a topic without a session.
func (a facts) isLacking(to address.Conversation) bool {
	return to.ThreadID != 0 && (a.Reason == nobody || a.Reason == unaddressed)
}

// sharedBy returns the open question that also covers a prompt.
func sharedBy(p *Prompts, why facts, e inbox.Entry) (c card.Card[facts], is bool) {
	for _, c := range p.cards.List() {
		if c.Key != e.Key && c.Content.To == e.Conversation && c.Content.Session == e.Session &&
			c.Payload.isSame(why, c.Content.To) && why.isShared(c.Content.To) && stands(p, c) {
			return c, true
		}
	}
	return c, false
}

// stands reports whether the question's own prompt still waits for the answer.
func stands(p *Prompts, c card.Card[facts]) bool {
	e, err := p.Entries.Load(c.Key)
	_, open := p.cards.Get(c.Key)
	return open && err == nil && !isSettled(c.Payload, e.State)
}

// unasked returns the waiting prompts of a place to a session, or to none, that have no separate
// question, oldest first.
func unasked(p *Prompts, to address.Conversation, session uuid.UUID) ([]inbox.Entry, error) {
	all, err := p.Entries.List()
	return slices.DeleteFunc(all, func(e inbox.Entry) bool {
		_, own := p.cards.Get(e.Key)
		return own || e.State != inbox.Asked || e.Aside != nil || e.Session != session || e.Conversation != to || p.Planned(e.Key) || p.Texts.Asks(e.Key)
	}), err
}

// askRest asks about the prompts of a place to a session, or to none, that have no question after
// their shared question was closed.
func askRest(ctx context.Context, p *Prompts, was facts, to address.Conversation, session uuid.UUID) error {
	if !was.isShared(to) {
		return nil
	}
	defer p.cards.Hold()()
	rest, err := unasked(p, to, session)
	if err != nil || len(rest) == 0 {
		return err
	}
	if is, err := joins(ctx, p, rest[0]); is {
		return err
	}
	r, _ := p.book.Records.Get(session)
	asks := was.Reason == border && p.book.MayEnter(to, r) != nil || was.Reason == limited
	if was.Others = ""; r.State.Live() && !asks {
		was = facts{Reason: left}
		for _, e := range rest[1:] {
			err = errors.Join(err, p.ask(ctx, was, e, r))
		}
	}
	return errors.Join(err, p.ask(ctx, was, rest[0], r))
}

// joins reports whether an open question of any reason also covers a prompt, and makes the question
// show it.
func joins(ctx context.Context, p *Prompts, e inbox.Entry) (is bool, err error) {
	for _, c := range p.cards.List() {
		if c.Key != e.Key && c.Content.To == e.Conversation && c.Content.Session == e.Session && c.Payload.isShared(c.Content.To) && stands(p, c) {
			first, err := p.Entries.Load(c.Key)
			return true, errors.Join(err, p.redraw(ctx, c, first))
		}
	}
	return false, nil
}

// writeShared writes which prompts besides e wait for the answer to a shared question, and the
// current choices. The answer is for those prompts only.
func writeShared(p *Prompts, c *card.Card[facts], e inbox.Entry) {
	if !c.Payload.isShared(c.Content.To) {
		return
	}
	words := p.Chat.In(c.Content.To)
	c.Content.Options = questions[c.Payload.Reason].options(words, choicesFor(p, c.Payload, c.Content.To))
	rest, err := unasked(p, c.Content.To, c.Content.Session)
	if err != nil {
		return // the question stands for those that it shows
	}
	rest = slices.DeleteFunc(rest, func(other inbox.Entry) bool { return other.Key == c.Key })
	c.Payload.Others = strings.Join(each.As(rest, func(other inbox.Entry) string { return other.Key }), " ")
	if len(rest) > 0 {
		all := append([]inbox.Entry{e}, rest...)
		count := render.Plain(words.Say(i18n.TextsWait, i18n.Args{"Count": len(all)}))
		c.Content.Hint = chat.Lines(c.Content.Hint, count, textlist.Lines(words, all))
	}
}

// choicesFor returns the current choices of a question in a place.
func choicesFor(p *Prompts, why facts, to address.Conversation) choices {
	lost := p.Lost.Lost()
	open, _ := openIn(p.book.Records)
	c := choices{open: open, all: len(lost) > 1, command: why.Command}
	var down []port.Session
	switch {
	case c.all:
		down = lost
	case why.Reason == nobody:
		down = slices.DeleteFunc(p.book.Known(), func(r port.Session) bool { return !r.Resumable })
	}
	slices.SortStableFunc(down, func(a, b port.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	c.down = down[:min(len(down), mostDown)]
	if why.Reason == nobody {
		c.folders = lastFolders(p, to)
	}
	return c
}

// folder is one in which a session may be started.
type folder struct{ dir, shown string }

// lastFolders returns the last sessions' folders, newest first, and the chat's; or else the home.
func lastFolders(p *Prompts, to address.Conversation) (all []folder) {
	dirs := each.As(p.book.Known(), func(r port.Session) string { return r.Dir })
	slices.Reverse(dirs)
	for _, dir := range append(dirs, p.book.Settings(to.ChatID).Dir) {
		if f := (folder{dir, p.Chat.ShortTail(dir)}); dir != "" && len(all) < mostFolders && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	if in, err := p.Chat.Places.Bounds(""); err == nil && len(all) == 0 {
		return []folder{{in.Home, p.Chat.ShortTail(in.Home)}}
	}
	return all
}

// answerAll carries a decision out for a prompt, and for the others that its question shows, in
// their order. chosen is the folder of startIn. A prompt that is undecided after that gets a new
// question.
func answerAll(ctx context.Context, p *Prompts, t chat.Tap, was facts, a answer, e inbox.Entry, r port.Session, chosen string) error {
	err := decideAll(ctx, p, t, was, a, e, r, chosen)
	return errors.Join(err, askRest(ctx, p, was, e.Conversation, t.Card.Session))
}

func decideAll(ctx context.Context, p *Prompts, t chat.Tap, was facts, a answer, e inbox.Entry, r port.Session, chosen string) error {
	all := false
	switch {
	case a == startIn:
		began, ok, err := p.Sessions.Begin(ctx, e.Conversation, port.Start{Dir: chosen, Owner: t.From, Origin: e.Key})
		if err != nil || !ok {
			return err
		}
		p.Chat.At("text-begun")
		a, r = sendTo, began
	case a == resumeTo && r.State.Live():
		a = sendTo
	case a == sendInto && !r.State.Live() && r.Resumable: // it comes back for the text
		if err := p.book.EnterAgreed(ctx, e.Conversation, r, t.From); err != nil {
			return err
		}
		r, _ = p.book.Records.Get(r.ID)
		a = resumeAndSend
	case a == resumeTo:
		a, all = resumeAndSend, len(p.Lost.Lost()) > 1
	}
	if err := p.answer(ctx, t, was, a, e, r); err != nil {
		return err
	}
	now, stays := p.cards.Get(e.Key)
	if stays = stays && now.Payload.isSame(was, e.Conversation); stays && !onlyUnable(e, r, was) {
		return nil // the decision was not possible, and the person has the reason
	}
	var errs []error
	for _, key := range strings.Fields(was.Others) {
		p.Chat.At("text-next")
		errs = append(errs, decideOther(ctx, p, t, was, a, key, r))
	}
	if stays {
		errs = append(errs, p.redraw(ctx, now, e))
	}
	if all {
		errs = append(errs, p.Lost.ResumeAll(ctx, t.To, t.From))
	}
	return errors.Join(errs...)
}

// onlyUnable reports whether a question stands for other texts that a session may take, unlike e.
func onlyUnable(e inbox.Entry, r port.Session, was facts) bool {
	return was.Others != "" && refusal.Unable(r.Can, e.Text, e.Class) != nil
}

// decideOther carries a decision out for another undecided prompt of a question. A failure is
// reported under its message.
func decideOther(ctx context.Context, p *Prompts, t chat.Tap, was facts, a answer, key string, r port.Session) error {
	e, err := p.Entries.Load(key)
	_, own := p.cards.Get(key)
	switch {
	case chat.IsGone(err), err == nil && (own || e.State != inbox.Asked || e.Session != t.Card.Session):
		return nil
	case err == nil && e.Spoken != "" && a != dropIt: // its question has shown one line of it at most
		return p.ask(ctx, facts{Reason: spoken}, e, r)
	case err == nil:
		err = p.decide(ctx, a, e, r, was, t.From)
	}
	if err == nil {
		if a == dropIt {
			p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		}
		return nil
	}
	if err = explain(ctx, p, e, r, err); chat.IsGone(err) {
		return nil // it was decided about at this moment
	}
	return err
}

// SendWaiting queues the texts under the cards of an ended session, oldest first, because the
// session returns. It asks about old ones. Texts of another chat than the one that resumes the
// session stay under their cards: the person who taps may not know of them.
func (p *Prompts) SendWaiting(ctx context.Context, chatID int64, r port.Session) error {
	var errs []error
	for _, c := range p.cards.List() {
		if c.Payload.Reason != over || c.Content.Session != r.ID || c.Content.To.ChatID != chatID {
			continue
		}
		for _, key := range append([]string{c.Key}, strings.Fields(c.Payload.Others)...) {
			p.Chat.At("text-next")
			errs = append(errs, sendWaiting(ctx, p, c.Payload, key, r))
		}
		errs = append(errs, askRest(ctx, p, c.Payload, c.Content.To, r.ID)) // about what the queue did not take
	}
	return errors.Join(errs...)
}

// sendWaiting keeps a text that waits in the queue of its session, or asks about it.
func sendWaiting(ctx context.Context, p *Prompts, was facts, key string, r port.Session) error {
	e, err := p.Entries.Load(key)
	switch {
	case chat.IsGone(err), err == nil && (e.State != inbox.Asked || isUnauthorized(p, e)):
		return nil
	case err == nil && isLate(p, e):
		return p.ask(ctx, facts{Reason: old}, e, r)
	case err == nil && e.Spoken != "":
		return p.ask(ctx, facts{Reason: spoken}, e, r)
	case err == nil:
		if err = p.decide(ctx, resumeAndSend, e, r, was, 0); err != nil {
			return explain(ctx, p, e, r, err)
		}
	}
	if c, own := p.cards.Get(key); err == nil && own && c.Payload.Reason == over {
		return p.answered(ctx, resumeAndSend, e, r, c.Payload, 0)
	}
	return err
}

// redrawShared redraws a chat's shared questions after a change of the current session.
func redrawShared(ctx context.Context, p *Prompts, to address.Conversation) error {
	var errs []error
	for _, c := range p.cards.List() {
		e, err := p.Entries.Load(c.Key)
		if err == nil && c.Content.To.ChatID == to.ChatID && c.Payload.isShared(c.Content.To) && !isSettled(c.Payload, e.State) {
			errs = append(errs, p.redraw(ctx, c, e))
		}
	}
	return errors.Join(errs...)
}

// redrawPages redraws the pages that show a first prompt.
func redrawPages(p *Prompts, why facts) {
	if why.Reason == first {
		p.Chat.Pages.Change("new")
	}
}
