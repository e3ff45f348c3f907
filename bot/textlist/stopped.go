package textlist

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/talk"
)

// stopped is the payload of a list of texts that a stop took back.
type stopped struct {
	Texts   []text `json:"texts"`
	Sent    int    `json:"sent,omitempty"`
	Dropped int    `json:"dropped,omitempty"`
	Decided int64  `json:"decided,omitempty"` // who has decided about those; 0: nobody in the chat, or several people

	At     time.Time `json:"at,omitzero"`       // when a text was taken back last
	Line   time.Time `json:"line,omitzero"`     // of the transcript's line about the interrupt
	Work   string    `json:"work,omitempty"`    // the prompt that the agent worked on then, in a line, if it is known
	By     int64     `json:"by,omitempty"`      // who has stopped the session; 0: nobody in the chat
	Turn   bool      `json:"turn,omitempty"`    // the stop ended a turn
	GoesOn string    `json:"goes_on,omitempty"` // what ran on after it, in words

	Aside bool `json:"aside,omitempty"` // no stop took them back: they were kept aside while the agent asked
}

// stopTTL is the time in which a turn ends after the stop that was made for it.
const stopTTL = 30 * time.Second

// text is one text of the list.
type text struct {
	Key         string `json:"key"`
	Interrupted bool   `json:"interrupted,omitempty"` // the agent had it
}

// Stop lists a text that a stop took back, and takes it out of its queue. work is the prompt that
// the agent works on, if it is known. The text that the agent had is the first one. The list of an
// earlier stop comes again below all messages.
func (l *Lists) Stop(ctx context.Context, e inbox.Entry, r port.Session, work string) error {
	defer l.stopped.Hold()()
	c, open := l.listOf(r.ID, e.Conversation, false)
	show := l.stopped.Show
	if !slices.ContainsFunc(c.Payload.Texts, func(t text) bool { return t.Key == e.Key }) {
		c.Payload.Texts = append(c.Payload.Texts, text{e.Key, e.State != inbox.Held})
	}
	if now := l.Chat.Now(); open && (c.Content.Needs == "" || now.Sub(c.Payload.At) > stopTTL || !l.isOfLastStop(r.ID, c.Payload.At)) { // it is the first text of this stop
		show = l.stopped.Repost
		c.Payload.Work, c.Payload.Turn, c.Payload.GoesOn, c.Payload.Line = "", false, "", time.Time{}
	}
	c.Payload.At, c.Payload.By = l.Chat.Now(), l.StoppedBy(r.ID, time.Time{})
	c.Content.WaitsSince = time.Now().UTC() // by the clock of the inbox
	if _, said, ok := talk.CutSpeaker(work); ok {
		work = said
	}
	if work != "" {
		c.Payload.Work = chat.Head(firstLine(work), shownChars)
	}
	slices.SortStableFunc(c.Payload.Texts, func(a, b text) int {
		switch {
		case a.Interrupted == b.Interrupted:
			return 0
		case a.Interrupted:
			return -1
		}
		return 1
	})
	was := e
	e.State, e.Stale, e.Reported, e.Typing, e.Aside = inbox.Asked, false, nil, nil, nil
	texts, _, err := l.undecided(c.Payload, e)
	if err != nil {
		return err
	}
	c.Content.Needs, c.Content.Sounds = card.Decision, l.Chat.Sounds(chat.PromptUndecided, r)
	if c.Payload.write(&c.Content, l.Chat.In(e.Conversation), r, texts, l.Chat.By(e.Conversation, c.Payload.By)); !open {
		c.Content.ReplyTo = texts[0].MessageID
	}
	if err := show(ctx, c.Key, c.Content, c.Payload); err != nil {
		return err
	}
	l.Chat.At("text-listed")
	return l.Changes.Change(was.Key, func(now *inbox.Entry) error { *now = e; return nil })
}

// stop is a stop by a person.
type stop struct {
	at time.Time
	by int64
}

// StoppedBy returns who has stopped a session after a time, and lately; 0: nobody in the chat.
func (l *Lists) StoppedBy(session uuid.UUID, after time.Time) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.stops[session]; s.at.After(after) && l.Chat.Now().Sub(s.at) <= stopTTL {
		return s.by
	}
	return 0
}

// StopBegins notes that a person stops a session: the result of the stop is for no list but of
// texts that this stop takes back. ends forgets it again if nothing was stopped.
func (l *Lists) StopBegins(session uuid.UUID, by int64) (ends func(refused error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Chat.Now()
	maps.DeleteFunc(l.stops, func(_ uuid.UUID, s stop) bool { return now.Sub(s.at) > stopTTL })
	before := l.stops[session]
	l.stops[session] = stop{now, by}
	return func(refused error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if refused != nil && l.stops[session].at.Equal(now) { // otherwise another one has begun
			l.stops[session] = before
		}
	}
}

// HasStopped reports whether a person has stopped a session after a time, and so lately that the
// stopped turn may still end.
func (l *Lists) HasStopped(session uuid.UUID, after time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.stops[session].at
	return at.After(after) && l.Chat.Now().Sub(at) <= stopTTL
}

// isOfLastStop reports whether the last stop of a session has taken a text of its list back, at a
// time.
func (l *Lists) isOfLastStop(session uuid.UUID, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !at.Before(l.stops[session].at)
}

// Stopped adds a stop's other effects to the list of the texts that it took back; false: no list of
// that stop is open, or a person has sent a prompt since.
func (l *Lists) Stopped(ctx context.Context, r port.Session, to address.Conversation, s chat.Stop) (shown bool, err error) {
	defer l.stopped.Hold()()
	c, open := l.listOf(r.ID, to, false)
	since := cmp.Or(s.At, l.Chat.Now()).Sub(c.Payload.At)
	if !open || c.Content.Needs == "" || since < -time.Second || since > stopTTL || !l.isOfLastStop(r.ID, c.Payload.At) {
		return false, nil
	}
	line := c.Payload.Line
	c.Payload.Line = cmp.Or(s.At, line)
	if !line.IsZero() && !c.Payload.Line.Equal(line) { // it is about another turn
		return false, nil
	}
	texts, _, err := l.undecided(c.Payload, inbox.Entry{})
	if err != nil || len(texts) == 0 {
		return false, err
	}
	c.Payload.Turn, c.Payload.GoesOn = c.Payload.Turn || s.Turn, cmp.Or(s.GoesOn, c.Payload.GoesOn)
	c.Payload.write(&c.Content, l.Chat.In(to), r, texts, l.Chat.By(to, c.Payload.By))
	return true, l.stopped.Show(ctx, c.Key, c.Content, c.Payload)
}

// Asks reports whether a list asks about a text.
func (l *Lists) Asks(key string) bool {
	return slices.ContainsFunc(l.stopped.List(), func(c card.Card[stopped]) bool {
		return slices.ContainsFunc(c.Payload.Texts, func(t text) bool { return t.Key == key })
	})
}

// DropNeeds makes the lists of a session that were not shown after a time ask nothing of people.
// Their buttons stay.
func (l *Lists) DropNeeds(session uuid.UUID, before time.Time) error {
	return l.stopped.DropNeeds(session, "", before)
}

// undecided are the texts of a list about which nothing is decided. now is one of them as it is
// about to be saved. queued is how many of the others are on their way to the agent.
func (l *Lists) undecided(s stopped, now inbox.Entry) (all []inbox.Entry, queued int, err error) {
	for _, t := range s.Texts {
		e, unread := now, error(nil)
		if t.Key != now.Key {
			e, unread = l.Entries.Load(t.Key)
		}
		switch {
		case unread != nil && !chat.IsGone(unread):
			err = errors.Join(err, unread)
		case unread == nil && e.State == inbox.Asked:
			all = append(all, e)
		case unread == nil:
			queued++
		}
	}
	return all, queued, err
}

// drawStopped draws the open list of a key again, after texts were sent and discarded. Without a
// text that is undecided it ends.
func (l *Lists) drawStopped(ctx context.Context, key string, sent, dropped int, by int64) error {
	defer l.stopped.Hold()()
	c, open := l.stopped.Get(key)
	if !open {
		return nil
	}
	r, p := l.session(c.Content.Session), l.Chat.In(c.Content.To)
	texts, queued, err := l.undecided(c.Payload, inbox.Entry{})
	if err != nil {
		return err
	}
	if sent+dropped == 0 {
		sent = queued // a kill came before the list was drawn
	}
	switch {
	case sent+dropped == 0:
		by = c.Payload.Decided
	case c.Payload.Sent+c.Payload.Dropped > 0 && c.Payload.Decided != by: // nobody is named for what another has decided
		by = 0
	}
	c.Payload.Sent, c.Payload.Dropped, c.Payload.Decided = c.Payload.Sent+sent, c.Payload.Dropped+dropped, by
	if len(texts) == 0 {
		last := became(p, r, c.Payload.Sent, c.Payload.Dropped)
		if c.Payload.Aside {
			last = becameAside(p, r, c.Payload.Sent, c.Payload.Dropped)
		}
		return l.stopped.Close(ctx, key, chat.Lines(last, l.Chat.By(c.Content.To, by)))
	}
	c.Payload.write(&c.Content, p, r, texts, l.Chat.By(c.Content.To, c.Payload.By))
	return l.stopped.Show(ctx, key, c.Content, c.Payload)
}

// StoppedText asks about one text that a stop took back from the agent.
func StoppedText(p chat.Phrases, r port.Session, text string) render.Text {
	return chat.Lines(p.Text(i18n.StopAsk, i18n.Args{"Name": r.Name}), chat.Quoted(text))
}

// write writes a list and its buttons; by names who has stopped the session. The payload keeps the texts that it shows.
func (s *stopped) write(l *card.Content, p chat.Phrases, r port.Session, texts []inbox.Entry, by render.Text) {
	s.Texts = slices.DeleteFunc(s.Texts, func(t text) bool {
		return !slices.ContainsFunc(texts, func(e inbox.Entry) bool { return e.Key == t.Key })
	})
	if s.Aside {
		s.writeAside(l, p, r, texts)
		return
	}
	for i, t := range s.Texts {
		if t.Interrupted && len(texts) > 1 {
			texts[i].Text = p.Say(i18n.Named, i18n.Args{"What": p.Say(i18n.TextInterrupted), "Said": texts[i].Text})
		}
	}
	said := i18n.Args{"Name": r.Name, "Work": s.Work, "What": s.GoesOn}
	all := i18n.StopTexts
	if s.Turn {
		all = i18n.StopTextsAlso
	}
	switch {
	case len(texts) > 1:
		l.Text = chat.Lines(p.Text(all, said), Lines(p, texts))
	case s.Texts[0].Interrupted:
		l.Text = StoppedText(p, r, texts[0].Text)
	default:
		l.Text = chat.Lines(p.Text(i18n.StopHeld, i18n.Args{"Name": r.Name}), chat.Quoted(texts[0].Text))
	}
	switch {
	case s.Turn && s.Work != "":
		l.Text = chat.Lines(p.Text(i18n.StopWork, said), l.Text)
	case s.Turn:
		l.Text = chat.Lines(p.Text(i18n.TurnInterrupted, said), l.Text)
	}
	if s.GoesOn != "" {
		l.Text = chat.Lines(l.Text, p.Text(i18n.StopGoesOn, said))
	}
	l.Text = chat.Lines(l.Text, by)
	l.Undecided, l.Options = len(texts), nil
	for i, t := range s.Texts[:min(len(s.Texts), mostShown)] {
		word := i18n.ButtonSend
		if t.Interrupted {
			word = i18n.ButtonSendAgain
		}
		style := outbox.Primary
		if len(texts) > 1 {
			style = ""
		}
		l.Options = append(l.Options, []card.Option{option(p, number(i, len(texts)), word, t.Key, style),
			option(p, number(i, len(texts)), i18n.ButtonDrop, t.Key, "")})
	}
	if len(texts) > 1 {
		l.Options = append(l.Options, []card.Option{option(p, "", i18n.ButtonSendAll, "", outbox.Primary),
			option(p, "", i18n.ButtonDropAll, "", "")})
	}
}

// tapStopped decides about a text, or about all that the list shows. Any allowed person of the chat
// may. An ended session is resumed for a sent text.
func (l *Lists) tapStopped(_ context.Context, t chat.Tap, was stopped) (chat.Answer, error) {
	word, key, _ := strings.Cut(t.Card.Option, ":")
	keys := []string{key}
	if key == "" {
		keys = each.As(was.Texts, func(t text) string { return t.Key })
	}
	drop := slices.Contains([]i18n.Key{i18n.ButtonDrop, i18n.ButtonDropAll, i18n.ButtonNotForAgent}, i18n.Key(word))
	return chat.Do(func(ctx context.Context) error {
		done, r := 0, l.session(t.Card.Session)
		err := l.during(t.Card.Key, func() (err error) {
			for i, key := range keys {
				if i > 0 {
					l.Chat.At("text-next")
				}
				e, unread := l.Entries.Load(key)
				if chat.IsGone(unread) || unread == nil && e.State != inbox.Asked {
					continue // it was decided about already
				}
				err = unread
				if err == nil && !drop && l.IsLimited(ctx, e, r) { // another question has it from here on
					err = l.leave(ctx, t.Card.Key, key)
				}
				if err == nil {
					err = l.decide(ctx, e, r, drop)
				}
				if err != nil {
					return err
				}
				done++
			}
			return nil
		})
		if err != nil {
			err = l.explain(ctx, t, r, err)
		}
		if done > 0 && !drop && r.Resumable {
			now, _ := l.Chat.Book.CurrentSession(t.To, t.From)
			_, back := l.Resume(ctx, chat.Resume{Session: r, To: t.To, From: t.From, Undo: now.ID != r.ID && now.State.Live()})
			err = errors.Join(err, back)
		}
		if drop {
			return errors.Join(err, l.drawStopped(ctx, t.Card.Key, 0, done, t.From))
		}
		return errors.Join(err, l.drawStopped(ctx, t.Card.Key, done, 0, t.From))
	})
}

// decide queues a text again, or discards it. If the session has ended, the text waits until the
// session returns.
func (l *Lists) decide(ctx context.Context, e inbox.Entry, r port.Session, drop bool) error {
	if drop {
		l.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		return l.Changes.FinishIn(e.Key, e.State)
	}
	l.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	if r.Resumable {
		return l.Queue.Keep(ctx, r.ID, e.Key)
	}
	return l.SendOrHold(ctx, e, r)
}

// leave takes a text out of a list.
func (l *Lists) leave(ctx context.Context, list, key string) error {
	defer l.stopped.Hold()()
	c, open := l.stopped.Get(list)
	if !open {
		return nil
	}
	c.Payload.Texts = slices.DeleteFunc(slices.Clone(c.Payload.Texts), func(t text) bool { return t.Key == key })
	return l.stopped.Redraw(ctx, list, c.Content, c.Payload)
}
