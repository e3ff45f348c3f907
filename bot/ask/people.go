package ask

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/pause"
)

// tap handles a tap on a request's card, by any allowed person. The decision is on disk when tap
// returns; the request's goroutine sends it to the hook.
func (a *Requests) tap(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	r, open := a.find(shownRequest(t.Card.Key))
	if !open {
		return chat.Answer{Text: a.late(t)}, nil
	}
	if t.Card.Option == verbShow {
		return r.showDialog(ctx, t)
	}
	old, next, err := r.change(ctx, func(s State) (State, error) {
		if t.Card.Key == s.Request.ID && s.Conversation.ChatID != t.To.ChatID {
			return s, errNotNow // it has moved
		}
		next, err := a.as(s, t.To, func(s State) (State, error) { return Tap(s, t.From, t.Card.Option, a.Chat.Now()) })
		if err == nil && next.Why != nil {
			why := *next.Why
			why.In, why.Current, next.Why = t.To, a.Chat.Book.CurrentID(t.To, t.From), &why
		}
		return next, err
	})
	switch {
	case errors.Is(err, errEnded), errors.Is(err, errNotNow):
		return chat.Answer{Text: a.late(t)}, nil
	case err != nil:
		return chat.Answer{}, err
	case next.Why != nil:
		err = a.giveUp(ctx, func(s State) bool { // the next text belongs to one request only
			return s.Why.By == t.From && s.isReadIn(t.To) && s.Request.ID != next.Request.ID
		})
	case t.Card.Option == verbAll:
		a.mu.Lock()
		r.startLocked(func(ctx context.Context) { r.showAll(ctx, t) })
		a.mu.Unlock()
	}
	return chat.Answer{Then: func(ctx context.Context) error {
		r.free(ctx, old, next)
		pause.Poke(r.wake)
		return nil
	}}, err
}

// showDialog shows the terminal's dialog again below all other messages.
func (r *request) showDialog(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	shown, err := r.of.Dialogs.Again(ctx, r.session)
	if err != nil || shown {
		return chat.Answer{}, err
	}
	return chat.Answer{Text: r.of.Chat.In(t.To).Say(i18n.DialogClosed)}, nil
}

// late returns the reply to a tap that changes nothing: the decision, or the missing step.
func (a *Requests) late(t chat.Tap) string {
	s, ok := a.Store.Get(shownRequest(t.Card.Key))
	if !ok {
		return a.Chat.In(t.To).Say(i18n.StaleButton)
	}
	if s.Stage == StageSent {
		s.Given = a.Chat.Now() // a recent decision is on its way: the card shows if no hook accepts it
	}
	s.AllShown = a.isAllShown(s, t.To)
	return cmp.Or(a.viewer(t.To, s).status(s, judge(s)).Text, a.Chat.In(t.To).Say(i18n.AskChanged))
}

// DecideWith answers or denies a request with a text that waits for the session. The decision is on
// disk first, then the text leaves its queue, then the hook gets the decision. If chat.IsGone is
// true of the error, the request has ended or the text has left its queue, and nothing is decided.
func (a *Requests) DecideWith(ctx context.Context, id string, text inbox.Entry, by int64, answer bool) error {
	turn := denyWith
	if answer {
		turn = answerWith
	}
	r, open := a.find(id)
	if !open || !r.giving.CompareAndSwap(false, true) {
		return errors.Join(errEnded, inbox.ErrNoEntry)
	}
	given := func() { r.giving.Store(false); pause.Poke(r.wake) }
	before, s, err := r.change(ctx, func(s State) (State, error) {
		next, err := turn(s, by, text.Text, text.Key, a.Chat.Now())
		next.Text, next.TextIn = text.MessageID, text.Conversation
		return next, err
	})
	if err != nil {
		given()
		if errors.Is(err, errEnded) || errors.Is(err, errNotNow) {
			err = errors.Join(err, inbox.ErrNoEntry)
		}
		return err
	}
	a.Chat.At("ask-denied-with")
	defer given()
	if err := r.withdraw(ctx, s); err != nil {
		return errors.Join(err, r.turn(ctx, func(now State) State { // undone
			undone := before
			undone.AllShown, undone.Conversation = now.AllShown, now.Conversation
			return undone
		}))
	}
	return nil
}

// text handles a text that a request waits for: the reason of a denial, or a free answer. Commands
// and quoted texts of others are not taken. The request stores the text's key, because after a
// crash the text comes again. A text written for a request that has ended in another way is marked.
func (a *Requests) text(ctx context.Context, in *chat.Incoming, text string) (taken bool, err error) {
	if in.Quoted {
		return false, nil
	}
	s, again := a.Store.ByPrompt(in.Key)
	if again && s.textIn().ChatID == in.To.ChatID && a.Chat.Now().Sub(s.Request.RequestedAt) < keep {
		a.Recheck(s.Request.Session, false)
		return true, nil
	}
	if strings.HasPrefix(text, "/") {
		return false, nil
	}
	takes := applyText
	if s = a.awaits(*in); s.Why == nil {
		if own, is := a.asked(*in); is {
			s, takes = own, ownWords
		}
	}
	r, open := a.find(s.Request.ID)
	session, answers, _ := a.Chat.Book.Answered(in.Message)
	switch {
	case answers && s.Request.Session != session.ID:
		return false, nil // it is a reply to another session
	case !open: // no request waits for it, or no longer
		return false, a.catch(ctx, in)
	case !answers && s.Why != nil && !a.isMeant(s):
		return false, r.turn(ctx, giveUp)
	}
	_, _, err = r.change(ctx, func(s State) (State, error) {
		next, err := a.as(s, in.To, func(s State) (State, error) { return takes(s, in.From, text, a.Chat.Now()) })
		next.Prompt, next.Text, next.TextIn = in.Key, in.MessageID, in.To
		return next, err
	})
	switch {
	case errors.Is(err, errEnded), errors.Is(err, errNotNow):
		return false, a.catch(ctx, in)
	case err != nil:
		return false, err
	}
	a.Chat.At("ask-heard")
	a.Chat.Sender.React(ctx, in.To, in.MessageID, chat.ReactionStored)
	pause.Poke(r.wake) // the goroutine sends the decision to the hook
	return true, nil
}

// awaits returns the request that waits for a person's text, if any.
func (a *Requests) awaits(in chat.Incoming) State {
	for _, s := range a.Store.Unsettled() {
		if s.isReadIn(in.To) && s.Awaits(in.From, a.Chat.Now()) {
			return s
		}
	}
	return State{}
}

// asked returns the open question whose message a person replies to.
func (a *Requests) asked(in chat.Incoming) (s State, is bool) {
	shown, is := a.cards.Find(in.To, in.ReplyTo)
	s, known := a.Store.Get(shownRequest(shown.Key))
	seen := s
	seen.AllShown = a.isAllShown(s, in.To)
	return s, is && known && s.Stage == StageOpen && s.isQuestion() && s.Why == nil && allowable(seen)
}

// catch marks a text that a person was writing for a request when the wait ended. The request
// stores the text's key: the next text is a prompt, and this one is marked again if it comes again.
func (a *Requests) catch(ctx context.Context, in *chat.Incoming) error {
	for _, s := range a.Store.List() {
		again := s.Caught == in.Key
		if !s.isReadIn(in.To) || !again && !s.Misses(in.From, a.Chat.Now()) {
			continue
		}
		in.Missed = s.Request.Session
		caught := func(s State) State {
			s.Missed, s.Caught = nil, in.Key
			return giveUp(s)
		}
		switch r, open := a.find(s.Request.ID); {
		case again:
			return nil
		case open:
			return r.turn(ctx, caught)
		}
		return a.Store.Save(caught(s))
	}
	return nil
}

// isMeant reports whether the next text in a request's conversation may be meant for the request:
// the current session has not changed since, or only the request's session is shown there.
func (a *Requests) isMeant(s State) bool {
	session, ok := a.Chat.Book.Records.Get(s.Request.Session)
	alone := s.Conversation.ThreadID != 0 && session.Conversation == s.Conversation
	if s.Why == nil {
		return ok && (alone || a.Chat.Book.IsCurrent(s.Conversation, 0, session))
	}
	same := a.Chat.Book.CurrentID(cmp.Or(s.Why.In, s.Conversation), s.Why.By) == s.Why.Current
	return ok && (alone || same || a.Chat.Book.IsCurrent(s.Conversation, s.Why.By, session))
}

// heed ends the wait for a text if it has timed out, or if the text is for another session.
func (r *request) heed(s State) State {
	a := r.of
	switch {
	case s.Why == nil:
		return s
	case !a.isMeant(s):
		return giveUp(s)
	case s.Overdue(a.Chat.Now()):
		return s.unwait(0, a.Chat.Now())
	}
	return s
}

// switched ends the waits of other sessions: the next text is meant for the new current session, unless
// it is another person's.
func (a *Requests) switched(ctx context.Context, to outbox.Conversation, id uuid.UUID) error {
	return a.giveUp(ctx, func(s State) bool {
		isHis := a.Chat.Book.CurrentID(to, s.Why.By) == id
		return cmp.Or(s.Why.In, s.Conversation) == to && isHis && s.Request.Session != id && s.Why.Current != id
	})
}

// giveUp ends the wait for a text of the requests for which which returns true.
func (a *Requests) giveUp(ctx context.Context, which func(State) bool) error {
	gives := func(s State) State {
		if s.Why != nil && which(s) {
			return giveUp(s)
		}
		return s
	}
	for _, s := range a.Store.Unsettled() {
		if r, open := a.find(s.Request.ID); open && gives(s).Why != s.Why {
			if err := r.turn(ctx, gives); err != nil {
				return err
			}
		}
	}
	return nil
}
