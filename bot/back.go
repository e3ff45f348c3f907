package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// comeback is a session that is to come back: what is wanted, by whom, and what
// is said together with the outcome.
type comeback struct {
	wish
	r      session.Record
	to     session.Conversation
	from   int64
	before []string // lines above the outcome: what was done for it
	undo   bool     // it takes its old place only: another session that is current stays so
	many   bool     // it is one of several: the same, and that it comes back was said of all at once
	moved  bool     // it was another session's, which this one goes on with
}

// resume brings a session back, or shows those that can come back. A path after
// the name brings it back in another directory.
func (b *Bot) resume(ctx context.Context, in chat.Incoming, arg string) error {
	if arg == "" {
		return b.pickResume(ctx, in)
	}
	r, ok, err := b.Find(in.To, arg, comesBack)
	if err != nil {
		return err
	}
	c := comeback{wish: wish{session: r.ID}, r: r, to: in.To, from: in.From}
	if !ok {
		if c, ok, err = b.resumeElsewhere(in, arg); err != nil {
			return err
		}
	}
	if !ok {
		return b.resumeOpen(ctx, in, arg)
	}
	_, err = b.bringBack(ctx, c)
	return err
}

// resumeElsewhere reads "name path". The path is remembered, because buttons may
// have to name it.
func (b *Bot) resumeElsewhere(in chat.Incoming, arg string) (c comeback, ok bool, err error) {
	name, path := splitResume(arg)
	if name == "" || path == "" {
		return comeback{}, false, nil
	}
	r, ok, err := b.Find(in.To, name, comesBack)
	if err != nil || !ok {
		return comeback{}, false, err
	}
	dir, err := b.resolveDir(in.To, path)
	if err != nil {
		return comeback{}, false, err
	}
	if dir == r.Dir {
		dir = ""
	} else if err := b.Chats.NoteDir(in.To, dir); err != nil {
		return comeback{}, false, err
	}
	return comeback{wish: wish{session: r.ID, dir: dir}, r: r, to: in.To, from: in.From}, true, nil
}

// splitResume tells the name from the path. A name may look like a path: without
// one of its own a session is called like its directory.
func splitResume(arg string) (name, path string) {
	if name, path = splitNew(arg); name != "" {
		return name, path
	}
	first, rest, _ := strings.Cut(path, " ")
	if name, path = splitNew(rest); name != "" {
		return "", ""
	}
	return first, path
}

// resumeOpen says what a session is that is not over, and makes one that is open
// the current one.
func (b *Bot) resumeOpen(ctx context.Context, in chat.Incoming, arg string) error {
	wanted := []string{arg}
	if name, path := splitResume(arg); name != "" && path != "" {
		wanted = append(wanted, name)
	}
	for _, name := range wanted {
		for _, fits := range []func(session.Record) bool{live, endable} {
			r, ok, err := b.Find(in.To, name, fits)
			if err != nil {
				return err
			}
			if ok {
				return b.tellOpen(ctx, in, r)
			}
		}
	}
	return b.noSession(ctx, in, arg)
}

func (b *Bot) tellOpen(ctx context.Context, in chat.Incoming, r session.Record) error {
	switch r.State {
	case session.CleanupFailed:
		return b.For(r.ID).Post(ctx, in.To, render.Plain(b.notCleanText(r)), b.retryButton(r))
	case session.Stopping:
		return b.For(r.ID).Say(ctx, in.To, b.words.Say(i18n.StillEnding, i18n.Args{"Name": r.Name}))
	}
	return b.open(ctx, comeback{r: r, to: in.To})
}

// shownToResume bounds the buttons of /resume; a name reaches any session.
const shownToResume = 10

func (b *Bot) pickResume(ctx context.Context, in chat.Incoming) error {
	var list []session.Record
	for _, r := range b.Records.List() {
		if resumable(r) {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return b.Say(ctx, in.To, b.words.Say(i18n.ResumeNone))
	}
	return b.postPick(ctx, in.To, list)
}

// postPick shows sessions to choose one from, the latest end first.
func (b *Bot) postPick(ctx context.Context, to session.Conversation, list []session.Record) error {
	slices.SortFunc(list, func(a, c session.Record) int { return c.EndedAt.Compare(a.EndedAt) })
	var buttons []outbox.Button
	question := b.words.Say(i18n.ResumePick)
	if more := len(list) - shownToResume; more > 0 {
		question += "\n" + b.words.Say(i18n.ResumeMore, i18n.Args{"Count": more})
	}
	for _, r := range list[:min(len(list), shownToResume)] {
		text := fmt.Sprintf("%s, %s", glyph.Name(r.Name), b.Age(b.Now().Sub(r.EndedAt)))
		buttons = append(buttons, outbox.Button{Text: text, Data: "res:" + ref(r.ID)})
	}
	return b.Post(ctx, to, render.Plain(question), chat.Rows(1, buttons...))
}

// bringBack brings a session back. Where it cannot come back, that is told, with
// what can be done about it.
func (b *Bot) bringBack(ctx context.Context, c comeback) (back bool, err error) {
	if dir := cmp.Or(c.dir, c.r.Dir); !b.inRoots(dir) {
		return false, b.For(c.r.ID).Post(ctx, c.to, render.Plain(c.above(b.outsideRoots(dir))), nil)
	}
	restored, err := b.Sessions.Restore(ctx, lifecycle.RestoreRequest{Session: c.r.ID, Dir: c.dir, Damaged: c.damaged})
	if ended := b.leftoversLine(restored.Ended); ended != "" {
		c.before = append(c.before, ended)
	}
	if next, ok := b.movedTo(err); ok && !c.moved { // files that were edited may name a ring
		c.r, c.session, c.moved = next, next.ID, true
		return b.bringBack(ctx, c)
	}
	if state := (*lifecycle.StateError)(nil); errors.As(err, &state) && state.State.Live() && state.State != session.Stopping {
		if c.many {
			return true, nil
		}
		return true, b.open(ctx, c)
	}
	if err != nil {
		return false, b.Explain(ctx, c.to, b.restoreFailure(c, err))
	}
	note, err := b.takePlace(ctx, c)
	if err != nil || c.many && len(c.before) == 0 {
		return err == nil, err
	}
	dir := b.Short(restored.Record.Dir)
	text := b.words.Say(i18n.Resuming, i18n.Args{"Name": restored.Record.Name, "Dir": dir})
	return true, b.For(c.r.ID).Post(ctx, c.to, chat.Marked(c.above(text+note), dir), nil)
}

// leftoversLine says which leftovers ended. What was spared is why the resume is
// refused, and stands there.
func (b *Bot) leftoversLine(all []lifecycle.Ending) string {
	return b.othersLine(slices.DeleteFunc(slices.Clone(all), func(e lifecycle.Ending) bool { return !e.Ended }))
}

// above is the outcome with what was done for it above.
func (c comeback) above(text string) string {
	return strings.Join(append(slices.Clone(c.before), text), "\n")
}

// takePlace shows a session that is back where it was asked for, and makes it
// the current one there. An undo leaves another session that is current by then
// where it is, and says so.
func (b *Bot) takePlace(ctx context.Context, c comeback) (note string, err error) {
	if c.many {
		return "", b.MoveTo(ctx, c.to, c.r)
	}
	other, ok, err := b.CurrentSession(c.to)
	if err != nil {
		return "", err
	}
	if !c.undo || !ok || other.ID == c.r.ID {
		return "", b.Use(ctx, c.to, c.r)
	}
	return " " + b.words.Say(i18n.StillCurrent, i18n.Args{"Name": other.Name}), b.MoveTo(ctx, c.to, c.r)
}

// BroughtBack takes a session that was brought back at the desk as one that came
// back, and says so in its conversation: where the current session is not open it
// becomes the current one. current is the one that texts there go to from now on;
// it is the zero record where no conversation shows the session.
func (b *Bot) BroughtBack(ctx context.Context, id uuid.UUID) (current session.Record, err error) {
	r, ok := b.Records.Get(id)
	if r = b.Successor(r); !ok || b.isHomeless(r) {
		return session.Record{}, nil
	}
	to := r.Conversation
	if err := b.settleCurrent(ctx, to, []session.Record{r}); err != nil {
		return session.Record{}, err
	}
	current, _, err = b.CurrentSession(to)
	if err != nil {
		return session.Record{}, err
	}
	dir, note := b.Short(r.Dir), ""
	if current.ID != r.ID {
		note = " " + b.words.Say(i18n.StillCurrent, i18n.Args{"Name": current.Name})
	}
	text := b.words.Say(i18n.Resuming, i18n.Args{"Name": r.Name, "Dir": dir}) + note
	return current, b.For(r.ID).Post(ctx, to, chat.Marked(text, dir), nil)
}

// open takes a session that is open already as one that came back.
func (b *Bot) open(ctx context.Context, c comeback) error {
	if !c.undo && !b.IsCurrent(c.to, c.r) {
		b.answers.Recall(c.r, c.to)
	}
	note, err := b.takePlace(ctx, c)
	if err != nil {
		return err
	}
	key := i18n.ResumeAlreadyOpen
	if note != "" {
		key = i18n.AlreadyOpen
	}
	return b.For(c.r.ID).Say(ctx, c.to, c.above(b.words.Say(key, i18n.Args{"Name": c.r.Name})+note))
}

// resumeButton brings a session back, or tries to end what is left of it first.
func (b *Bot) resumeButton(r session.Record) [][]outbox.Button {
	switch {
	case r.State == session.CleanupFailed:
		return b.retryButton(r)
	case !resumable(r):
		return nil
	}
	return chat.Rows(1, b.Button(i18n.ButtonResume, "res:"+ref(r.ID), outbox.Primary))
}

// tapResume brings a session back: [Resume], [Restore], and the choices under a
// resume that was refused. Whether it can come back is for the session's worker
// to say: news of an end is told before the end is on disk, and a person may be
// quicker than that.
func (b *Bot) tapResume(_ context.Context, t chat.Tap) (chat.Answer, error) {
	q, r, ok := b.wished(t)
	if !ok {
		return b.stale(t)
	}
	return b.tapBack(t, comeback{wish: q, r: r, to: t.To, from: t.From})
}

func (b *Bot) tapBack(t chat.Tap, c comeback) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		if back, err := b.bringBack(ctx, c); err != nil || !back {
			return err
		}
		return b.spend(ctx, t)
	})
}

// undoFor is how long after an end [Undo] works. The time of the end is in the
// button, so a restart does not matter.
const undoFor = time.Minute

// tapUndo takes an end back: name, directory and place are as before. Later on
// the button becomes [Resume].
func (b *Bot) tapUndo(_ context.Context, t chat.Tap) (chat.Answer, error) {
	q, r, ok := b.wished(t)
	if !ok || len(t.Args) != 2 {
		return b.stale(t)
	}
	later := b.resumeButton(r)
	switch {
	case b.undoable(t):
	case later == nil: // it is open again
		return b.stale(t)
	default:
		return chat.Answer{Text: b.words.Say(i18n.UndoOver), Alert: true, Then: func(ctx context.Context) error {
			return edited(b.Sender.EditButtons(ctx, t.To, t.Message, later))
		}}, nil
	}
	return b.tapBack(t, comeback{wish: q, r: r, to: t.To, from: t.From, undo: true})
}

// undoable says whether the time of the end, argument 1, is not over.
func (b *Bot) undoable(t chat.Tap) bool {
	end, err := strconv.ParseInt(t.Args[1], 10, 64)
	return err == nil && b.Now().Sub(time.Unix(end, 0)) <= undoFor
}
