package answer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/pause"
)

// transcriptReader reads the transcripts of one session, one after the other.
type transcriptReader struct {
	answers *Answers
	id      uuid.UUID
	news    chan struct{} // tells the reader to look at the session's record again
	left    chan struct{} // closed when the reader leaves

	retry retry
	item  talk.Item // in hand
	batch batch
}

// keepRunning runs a reader until the reader leaves or ctx ends. After a panic that is not at an
// item the reader begins again at its cursor, after a while; other readers run on.
func (t *transcriptReader) keepRunning(ctx context.Context) {
	pauses := pause.Backoff{Min: time.Second, Max: longestPause}
	for t.answers.attempt(t.id, t.item, func() error { t.run(ctx); return nil }) != nil {
		if pause.For(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// run reads the first of the record's transcripts to its end, waits there while the session lives
// and no newer transcript is known, and goes on to the next. It returns with the end of the
// session.
func (t *transcriptReader) run(ctx context.Context) {
	t.awaitPredecessor(ctx)
	for ctx.Err() == nil {
		r, ok := t.answers.Chat.Book.Records.Get(t.id)
		t.answers.showRecalled(ctx, r)
		if !ok || len(r.Cursors) == 0 || !t.answers.Chat.Book.MayShow(r.Conversation) {
			if !t.awaitNews(ctx, ok && r.Live) {
				return
			}
			continue
		}
		if t.answers.Limits.Parked(r.Conversation.ChatID) {
			t.answers.awaitUnparked(ctx, r.Conversation.ChatID, t.news)
			continue
		}
		last := len(r.Cursors) == 1
		err := t.answers.attempt(t.id, t.item, func() error { return t.readFirst(ctx, r) })
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			t.waitToRetry(ctx, r, err)
			continue
		case last && !r.Live && t.answers.leave(t):
			return
		}
		t.retry = retry{}
	}
}

// awaitPredecessor waits for the reader of the session whose conversation this session goes on
// with, or the part that the other reader has in hand would be said twice.
func (t *transcriptReader) awaitPredecessor(ctx context.Context) {
	r, _ := t.answers.Chat.Book.Records.Get(t.id)
	left := t.answers.Left(r.TookOver)
	if left == nil || r.TookOver == t.id { // of a file that was edited: it would wait for itself
		return
	}
	select {
	case <-ctx.Done():
	case <-left:
	}
}

// awaitNews waits for news of a session that has nothing to read. It is false where the reader is
// to end: the session is over, or the context is.
func (t *transcriptReader) awaitNews(ctx context.Context, live bool) bool {
	if !live {
		return !t.answers.leave(t)
	}
	select {
	case <-ctx.Done():
		return false
	case <-t.news:
		return true
	}
}

// readFirst shows the first of the record's transcripts from its cursor on, and goes on to the next
// where there is one. The last transcript of a session that lives is followed until there is news.
func (t *transcriptReader) readFirst(ctx context.Context, r views.Session) error {
	stream := t.answers.Transcripts.Follow(r.Cursors[0])
	t.batch = batch{patience: quietAfter}
	last := len(r.Cursors) == 1
	read := t.readRest
	if last && r.Live {
		read = t.follow
	}
	if err := errors.Join(read(ctx, r, stream), stream.Close()); err != nil {
		return err
	}
	if !last && ctx.Err() == nil && !t.answers.advance(ctx, r.ID, r.Cursors[1]) {
		return errNotSaved
	}
	return nil
}

// readRest shows what the transcript has now.
func (t *transcriptReader) readRest(ctx context.Context, r views.Session, stream talk.Stream) error {
	for ctx.Err() == nil {
		item, ok, err := stream.Now()
		switch {
		case errors.Is(err, talk.ErrReplaced):
			return t.skipToEnd(ctx, r)
		case err != nil:
			return err
		case !ok || isAfterTheEnd(r, item):
			return t.notify(ctx)
		}
		if err := t.take(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// isAfterTheEnd reports whether somebody has written an item at the desk after the session was
// over. What is said at the desk is not brought into the chat unasked.
func isAfterTheEnd(r views.Session, item talk.Item) bool {
	last, ok := r.Cursor()
	return ok && !r.Live && r.Tail > 0 && item.At.Path == last.Path && item.At.Offset >= r.Tail
}

// skipToEnd goes on at the end of a transcript that is not the one that was read so far: from its
// beginning everything would be said again.
func (t *transcriptReader) skipToEnd(ctx context.Context, r views.Session) error {
	if err := t.notify(ctx); err != nil {
		return err
	}
	end, err := t.answers.Transcripts.End(r.Cursors[0])
	if err != nil {
		return err
	}
	text := t.answers.Chat.Words.Say(i18n.TranscriptReplaced, i18n.Args{"Name": r.Name})
	if err := t.answers.Chat.For(r.ID).Say(ctx, r.Conversation, text); err != nil {
		return err
	}
	if !t.answers.advance(ctx, r.ID, end) {
		return errNotSaved // else the chat is told again at once
	}
	return nil
}

// follow shows a transcript as it grows, until there is news of the session. News ends the waiting
// for more, never a send that is under way.
func (t *transcriptReader) follow(ctx context.Context, r views.Session, stream talk.Stream) error {
	waiting, stop := context.WithCancel(ctx)
	var listener sync.WaitGroup
	listener.Go(func() {
		select {
		case <-waiting.Done():
		case <-t.news:
			stop()
		}
	})
	defer func() {
		stop()
		listener.Wait()
	}()
	for {
		item, err := t.next(waiting, stream)
		switch {
		case waiting.Err() != nil:
			return nil
		case errors.Is(err, errQuiet):
			err = t.notifyIfIdle(ctx)
		case errors.Is(err, talk.ErrReplaced):
			return t.skipToEnd(ctx, r)
		case err == nil:
			err = t.take(ctx, item)
		}
		if err != nil {
			return err
		}
	}
}

// take does what one item of a transcript asks for. One bad item must not end the bot, nor hold up
// the items behind it: where rendering the item panics, its words are sent as they are, and where
// that panics too, a sentence stands in its place.
func (t *transcriptReader) take(ctx context.Context, item talk.Item) error {
	t.item = item
	err := t.answers.attempt(t.id, item, func() error { return t.show(ctx, item, t.answers.parts) })
	if errors.Is(err, errPanic) && isAnswer(item) {
		err = t.answers.attempt(t.id, item, func() error { return t.show(ctx, item, unrendered) })
	}
	if errors.Is(err, errPanic) {
		return t.skip(ctx, item)
	}
	return err
}

// errPanic says that there was a panic at an item, which is logged.
var errPanic = errors.New("panic")

// attempt makes errPanic of a panic at an item of a session's transcript.
func (a *Answers) attempt(id uuid.UUID, item talk.Item, do func() error) error {
	err := guard.Call(do)
	if p, ok := errors.AsType[*guard.Panic](err); ok {
		a.Chat.Log.Error("answer_crashed", "session_id", id.String(), "offset", item.At.Offset,
			"block", item.At.Block, "panic", fmt.Sprint(p.Value), "stack", p.Stack)
		return errPanic
	}
	return err
}

// show sends an item, or puts it into the batch, or passes it.
func (t *transcriptReader) show(ctx context.Context, item talk.Item,
	parts func(views.Session, talk.Item) rendition) error {
	r, ok := t.answers.Chat.Book.Records.Get(t.id)
	if !ok {
		return nil
	}
	for _, hear := range t.answers.Items {
		hear(t.id, item)
	}
	said := parts(r, item)
	if t.waits(r, item, said) {
		if isOutput(item) { // whatever else the session says, an output ends in its message
			if _, err := t.answers.Outputs.Finish(ctx, r, item, said.parts[0]); err != nil {
				return err
			}
		}
		t.batch.add(item)
		return nil
	}
	if endsTurn(item) {
		if err := t.notify(ctx); err != nil {
			return err
		}
		t.answers.endTurn(r, item)
	}
	switch {
	case len(said.parts) > 0 && t.batch.any(): // the session has come to be shown in full
		return errReadAgain
	case len(said.parts) > 0:
		return t.sendParts(ctx, r, item, said)
	case item.Kind == talk.ToolUse, item.Kind == talk.Thinking:
		t.answers.Sender.Typing(ctx, r.Conversation)
	case item.Kind == talk.TurnEnd:
		t.answers.advance(ctx, t.id, item.Next)
	}
	return nil
}

// endsTurn reports whether a turn is over with an item: after an interrupt and an error of the API
// no end of the turn follows.
func endsTurn(item talk.Item) bool {
	switch item.Kind {
	case talk.TurnEnd:
		return true
	case talk.Interrupt, talk.APIError:
		return !item.Sidechain && !item.Meta
	}
	return false
}

// sendParts sends what an item says, part by part. The cursor counts the parts that the chat has
// already, unless they are of another form, or more than there are now.
func (t *transcriptReader) sendParts(ctx context.Context, r views.Session, item talk.Item, said rendition) error {
	from := item.At.Part
	if !said.counts(item.At) {
		from = 0
	}
	for i := from; i < len(said.parts); i++ {
		if err := t.sendPart(ctx, r, said, i); err != nil {
			return err
		}
		next := item.Next
		if i < len(said.parts)-1 {
			next = item.At
			next.Part, next.Form = i+1, said.form
		}
		t.answers.advance(ctx, t.id, next)
	}
	if isAnswer(item) {
		t.answers.noteShown(r)
	}
	return nil
}

// sendPart sends one of an item's parts. Where the server turns out to have no rich messages before
// anything of the item is shown, the item's parts are counted anew.
func (t *transcriptReader) sendPart(ctx context.Context, r views.Session, said rendition, i int) error {
	part := said.parts[i]
	if i == 0 && isOutput(t.item) {
		if done, err := t.answers.Outputs.Finish(ctx, r, t.item, part); done || err != nil {
			return err
		}
	}
	if i == 0 && isAnswer(t.item) && !t.answers.Chat.Book.IsInFront(r) {
		if all := headed(r, []render.Part{part}); len(all) == 1 {
			part = all[0]
		}
	}
	if i > 0 || said.form != formRich {
		return t.answers.deliver(ctx, r, part)
	}
	err := t.answers.sendWithFallback(ctx, r, part, true)
	switch {
	case !errors.Is(err, outbox.ErrNoRich):
		return err
	case t.answers.Limits.TakesRich():
		return t.answers.sendWithFallback(ctx, r, part, false)
	}
	return errReadAgain
}

// skip goes on behind an item that cannot be shown. The batch before the item gets its notice
// first.
func (t *transcriptReader) skip(ctx context.Context, item talk.Item) error {
	if err := t.notify(ctx); err != nil {
		return err
	}
	r, ok := t.answers.Chat.Book.Records.Get(t.id)
	if !ok {
		return nil
	}
	if err := t.answers.postMarker(ctx, r); err != nil {
		return err
	}
	t.answers.advance(ctx, t.id, item.Next)
	return nil
}

// noteShown keeps that the chat has in full what a session said last. Where that cannot be kept,
// the same is shown once more when the session is opened.
func (a *Answers) noteShown(r views.Session) {
	if err := a.Chat.Book.NoteShown(r.Conversation, r.ID); err != nil {
		a.Chat.Log.Warn("chat_not_saved", "session_id", r.ID.String(), "error", err.Error())
	}
}
