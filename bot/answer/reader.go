package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// transcriptReader reads the transcripts of one session, one after the other.
type transcriptReader struct {
	answers *Answers
	id      uuid.UUID
	left    chan struct{} // closed when the reader leaves

	// The next two fields are guarded by answers.mu.
	endPass func()  // ends the current pass, but never a send
	opened  opening // where a person wants the session's last answer; zero if nowhere

	stuck      stuck
	batch      batch
	unanswered bool        // no answer yet since the last prompt
	awaited    bool        // no end of a turn yet since the last prompt
	noFiles    bool        // the chat has refused a file of texts
	prompted   time.Time   // time of the last prompt
	silent     bool        // a turn runs, and has not made a sound yet
	scheduled  bool        // a schedule of the agent has begun it: its end makes no sound
	unsaved    talk.Cursor // the chat has everything before it, the disk does not have it; zero if none

	turn  talk.Cursor // where the turn that is read began, or a place in it
	from  talk.Cursor // after the last item read
	ahead []talk.Item // read and not shown yet
}

// opening is a place where a person wants the last answer of a session.
type opening struct {
	to    outbox.Conversation
	looks bool // the session is read elsewhere, and stays there
}

// stuck is the cursor at which a reader failed.
type stuck struct {
	at     talk.Cursor
	pauses pause.Backoff
	logged bool
}

// run shows the items of a session until it has ended and all of them are shown, or ctx ends.
func (t *transcriptReader) run(ctx context.Context) {
	for !t.pass(ctx) {
	}
}

// pass reads the first of the record's transcripts, and waits at its end for news while the session
// lives and no newer transcript is known. left reports whether the reader has left.
func (t *transcriptReader) pass(ctx context.Context) (left bool) {
	if ctx.Err() != nil {
		return t.leave(context.WithoutCancel(ctx)) // another Run starts another reader
	}
	a := t.answers
	news, look := context.WithCancel(ctx) // news is done when there is news
	defer look()
	a.mu.Lock()
	opened := t.opened
	t.endPass, t.opened = look, opening{}
	a.mu.Unlock()
	r, ok := a.Chat.Book.Records.Get(t.id)
	a.showLast(ctx, r, opened)
	if ok { // after a crash of its machine a record has the position of its last save
		t.unsaved = cmp.Or(t.unsaved, a.Chat.Book.Cursors().After(t.id, r.Cursors))
		if err := t.saveUnsaved(ctx, r); err != nil {
			a.reportUnsaved(ctx, r, err)
			t.waitToRetry(news, t.unsaved, err)
			return false
		}
		r, ok = a.Chat.Book.Records.Get(t.id)
		r.Cursors = a.Chat.Book.Cursors().Of(t.id, r.Cursors) // the machine may not have shown its record since
	}
	if ok && len(r.Cursors) > 0 {
		if !t.turn.IsBeside(r.Cursors[0]) || r.Cursors[0].Precedes(t.turn) { // what precedes its cursor may have begun it
			t.turn = r.Cursors[0]
			t.turn.Offset--
		}
		r.Conversation = a.placeOf(r, t.turn)
	}
	if !ok || len(r.Cursors) == 0 || !a.Chat.Book.MayShow(r.Conversation) {
		if !ok || !r.State.Live() {
			return t.end(news)
		}
		<-news.Done()
		return false
	}
	err := outbox.ErrBlocked
	if !a.Sender.IsSuspended(r.Conversation.ChatID) {
		err = t.readFirst(ctx, news, r)
	}
	if err != nil {
		if refusal.Is(err, refusal.FileIrregular) && t.stuck.at == r.Cursors[0] && !t.stuck.logged {
			err = errors.Join(err, t.reportChange(ctx, r, i18n.TranscriptNoFile))
		}
		t.waitToRetry(news, r.Cursors[0], err)
		return false
	}
	t.stuck = stuck{}
	return len(r.Cursors) == 1 && !r.State.Live() && t.end(news)
}

// end drops the cursor of an ended session, which its record has, and leaves.
func (t *transcriptReader) end(news context.Context) (left bool) {
	if err := t.answers.Chat.Book.DropCursor(t.id); err != nil { // the next start drops it
		t.answers.Chat.Log.Warn("chat_not_saved", logkey.SessionID, t.id.String(), logkey.Error, err)
	}
	return t.leave(news)
}

// leave ends the reader unless there is unread news.
func (t *transcriptReader) leave(news context.Context) bool {
	t.answers.mu.Lock()
	defer t.answers.mu.Unlock()
	if news.Err() != nil {
		return false
	}
	close(t.left)
	delete(t.answers.readers, t.id)
	delete(t.answers.unreadable, t.id)
	return true
}

// errReadAgain makes a reader begin again at its cursor: an item that it passed must be shown.
var errReadAgain = errors.New("to be read again")

// errUnreadable marks the errors of reading a transcript.
var errUnreadable = errors.New("the transcript cannot be read")

// waitToRetry waits for news: not after the first failure at a cursor, and longer each time.
func (t *transcriptReader) waitToRetry(news context.Context, at talk.Cursor, why error) {
	a := t.answers
	if t.stuck.at != at {
		t.stuck = stuck{at: at, pauses: pause.Backoff{Min: time.Second, Max: time.Minute}}
		if errors.Is(why, errUnsaved) {
			t.stuck.pauses.Max = unsavedPause
		}
		return
	}
	switch {
	case t.stuck.logged, refusal.Is(why, refusal.Unreachable), errors.Is(why, outbox.ErrBlocked), errors.Is(why, errUnsaved):
	case errors.Is(why, errUnreadable):
		t.stuck.logged = true
		a.Chat.Log.Error("transcript_unreadable", logkey.SessionID, t.id.String(), logkey.Error, why)
	default:
		t.stuck.logged = true
		a.Chat.Log.Error("answer_not_shown", logkey.SessionID, t.id.String(), logkey.Error, why)
	}
	if errors.Is(why, errUnreadable) && !refusal.Is(why, refusal.Unreachable) {
		a.mu.Lock()
		a.unreadable[t.id] = at.Path
		a.mu.Unlock()
	}
	_ = pause.For(news, t.stuck.pauses.Next())
	a.mu.Lock()
	_, unreadable := a.unreadable[t.id]
	a.mu.Unlock()
	if unreadable {
		t.tryRead(news, at)
	}
}

// tryRead reads once without waiting: a transcript is unreadable until a read succeeds.
func (t *transcriptReader) tryRead(ctx context.Context, at talk.Cursor) {
	if _, err := t.answers.Transcripts.Next(ctx, t.id, at, 1, false); err == nil {
		t.answers.mu.Lock()
		defer t.answers.mu.Unlock()
		delete(t.answers.unreadable, t.id)
	}
}

// reportChange reports a change of the transcript in the chat.
func (t *transcriptReader) reportChange(ctx context.Context, r port.Session, key i18n.Key) error {
	text := t.answers.Chat.In(r.Conversation).Text(key, i18n.Args{"Name": r.Name})
	return t.answers.Chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text})
}

// readAhead is the number of items a reader requests at once. An item may have large pictures.
const readAhead = 16

// readFirst shows the record's first transcript from its cursor on, until it ends or news comes.
func (t *transcriptReader) readFirst(ctx, news context.Context, r port.Session) error {
	t.batch, t.from, t.ahead = batch{timeout: quietAfter}, r.Cursors[0], nil
	for ctx.Err() == nil {
		item, err := t.next(news)
		if now, ok := t.answers.Chat.Book.Records.Get(t.id); ok { // the session was renamed: another session may have the old name
			r.Name, r.Earlier = now.Name, now.Earlier
			if err == nil && item.FromPerson {
				if err := t.begin(ctx, &r, now, item); err != nil {
					return err
				}
			}
		}
		switch {
		case news.Err() != nil:
			return nil
		case errors.Is(err, errQuiet) && t.answers.InFull(r):
			err = t.notify(ctx, r)
		case errors.Is(err, errQuiet):
			looks, _ := t.answers.Sessions.Inspect(ctx, r.ID) // unknown is not idle
			if err = nil; looks[r.ID].Idle {
				err = t.notify(ctx, r)
			} else {
				t.batch.timeout = quietAgain
			}
		case refusal.Is(err, refusal.Replaced):
			return t.skipToEnd(ctx, r)
		case errors.Is(err, io.EOF):
			if err = t.notify(ctx, r); err == nil && len(r.Cursors) > 1 {
				err = t.advance(ctx, r, after(t.from, r.Cursors[1]))
			}
			return err
		case err == nil:
			err = t.take(ctx, r, item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin goes to the place of the turn that an item begins. What waits for a notice is of an earlier one.
func (t *transcriptReader) begin(ctx context.Context, r *port.Session, now port.Session, item talk.Item) error {
	t.turn = item.At
	to := t.answers.placeOf(now, t.turn)
	if to == r.Conversation {
		return nil
	}
	if err := t.notify(ctx, *r); err != nil {
		return err
	}
	if r.Conversation = to; t.answers.Sender.IsSuspended(to.ChatID) {
		return outbox.ErrBlocked
	}
	return nil
}

// placeOf returns where a turn is shown that began at a position: in its own place, or where the
// session is shown if that one is gone. A group that takes nothing is as good as gone for one person.
func (a *Answers) placeOf(r port.Session, turn talk.Cursor) outbox.Conversation {
	to := r.PlaceOf(turn)
	isShut := a.Chat.Book.IsAllowed(r.Conversation.ChatID) && !a.Chat.Book.IsAllowed(to.ChatID) && a.Chat.Sender.Refuses(to.ChatID)
	if isShut || !a.Chat.Book.MayShow(to) {
		return r.Conversation
	}
	return to
}

// after is the position at which the transcript after a read one begins. It may be the same file under another path, because the agent
// has gone into another folder: what the chat has of it is not shown again.
func after(read, next talk.Cursor) talk.Cursor {
	if read.IsBeside(next) && next.Precedes(read) {
		read.Path = next.Path
		return read
	}
	return next
}

// next returns the next item of a transcript. It returns io.EOF at the end of an old transcript,
// and errQuiet after a silence while there is a batch.
func (t *transcriptReader) next(news context.Context) (item talk.Item, err error) {
	if len(t.ahead) == 0 {
		ctx := news
		if t.batch.any() {
			var cancel func()
			ctx, cancel = context.WithTimeout(news, t.batch.timeout)
			defer cancel()
		}
		switch err = t.read(ctx, true); {
		case err != nil && ctx.Err() != nil:
			return item, errQuiet
		case err != nil:
			return item, fmt.Errorf("%w: %w", errUnreadable, err)
		case len(t.ahead) == 0:
			return item, io.EOF
		}
	}
	item, t.ahead = t.ahead[0], t.ahead[1:]
	return item, nil
}

// read appends the next items to ahead. If it adds none and returns nil, the transcript has ended.
func (t *transcriptReader) read(ctx context.Context, wait bool) error {
	items, err := t.answers.Transcripts.Next(ctx, t.id, t.from, readAhead, wait)
	if len(items) > 0 {
		t.from, t.ahead = items[len(items)-1].Next, append(t.ahead, items...)
	}
	return err
}

// peek returns the item after n others if the transcript already has it. next returns a read error
// again.
func (t *transcriptReader) peek(ctx context.Context, n int) (item talk.Item, ok bool) {
	for n >= len(t.ahead) {
		had := len(t.ahead)
		if err := t.read(ctx, false); err != nil || len(t.ahead) == had {
			return talk.Item{}, false
		}
	}
	return t.ahead[n], true
}

// skipToEnd continues at the end of a transcript that was replaced: from its beginning everything
// would be repeated.
func (t *transcriptReader) skipToEnd(ctx context.Context, r port.Session) error {
	if err := t.notify(ctx, r); err != nil {
		return err
	}
	end, err := t.answers.Transcripts.End(ctx, r.Cursors[0])
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if err = t.reportChange(ctx, r, i18n.TranscriptReplaced); err == nil { // a start takes the later position
		err = t.answers.Chat.Book.Cursors().Note(r.Conversation, r.ID, end)
	}
	if err != nil {
		return err
	}
	return t.advance(ctx, r, end)
}

// showLast shows the answers that had only a notice in a conversation where a person has opened the
// session, or the last answer where a person looks at it. It moves no cursor: after a crash the
// person opens the session again.
func (a *Answers) showLast(ctx context.Context, r port.Session, o opening) {
	if o == (opening{}) || len(r.Cursors) == 0 || !a.Chat.Book.MayShow(o.to) {
		return
	}
	r.Conversation = o.to
	var mark conversation.ReadMark
	known := false // who looks gets the last answer each time
	if !o.looks {
		mark, known = a.Chat.Book.ReadMarkOf(r.Conversation, r.ID)
	}
	items, cut, err := a.unread(ctx, r, mark, known)
	show := func(draw drawing) error {
		if err := a.showAgain(ctx, r, items, cut, draw); err != nil || o.looks {
			return err
		}
		return a.Chat.Book.NoteOpened(r.Conversation, r.ID)
	}
	if err == nil {
		err = a.attempt(ctx, r.ID, a.Chat.Now(), true, show) // no stop is that of a turn read again
	}
	switch {
	case errors.Is(err, errReadAgain):
		err = a.attempt(ctx, r.ID, a.Chat.Now(), true, show)
	case errors.Is(err, errPanic):
		err = a.postMarker(ctx, r)
	}
	if err != nil {
		a.Chat.Log.Warn("last_answer_not_shown", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
}

// maxAgain is the number of messages above which answers are shown again as a file.
const maxAgain = 40

// showAgain shows items, under the session's name. cut reports that earlier ones are missing.
func (a *Answers) showAgain(ctx context.Context, r port.Session, items []talk.Item, cut bool, draw drawing) error {
	var parts []render.Part
	items = slices.DeleteFunc(slices.Clone(items), func(item talk.Item) bool { return item.FromPerson })
	for _, item := range items {
		parts = append(parts, draw(r, item).parts...)
	}
	if len(parts) > maxAgain {
		parts = []render.Part{a.file(r, items)}
	}
	if cut {
		parts = slices.Insert(parts, 0, render.Part{Text: a.Chat.In(r.Conversation).Text(i18n.AnswersCut)})
	}
	if len(parts) > 0 {
		parts[0] = headed(title(r), parts[0])
	}
	return a.deliverAll(ctx, outgoingPart{session: r, rank: outbox.Talk}, parts)
}

// unread returns the items before the cursor that the conversation lacks by its mark, or the last
// answer if the mark is not known. cut reports that earlier ones are missing. Consecutive texts are
// joined: an agent writes a line at a time between its calls.
func (a *Answers) unread(ctx context.Context, r port.Session, mark conversation.ReadMark, known bool) (all []talk.Item, cut bool, err error) {
	if known && mark.Since == nil {
		return nil, false, nil
	}
	if known && mark.Since.Path != r.Cursors[0].Path {
		mark = conversation.ReadMark{}
	}
	items, cut, err := a.Transcripts.Between(ctx, mark.Since, r.Cursors[0])
	for _, item := range items {
		last := len(all) - 1
		switch {
		case isForeign(r, item) || mark.Has(item.At) && !item.FromPerson:
		case last >= 0 && item.Kind == talk.Text && all[last].Kind == talk.Text && item.Rest == nil && all[last].Rest == nil:
			all[last].Text += "\n\n" + item.Text
		default:
			all = append(all, item)
		}
	}
	return all, cut, err
}
