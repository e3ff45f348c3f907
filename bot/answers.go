package bot

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// answers shows in the chat what agents write into their transcripts: one
// reader per session. A cursor advances only after the Bot API took the part or
// refused it for good (P5).
type answers struct {
	*Bot
	wake chan struct{}

	mu      sync.Mutex
	news    map[uuid.UUID]chan struct{} // tells a session's reader to look at its record again
	left    map[uuid.UUID]chan struct{} // of the same readers: closed when it leaves
	waiting []uuid.UUID                 // sessions that have no reader yet
}

func newAnswers(b *Bot) *answers {
	return &answers{Bot: b, wake: make(chan struct{}, 1), news: make(map[uuid.UUID]chan struct{}),
		left: make(map[uuid.UUID]chan struct{})}
}

// follow makes sure that a session has a reader, and tells it to look again: a
// new transcript, or the end of the session.
func (a *answers) follow(r session.Record) {
	a.mu.Lock()
	news, ok := a.news[r.ID]
	if !ok {
		news = make(chan struct{}, 1)
		a.news[r.ID], a.left[r.ID] = news, make(chan struct{})
		a.waiting = append(a.waiting, r.ID)
	}
	poke(news) // with the lock held: the reader must not leave in between
	a.mu.Unlock()
	poke(a.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run reads for every session that may have something unsaid.
func (a *answers) Run(ctx context.Context) error {
	for _, r := range a.Records.List() {
		if len(r.Cursors) > 0 {
			a.follow(r)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for {
		for _, id := range a.takeWaiting() {
			g.Go(func() error { return a.read(ctx, id) })
		}
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-a.wake:
		}
	}
}

func (a *answers) takeWaiting() []uuid.UUID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := a.waiting
	a.waiting = nil
	return ids
}

// read is one session's reader. It reads the first of the record's transcripts
// to its end, waits there while the session lives and no newer one is known,
// and goes on to the next. It ends with the session.
func (a *answers) read(ctx context.Context, id uuid.UUID) error {
	a.mu.Lock()
	news := a.news[id]
	a.mu.Unlock()
	a.awaitSource(ctx, id)
	for ctx.Err() == nil {
		r, ok := a.Records.Get(id)
		if !ok || len(r.Cursors) == 0 {
			if !a.sleep(ctx, id, news, ok && r.State.Live()) {
				return nil
			}
			continue
		}
		if !a.mayShow(r.Conversation) {
			if !a.sleep(ctx, id, news, r.State.Live()) {
				return nil
			}
			continue
		}
		last := len(r.Cursors) == 1
		if err := a.readFile(ctx, r, news, last && r.State.Live()); ctx.Err() != nil {
			return nil
		} else if err != nil {
			a.Log.Error("transcript_unreadable", "session_id", id.String(), "error", err.Error())
			a.pause(ctx)
			continue
		}
		if last && !r.State.Live() && a.leave(id, news) {
			return nil
		}
		if !last && !a.advance(ctx, id, r.Cursors[1]) {
			a.pause(ctx)
		}
	}
	return nil
}

// sleep waits for news of a session that has nothing to read; without life in
// it the reader leaves.
func (a *answers) sleep(ctx context.Context, id uuid.UUID, news chan struct{}, live bool) bool {
	if !live {
		return !a.leave(id, news)
	}
	select {
	case <-ctx.Done():
		return false
	case <-news:
		return true
	}
}

// leave ends a reader unless there is news it has not looked at.
func (a *answers) leave(id uuid.UUID, news chan struct{}) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(news) > 0 {
		<-news
		return false
	}
	close(a.left[id])
	delete(a.news, id)
	delete(a.left, id)
	return true
}

// readFile shows one transcript from its cursor on. With stay it waits for more
// until there is news; else it stops at the present end.
func (a *answers) readFile(ctx context.Context, r session.Record, news chan struct{}, stay bool) error {
	if stay {
		return a.followFile(ctx, r, news)
	}
	return a.drain(ctx, r)
}

// drain shows what the transcript has now.
func (a *answers) drain(ctx context.Context, r session.Record) error {
	reader := transcript.Open(r.Cursors[0])
	defer reader.Close()
	for ctx.Err() == nil {
		item, ok, err := reader.Next()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !ok {
			return nil
		}
		if errors.Is(err, transcript.ErrTruncated) {
			return a.replaced(ctx, r)
		}
		if err != nil {
			return err
		}
		if isAfterTheEnd(r, item) {
			return nil
		}
		if err := a.show(ctx, r.ID, item); err != nil {
			return err
		}
	}
	return nil
}

// isAfterTheEnd says whether somebody else has written an item: the session was
// over. What is said at the desk is not brought into the chat unasked.
func isAfterTheEnd(r session.Record, item transcript.Item) bool {
	last, ok := r.Cursor()
	return ok && !r.State.Live() && r.Tail > 0 && item.At.Path == last.Path && item.At.Offset >= r.Tail
}

// replaced goes on at the end of a transcript that is not the one that was read
// so far: from its beginning everything would be said again.
func (a *answers) replaced(ctx context.Context, r session.Record) error {
	end, err := transcript.End(r.Cursors[0].Path)
	if err != nil {
		return err
	}
	if err := a.say(ctx, r.Conversation, a.words.Say(i18n.TranscriptReplaced, i18n.Args{"Name": r.Name})); err != nil {
		return err
	}
	if !a.advance(ctx, r.ID, end) {
		a.pause(ctx) // else it is told again at once
	}
	return nil
}

// followFile shows a transcript as it grows, until there is news of the
// session. News ends the waiting for more, never a send that is under way.
func (a *answers) followFile(ctx context.Context, r session.Record, news chan struct{}) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(func() error {
		select {
		case <-waiting.Done():
		case <-news:
			stop()
		}
		return nil
	})
	f := transcript.NewFollower(r.Cursors[0], a.Log)
	err := a.showAll(ctx, waiting, r, f)
	stop()
	return errors.Join(err, g.Wait(), f.Close())
}

func (a *answers) showAll(ctx, waiting context.Context, r session.Record, f *transcript.Follower) error {
	for {
		item, err := f.Next(waiting)
		if waiting.Err() != nil {
			return nil
		}
		if errors.Is(err, transcript.ErrTruncated) {
			return a.replaced(ctx, r)
		}
		if err != nil {
			return err
		}
		if err := a.show(ctx, r.ID, item); err != nil {
			return err
		}
	}
}

// pause keeps a transcript that cannot be read from being tried in a hot loop.
func (a *answers) pause(ctx context.Context) {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// show sends what one item of a transcript says, part by part. Parts that the
// chat has already are in the cursor.
func (a *answers) show(ctx context.Context, id uuid.UUID, item transcript.Item) error {
	r, ok := a.Records.Get(id)
	if !ok {
		return nil
	}
	switch item.Kind {
	case transcript.ToolResult, transcript.PermissionDecision, transcript.Interrupt, transcript.TurnEnd:
		a.asks.look(id, false) // a request may be settled
	case transcript.ToolUse:
		a.asks.called(id, item)
	}
	text := a.itemText(r, item)
	if text.Blank() {
		if item.Kind == transcript.ToolUse || item.Kind == transcript.Thinking {
			a.Sender.Typing(ctx, r.Conversation)
		}
		if item.Kind == transcript.TurnEnd {
			a.advance(ctx, id, item.Next)
		}
		return nil
	}
	parts := text.Split(limit - nameRoom)
	for i := min(item.At.Part, len(parts)); i < len(parts); i++ {
		part := parts[i]
		if i == 0 && (item.Kind == transcript.Text || item.Kind == transcript.LocalOutput) { // the others name it themselves
			part = render.Join(a.heading(r), part)
		}
		if err := a.send(ctx, r, part); err != nil {
			return err
		}
		next := item.Next
		if i < len(parts)-1 {
			next = item.At
			next.Part = i + 1
		}
		a.advance(ctx, id, next)
	}
	return nil
}

// nameRoom is kept free for the heading, in UTF-16 units: where a text is cut
// must not depend on whether it has one, because a cursor counts the parts.
const nameRoom = 200

// heading is the name above an answer of a session that is not the current one.
func (a *answers) heading(r session.Record) render.Text {
	if a.isCurrent(r.Conversation, r) || r.Conversation.ThreadID != 0 {
		return render.Text{}
	}
	name := render.Bold(r.Name).Split(nameRoom - 2)
	if len(name) == 0 {
		return render.Text{} // nothing of it can be seen
	}
	return render.Join(name[0], plain("\n"))
}

// send waits for the Bot API's yes. A refusal for good is recorded and passed,
// so that one bad part cannot dam the rest. At a stop the outbox lets a call
// that is under way finish, and so does this.
func (a *answers) send(ctx context.Context, r session.Record, part render.Text) error {
	_, err := a.Sender.Send(context.WithoutCancel(ctx), outbox.Message{To: r.Conversation, Text: part})
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		a.Log.Error("answer_refused", "session_id", r.ID.String(), "error", err.Error())
		return nil
	}
	return err
}

// advance notes how far the chat has a transcript; false says that it is not on
// disk.
func (a *answers) advance(ctx context.Context, id uuid.UUID, c transcript.Cursor) bool {
	err := a.Sessions.Advance(context.WithoutCancel(ctx), id, c)
	if r, ok := a.Records.Get(id); err == nil && ok && a.successor(r).ID != id {
		err = a.Sessions.Advance(context.WithoutCancel(ctx), a.successor(r).ID, c) // which has the cursors by now
	}
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		a.Log.Error("cursor_not_saved", "session_id", id.String(), "error", err.Error())
		return false
	}
	return true
}

// itemText is what the chat shows of an item; most kinds show nothing.
func (a *answers) itemText(r session.Record, item transcript.Item) render.Text {
	if item.Sidechain || item.Meta || isHistory(r, item) {
		return render.Text{}
	}
	name := i18n.Args{"Name": r.Name, "Reason": item.Text}
	switch item.Kind {
	case transcript.Text:
		return render.Markdown(item.Text)
	case transcript.APIError:
		return plain(a.words.Say(i18n.APIError, name))
	case transcript.Interrupt:
		return plain(a.words.Say(i18n.Interrupted, name) + a.goingNow(r))
	case transcript.LocalOutput:
		if out := plain(item.Text); !out.Blank() {
			return render.Pre(out.Text, "")
		}
	}
	return render.Text{}
}

// isHistory says whether a conversation that began as a copy has an item from the
// one it was copied from: its file is made at the first prompt, with all of that.
func isHistory(r session.Record, item transcript.Item) bool {
	return r.ForkOf != uuid.Nil && !item.Time.IsZero() && item.Time.Before(r.CreatedAt)
}

// goingNow says that prompts waited behind an interrupted turn: they are typed
// now.
func (a *answers) goingNow(r session.Record) string {
	if len(r.Prompts) == 0 {
		return ""
	}
	return " " + a.words.Say(i18n.InterruptedQueue, i18n.Args{"Count": len(r.Prompts)})
}
