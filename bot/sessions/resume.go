package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

// Writers tell that a session is not resumed because somebody else writes its conversation.
type Writers interface {
	Refused(ctx context.Context, q chat.Resume, writers []desk.Writer) error
}

// Resumer resumes sessions that are over.
type Resumer struct {
	Writers Writers // set before the first update
	chat    *chat.Chat
	book    *conversation.Book
	words   i18n.Words
	life    Life
	reader  Reader
	ends    *ends
	offers  chat.Cards[[]offer]
}

// resume resumes a session, or shows those that can be resumed. A path after the name resumes the
// session in another directory.
func (m *Resumer) resume(ctx context.Context, in chat.Incoming, arg string) error {
	if arg == "" {
		return m.pick(ctx, in)
	}
	q := chat.Resume{To: in.To, From: in.From}
	r, ok, err := m.book.Find(in.To, arg, comesBack)
	if err != nil {
		return err
	}
	if q.Session = r; !ok {
		if ok, err = m.readElsewhere(&q, arg); err != nil {
			return err
		}
	}
	if !ok {
		return m.resumeOpen(ctx, in, arg)
	}
	_, err = m.Resume(ctx, q)
	return err
}

// readElsewhere reads "name path".
func (m *Resumer) readElsewhere(q *chat.Resume, arg string) (ok bool, err error) {
	name, path := splitResume(arg)
	if name == "" || path == "" {
		return false, nil
	}
	r, ok, err := m.book.Find(q.To, name, comesBack)
	if err != nil || !ok {
		return false, err
	}
	dir, err := resolveDir(m.chat, q.To, path)
	if err != nil {
		return false, err
	}
	if dir != r.Dir {
		q.Dir = dir
	}
	q.Session = r
	return true, nil
}

// splitResume separates the name from the path. A name may look like a path: without one of its own
// a session is called like its directory.
func splitResume(arg string) (name, path string) {
	if name, path = splitNameAndPath(arg); name != "" {
		return name, path
	}
	first, rest, _ := strings.Cut(path, " ")
	if name, path = splitNameAndPath(rest); name != "" {
		return "", ""
	}
	return first, path
}

// resumeOpen says what a session is that is not over, and makes a session that is open the current
// one.
func (m *Resumer) resumeOpen(ctx context.Context, in chat.Incoming, arg string) error {
	wanted := []string{arg}
	if name, path := splitResume(arg); name != "" && path != "" {
		wanted = append(wanted, name)
	}
	for _, name := range wanted {
		for _, fits := range []func(views.Session) bool{isLive, isEndable} {
			r, ok, err := m.book.Find(in.To, name, fits)
			if err != nil {
				return err
			}
			if ok {
				return m.tellOpen(ctx, in, r)
			}
		}
	}
	return tellNone(ctx, m.chat, in, arg)
}

func (m *Resumer) tellOpen(ctx context.Context, in chat.Incoming, r views.Session) error {
	q := chat.Resume{Session: r, To: in.To}
	if isNotClean(r) || r.State == views.Stopping {
		return m.refuse(ctx, q, &refusal.Error{Code: refusal.WrongState, State: r.State, Open: r.Live,
			Err: fmt.Errorf("the session is %s: it cannot be resumed", r.State)})
	}
	return m.makeOpenCurrent(ctx, q)
}

// shownToResume bounds the buttons of /resume; a name reaches any session.
const shownToResume = 10

func (m *Resumer) pick(ctx context.Context, in chat.Incoming) error {
	list := m.book.Records.List()
	list = slices.DeleteFunc(list, func(r views.Session) bool { return !r.Resumable })
	if len(list) == 0 {
		return m.chat.Say(ctx, in.To, m.words.Say(i18n.ResumeNone))
	}
	return m.PostPick(ctx, in.To, list)
}

// PostPick shows sessions to choose one from, the latest end first.
func (m *Resumer) PostPick(ctx context.Context, to address.Conversation, list []views.Session) error {
	slices.SortFunc(list, func(a, b views.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	question := m.words.Say(i18n.ResumePick)
	if more := len(list) - shownToResume; more > 0 {
		question += "\n" + m.words.Say(i18n.ResumeMore, i18n.Args{"Count": more})
	}
	var shown []offer
	var options []card.Option
	for i, r := range list[:min(len(list), shownToResume)] {
		text := fmt.Sprintf("%s, %s", glyph.Name(r.Name), m.chat.Age(m.chat.Now().Sub(r.EndedAt)))
		options = append(options, card.Option{Text: text, Value: strconv.Itoa(i)})
		shown = append(shown, offer{Offer: chat.Offer{Session: r.ID}})
	}
	return m.offer(ctx, to, uuid.Nil, render.Plain(question), shown, options...)
}

// Resume resumes a session. Where the session cannot come back, that is told, with what can be done
// about it.
func (m *Resumer) Resume(ctx context.Context, q chat.Resume) (back bool, err error) {
	return m.resumeOnce(ctx, q, false)
}

// followResume is a tap on a link to a session that is to be resumed. Whether the session can come
// back is for the session's worker to say: news of an end is told before the end is on disk, and a
// person may be quicker than that.
func (m *Resumer) followResume(_ context.Context, t chat.Tap, r views.Session) (chat.Answer, error) {
	q, _ := m.chat.Accepted(chat.Offer{Session: r.ID}, t)
	return chat.Do(func(ctx context.Context) error {
		if back, err := m.Resume(ctx, q); err != nil || !back {
			return err
		}
		return m.chat.Spend(ctx, t)
	})
}

// resumeOnce is Resume; moved reports that the session is the one that goes on with the
// conversation of the session that was asked for.
func (m *Resumer) resumeOnce(ctx context.Context, q chat.Resume, moved bool) (back bool, err error) {
	r := q.Session
	if outside := m.chat.OutsideText(cmp.Or(q.Dir, r.Dir)); outside != "" {
		return false, m.chat.For(r.ID).Post(ctx, q.To, q.Above(render.Plain(outside)), nil)
	}
	restored, err := m.life.Restore(ctx, control.Restore{Session: r.ID, Dir: q.Dir, Damaged: q.Damaged})
	if ended := m.leftoversLine(restored.Ended); ended != "" {
		q.Before = append(q.Before, ended)
	}
	if next, ok := m.successorIn(err); ok && !moved { // files that were edited may name a ring
		q.Session = next
		return m.resumeOnce(ctx, q, true)
	}
	e := refusal.In(err)
	switch open := e.Code == refusal.WrongState && e.Open && e.State != views.Stopping; {
	case open && q.Many:
		return true, nil
	case open:
		return true, m.makeOpenCurrent(ctx, q)
	case err != nil:
		return false, m.refuse(ctx, q, err)
	}
	note, err := m.takePlace(ctx, q)
	if err != nil || q.Many && len(q.Before) == 0 {
		return err == nil, err
	}
	dir := m.chat.Short(restored.Session.Dir)
	text := m.words.Say(i18n.Resuming, i18n.Args{"Name": restored.Session.Name, "Dir": dir})
	return true, m.chat.For(r.ID).Post(ctx, q.To, q.Above(chat.Marked(text+note, dir)), nil)
}

// successorIn is the session that a refusal names, which goes on with the conversation of the
// session that was asked for.
func (m *Resumer) successorIn(err error) (views.Session, bool) {
	if !refusal.Is(err, refusal.Moved) {
		return views.Session{}, false
	}
	return m.book.Records.Get(refusal.In(err).To)
}

// leftoversLine says which leftovers ended. What was spared is why the resume is refused, and
// stands there.
func (m *Resumer) leftoversLine(all []control.Ending) string {
	ended := slices.DeleteFunc(slices.Clone(all), func(e control.Ending) bool { return !e.Ended })
	return othersLine(m.chat.Phrases, ended)
}

// takePlace shows a session that is back where it was asked for, and makes it the current one
// there. An undo leaves another session that is current by then where it is, and says so.
func (m *Resumer) takePlace(ctx context.Context, q chat.Resume) (note string, err error) {
	if q.Many {
		return "", m.book.MoveTo(ctx, q.To, q.Session)
	}
	other, ok, err := m.book.CurrentSession(q.To)
	if err != nil {
		return "", err
	}
	if !q.Undo || !ok || other.ID == q.Session.ID {
		return "", m.book.Use(ctx, q.To, q.Session)
	}
	return m.stillCurrent(other), m.book.MoveTo(ctx, q.To, q.Session)
}

// stillCurrent says that another session stays the current one.
func (m *Resumer) stillCurrent(other views.Session) string {
	return " " + m.words.Say(i18n.StillCurrent, i18n.Args{"Name": other.Name})
}

// ResumedAtDesk takes a session that was resumed at the desk as one that came back, and says so in
// its conversation: where the current session is not open it becomes the current one. current is
// the session that texts there go to from then on; it is the zero record where no conversation
// shows the session.
func (m *Resumer) ResumedAtDesk(ctx context.Context, id uuid.UUID) (current views.Session, err error) {
	r, ok := m.book.Records.Get(id)
	if r = m.book.Successor(r); !ok || !m.book.MayShow(r.Conversation) {
		return views.Session{}, nil
	}
	to := r.Conversation
	if err := m.book.SettleCurrent(ctx, to, []views.Session{r}); err != nil {
		return views.Session{}, err
	}
	current, _, err = m.book.CurrentSession(to)
	if err != nil {
		return views.Session{}, err
	}
	dir, note := m.chat.Short(r.Dir), ""
	if current.ID != r.ID {
		note = m.stillCurrent(current)
	}
	text := m.words.Say(i18n.Resuming, i18n.Args{"Name": r.Name, "Dir": dir}) + note
	return current, m.chat.For(r.ID).Post(ctx, to, chat.Marked(text, dir), nil)
}

// makeOpenCurrent takes a session that is open already as one that came back.
func (m *Resumer) makeOpenCurrent(ctx context.Context, q chat.Resume) error {
	if !q.Undo && !m.book.IsCurrent(q.To, q.Session) {
		m.reader.Recall(q.Session, q.To)
	}
	note, err := m.takePlace(ctx, q)
	if err != nil {
		return err
	}
	key := i18n.ResumeAlreadyOpen
	if note != "" {
		key = i18n.AlreadyOpen
	}
	text := q.Above(render.Plain(m.words.Say(key, i18n.Args{"Name": q.Session.Name}) + note))
	return m.chat.For(q.Session.ID).Post(ctx, q.To, text, nil)
}
