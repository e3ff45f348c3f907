package ask

import (
	"context"
	"errors"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
)

var errTurn = errors.New("the message waits for its turn")

// relocated moves a request that must leave its conversation to where its session is seen, or to the
// terminal.
func (r *request) relocated(s State) State {
	if s.Stage != StageOpen && s.Stage != StageSent || !r.of.isMisplaced(s) {
		return s
	}
	session, ok := r.of.Chat.Book.Records.Get(s.Request.Session)
	places := r.of.seen(session)
	if !ok || len(places) == 0 {
		return leave(s, true, r.of.Chat.Now())
	}
	if places[0] == s.Conversation {
		return s
	}
	return inPlace(s, places[0])
}

// isMisplaced reports whether nobody who may decide a request sees it where it is: nobody there is
// allowed, its topic and General are closed, or the chat refuses the bot.
func (a *Requests) isMisplaced(s State) bool {
	at, sender := s.Conversation, a.Chat.Sender
	return !a.Chat.Book.MayShow(at) || s.Stage == StageOpen && (sender.IsClosed(at) || sender.Refuses(at.ChatID))
}

// seen returns where people see the requests of a session, the best place first: the private chats also
// while its topic and General are closed.
func (a *Requests) seen(r port.Session) []outbox.Conversation {
	if a.isShutOut(r) {
		if private := a.Chat.Book.PrivateChats(); len(private) > 0 {
			return a.Chat.ByRank(r, private)
		}
	}
	return a.Chat.Seen(r)
}

// isShutOut reports whether the topic and General of a session's place are closed.
func (a *Requests) isShutOut(r port.Session) bool {
	return a.Chat.Book.MayShow(r.Conversation) && a.Chat.Sender.IsClosed(r.Conversation)
}

// inPlace moves a request to another place, where none of it was shown yet.
func inPlace(s State, to outbox.Conversation) State {
	s.Conversation, s.AllShown, s.Why, s.Text, s.TextIn = to, false, nil, 0, outbox.Conversation{}
	return s
}

// moved shows the requests of places that have become others. It runs before the cards are moved.
func (a *Requests) moved(ctx context.Context, where chat.MoveFunc) (err error) {
	for _, s := range a.Store.Unsettled() {
		r, open := a.find(s.Request.ID)
		to, moves := where(s.Conversation)
		if !open || !moves {
			continue
		}
		if s.Stage == StageAway { // its last message was sent
			err = errors.Join(err, a.cards.Close(ctx, r.id, render.Text{}))
		} else {
			err = errors.Join(err, r.turn(ctx, func(s State) State { return inPlace(s, to) }))
		}
	}
	return err
}

// showLocked updates the card. After an error the next round tries again.
func (r *request) showLocked(ctx context.Context, s State) {
	if r.held && !s.HasEnded() {
		r.due = true
		return
	}
	r.away = awayMachine(r.of.Chat, r.session) != nil
	err := r.show(ctx, s)
	r.due = err != nil
	if err != nil && !errors.Is(err, errTurn) {
		r.note(err)
	}
}

// show keeps a card while the request may be decided, or has an outcome for people who saw it.
func (r *request) show(ctx context.Context, s State) error {
	_, ok := r.of.cards.Get(r.id)
	switch {
	case s.HasEnded():
		r.of.mu.Lock()
		r.startLocked(func(ctx context.Context) { r.of.closeCard(ctx, r.id) })
		r.of.mu.Unlock()
		return nil
	case s.Stage != StageOpen && !s.AllShown && (s.Stage != StageSent || !ok):
		if gone, err := r.of.withdraw(r.id); gone || err != nil {
			r.queued.Store(false)
			r.settled(false)
			return err
		}
	case !ok && !r.takesTurn():
		return errors.Join(errTurn, r.of.reportFlood(ctx, r.session))
	}
	return errors.Join(r.of.cards.Show(ctx, r.id, r.of.content(s), copied{}), r.of.showCopies(ctx, s))
}

// closeCard closes the cards of a request that has ended, as soon as the disk accepts it. An unknown
// request's card keeps its text.
func (a *Requests) closeCard(ctx context.Context, id string) {
	for ctx.Err() == nil {
		var last render.Text
		if s, ok := a.Store.Get(id); ok {
			last = a.content(s).Text
		}
		err := errors.Join(a.cards.Close(ctx, id, last), a.closeCopies(ctx, id))
		if a.note(id, err); err == nil {
			return
		}
		_ = pause.For(ctx, faultInterval)
	}
}

// content returns the card of a request.
func (a *Requests) content(s State) card.Content {
	l := a.contentIn(s.Conversation, s)
	if s.Stage == StageOpen {
		l.Needs, l.WaitsSince = card.Answer, s.Request.RequestedAt
	}
	return l
}

func (a *Requests) contentIn(to outbox.Conversation, s State) card.Content {
	draw := func(v Viewer, name string) View { return v.View(s, name) }
	v, err := a.viewer(to, s).drawSafely(a.NameOf(s), draw)
	if err != nil {
		a.Chat.Log.Error("ask_not_drawn", logkey.Request, s.Request.ID, logkey.Error, err)
	}
	isOpen, session := s.Stage == StageOpen, port.Session{ID: s.Request.Session, Conversation: to}
	return card.Content{To: to, Session: session.ID, Text: v.Text, Options: v.Options, Renew: isOpen,
		Means:  s.Request.Ask.Digest(), // a second tick counts before the first one is drawn
		Sounds: isOpen && !s.AllShown && a.Chat.Sounds(chat.AgentAsks, session)}
}

func (a *Requests) viewer(to outbox.Conversation, s State) Viewer {
	session, _ := a.Chat.Book.Records.Get(s.Request.Session)
	in, _ := a.Chat.Places.Bounds(session.Dir) // empty while it is unknown
	v := Viewer{Words: a.Chat.In(to).Words, Home: folders.Path(in.Home), By: a.Chat.Who(to, s.By)}
	if s.Why != nil {
		v.Writer = a.Chat.Who(to, s.Why.By)
	}
	if m := awayMachine(a.Chat, s.Request.Session); m != nil {
		v.Away = a.Chat.In(to).AwayText(*m)
	}
	return v
}

// refused leaves a request to the terminal if Telegram refuses its message for good, unless it is seen
// elsewhere. Once that is on disk the private chats say so, where it may be read.
func (a *Requests) refused(ctx context.Context, shown card.Card[copied], why error) {
	a.Chat.Log.Warn("ask_not_sent", logkey.Request, shown.Key, logkey.Error, why)
	r, ok := a.find(shown.Key)
	if !ok {
		return
	}
	left := false
	err := r.turn(ctx, func(s State) State {
		r.due = r.due || s.Stage == StageOpen // if it is not saved, the message is sent and refused again
		next := r.relocated(s)
		if next.Conversation == s.Conversation {
			next = leave(s, true, a.Chat.Now())
		}
		left = s.Stage != StageAway && next.Stage == StageAway
		return next
	})
	if r.note(err); err == nil && left {
		r.reportLeft(ctx)
	}
	pause.Poke(r.wake) // the goroutine tries again after a fault
}

func (r *request) reportLeft(ctx context.Context) {
	a := r.of
	session, _ := a.Chat.Book.Records.Get(r.session)
	for _, to := range a.Chat.Book.PrivateChats() {
		text := a.Chat.In(to).Text(i18n.AskInTerminal, i18n.Args{"Name": session.Name})
		r.note(a.Chat.Post(ctx, card.Content{To: to, Session: r.session, Text: text, Sounds: a.Chat.Sounds(chat.AgentAsks, port.Session{ID: r.session, Conversation: to})}))
	}
}

// showAll sends a whole open request. Only when Telegram has accepted all of it can the request be
// allowed; then its message comes again below, so that the buttons are at the end of the text.
func (r *request) showAll(ctx context.Context, t chat.Tap) {
	if !r.reading.CompareAndSwap(false, true) {
		return
	}
	defer r.reading.Store(false)
	s, open := r.get()
	if !open || r.of.isAllShown(s, t.To) { // by an earlier tap that has finished
		return
	}
	for _, part := range r.of.viewer(t.To, s).All(s) {
		if now, open := r.get(); !open || now.Stage != StageOpen {
			return
		}
		m := outbox.Message{To: t.To, Text: part, ReplyTo: t.Message, Session: r.session}
		_, err := r.of.Chat.Sender.Send(ctx, m)
		if ctx.Err() != nil {
			return
		}
		if _, refused := errors.AsType[*outbox.Refused](err); refused {
			r.of.Chat.Log.Warn("ask_not_shown", logkey.Request, r.id, logkey.Error, err)
			text := r.of.Chat.In(t.To).Say(i18n.AskNotShown)
			err = errors.Join(err, r.of.Chat.Post(ctx, card.Content{To: t.To, Session: r.session, Text: render.Plain(text)}))
		}
		if err != nil {
			r.note(err)
			return
		}
	}
	r.note(r.showBelowParts(ctx, t))
	pause.Poke(r.wake) // the goroutine tries again after a fault
}

// showBelowParts sends the message again below the shown parts; the message above links to it.
func (r *request) showBelowParts(ctx context.Context, t chat.Tap) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, open := r.get()
	switch {
	case !open || s.Stage != StageOpen:
		return nil
	case t.Card.Key != r.id:
		if err := r.of.showCopy(ctx, s, t.To, copied{s.Request.Ask.Digest()}); err != nil {
			return err
		}
	case s.Conversation != t.To:
		return nil
	default:
		s.AllShown = true
		if err := r.of.Store.Save(s); err != nil {
			return err
		}
		r.due = true
		r.showLocked(ctx, s) // first: the new message is sent as the card is then
	}
	_, err := r.of.cards.Again(ctx, t.Card.Key, card.Bring{Note: r.of.below(s, t.To), Alone: true})
	return err
}

// below leads from a message to a later one about the request.
func (a *Requests) below(s State, to outbox.Conversation) render.Text {
	return a.Chat.In(to).Text(i18n.AskSeeBelow, i18n.Args{"Name": a.NameOf(s)})
}
