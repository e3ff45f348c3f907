package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// passage is a reader's way through one transcript.
type passage struct {
	*answers
	id   uuid.UUID
	item transcript.Item // in hand
	held held
}

// readFile shows one transcript from its cursor on. With stay it waits for more
// until there is news; else it stops at the present end.
func (a *answers) readFile(ctx context.Context, r session.Record, news chan struct{}, stay bool) error {
	p := &passage{answers: a, id: r.ID, held: held{patience: a.settle}}
	if stay {
		return p.followFile(ctx, r, news)
	}
	return p.drain(ctx, r)
}

// drain shows what the transcript has now.
func (p *passage) drain(ctx context.Context, r session.Record) error {
	reader := transcript.Open(r.Cursors[0])
	defer reader.Close()
	for ctx.Err() == nil {
		item, ok, err := reader.Next()
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !ok, err == nil && isAfterTheEnd(r, item):
			return p.conclude(ctx)
		case errors.Is(err, transcript.ErrTruncated):
			return p.replaced(ctx, r)
		case err != nil:
			return err
		}
		if err := p.take(ctx, item); err != nil {
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
func (p *passage) replaced(ctx context.Context, r session.Record) error {
	if err := p.conclude(ctx); err != nil {
		return err
	}
	end, err := transcript.End(r.Cursors[0].Path)
	if err != nil {
		return err
	}
	if err := p.For(r.ID).Say(ctx, r.Conversation, p.words.Say(i18n.TranscriptReplaced, i18n.Args{"Name": r.Name})); err != nil {
		return err
	}
	if !p.advance(ctx, r.ID, end) {
		return errNotSaved // else it is told again at once
	}
	return nil
}

// followFile shows a transcript as it grows, until there is news of the
// session. News ends the waiting for more, never a send that is under way.
func (p *passage) followFile(ctx context.Context, r session.Record, news chan struct{}) (err error) {
	waiting, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error {
		select {
		case <-waiting.Done():
		case <-news:
			stop()
		}
		return nil
	})
	f := transcript.NewFollower(r.Cursors[0], p.Log)
	defer func() {
		stop()
		err = errors.Join(err, g.Wait(), f.Close())
	}()
	return p.showAll(ctx, waiting, r, f)
}

func (p *passage) showAll(ctx, waiting context.Context, r session.Record, f *transcript.Follower) error {
	for {
		item, err := p.next(waiting, f)
		switch {
		case waiting.Err() != nil:
			return nil
		case errors.Is(err, errQuiet):
			err = p.lookQuiet(ctx)
		case errors.Is(err, transcript.ErrTruncated):
			return p.replaced(ctx, r)
		case err == nil:
			err = p.take(ctx, item)
		}
		if err != nil {
			return err
		}
	}
}

// take does what one item of a transcript asks for. One bad item must not end the
// bot, nor dam what comes behind it: where rendering it panics its words are sent as
// they are, and where that panics too a sentence stands in its place.
func (p *passage) take(ctx context.Context, item transcript.Item) error {
	p.item = item
	err := p.attempt(p.id, item, func() error { return p.handle(ctx, item, p.parts) })
	if errors.Is(err, errPanic) && isAnswer(item) {
		err = p.attempt(p.id, item, func() error { return p.handle(ctx, item, unrendered) })
	}
	if errors.Is(err, errPanic) {
		return p.pass(ctx, item)
	}
	return err
}

// errPanic says that there was a panic at an item, which is logged.
var errPanic = errors.New("panic")

// attempt makes errPanic of a panic at an item of a session's transcript.
func (a *answers) attempt(id uuid.UUID, item transcript.Item, do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			a.Log.Error("answer_crashed", "session_id", id.String(), "offset", item.At.Offset, "block", item.At.Block,
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return do()
}

// handle shows an item, or holds it, or passes it.
func (p *passage) handle(ctx context.Context, item transcript.Item, parts func(session.Record, transcript.Item) said) error {
	r, ok := p.Records.Get(p.id)
	if !ok {
		return nil
	}
	p.listen(item)
	said := parts(r, item)
	if p.holds(r, item, said) {
		if isOutput(item) { // the notice counts as the answer, but an output ends in its message
			if _, err := p.outputs.Finish(ctx, r, item, said.parts[0]); err != nil {
				return err
			}
		}
		p.held.add(item, p.settle)
		return nil
	}
	if endsTurn(item) {
		if err := p.conclude(ctx); err != nil {
			return err
		}
		p.turnOver(r, item)
	}
	switch {
	case len(said.parts) > 0 && p.held.any(): // it is shown in full since
		return errAgain
	case len(said.parts) > 0:
		return p.show(ctx, r, item, said)
	case item.Kind == transcript.ToolUse, item.Kind == transcript.Thinking:
		p.Sender.Typing(ctx, r.Conversation)
	case item.Kind == transcript.TurnEnd:
		p.advance(ctx, p.id, item.Next)
	}
	return nil
}

// listen tells the requests for permission what an item means for them.
func (p *passage) listen(item transcript.Item) {
	switch item.Kind {
	case transcript.ToolResult, transcript.PermissionDecision, transcript.Interrupt, transcript.TurnEnd:
		p.asks.look(p.id, false) // a request may be settled
	}
}

// endsTurn says whether a turn is over with an item: after an interrupt and an
// error of the API no turn end follows.
func endsTurn(item transcript.Item) bool {
	switch item.Kind {
	case transcript.TurnEnd:
		return true
	case transcript.Interrupt, transcript.APIError:
		return !item.Sidechain && !item.Meta
	}
	return false
}

// show sends what an item says, part by part. Parts that the chat has already are
// in the cursor; parts of another form, or more than there are, are not those.
func (p *passage) show(ctx context.Context, r session.Record, item transcript.Item, said said) error {
	from := item.At.Part
	if !said.counts(item.At) {
		from = 0
	}
	for i := from; i < len(said.parts); i++ {
		if err := p.showPart(ctx, r, said, i); err != nil {
			return err
		}
		next := item.Next
		if i < len(said.parts)-1 {
			next = item.At
			next.Part, next.Form = i+1, said.form
		}
		p.advance(ctx, p.id, next)
	}
	if isAnswer(item) {
		p.noteShown(r)
	}
	return nil
}

// showPart shows one of an item's parts. Where the server turns out to have no rich
// messages before anything of the item is shown, its parts are counted anew.
func (p *passage) showPart(ctx context.Context, r session.Record, said said, i int) error {
	if i == 0 && isOutput(p.item) {
		if done, err := p.outputs.Finish(ctx, r, p.item, said.parts[0]); done || err != nil {
			return err
		}
	}
	part := p.named(r, said.parts[i], i)
	if i > 0 || said.form != formRich {
		return p.deliver(ctx, r, part)
	}
	err := p.descend(ctx, r, part, true)
	switch {
	case !errors.Is(err, outbox.ErrNoRich):
		return err
	case p.Sender.TakesRich():
		return p.descend(ctx, r, part, false)
	}
	return errAgain
}

// pass goes on behind an item that cannot be shown. What was held before it gets
// its notice first.
func (p *passage) pass(ctx context.Context, item transcript.Item) error {
	if err := p.conclude(ctx); err != nil {
		return err
	}
	r, ok := p.Records.Get(p.id)
	if !ok {
		return nil
	}
	if err := p.postMarker(ctx, r); err != nil {
		return err
	}
	p.advance(ctx, p.id, item.Next)
	return nil
}

// heading is the name above what a session shows that is not the current one.
func (a *answers) heading(r session.Record) render.Text {
	if a.IsInFront(r) {
		return render.Text{}
	}
	return title(r)
}

// title is a session's name above what it has said; empty for a blank one.
func title(r session.Record) render.Text {
	name := render.Bold(glyph.Name(r.Name)).Split(nameRoom - 2)
	if len(name) == 0 {
		return render.Text{}
	}
	return render.Join(name[0], render.Plain("\n"))
}

// nameRoom is kept free for the heading, in UTF-16 units: where a text is cut
// must not depend on whether it has one, because a cursor counts the parts.
const nameRoom = 200

// rank is where a session's messages stand among those of its chat.
func (a *answers) rank(r session.Record) outbox.Rank {
	if a.shownInFull(r) {
		return outbox.Now
	}
	return outbox.Later
}

// noteShown keeps that the chat has in full what a session said last. Where it cannot
// be kept, that is shown once more when the session is opened.
func (a *answers) noteShown(r session.Record) {
	if err := a.Chats.NoteShown(r.Conversation, r.ID); err != nil {
		a.Log.Warn("chat_not_saved", "session_id", r.ID.String(), "error", err.Error())
	}
}
