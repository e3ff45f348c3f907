package sessions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

// resume resumes a session, or shows those that can be resumed: /resume [name|id] [path]. A path
// resumes the session in another folder.
func (s *Sessions) resume(ctx context.Context, in chat.Incoming, arg string) error {
	if arg == "" {
		return s.pick(ctx, in)
	}
	name, path := splitNameAndPath(arg)
	if name == "" { // without a name of its own a session is called like its folder
		name, path, _ = strings.Cut(path, " ")
	}
	for _, fits := range []func(views.Session) bool{comesBack, isEndable} {
		for _, wanted := range []struct{ name, path string }{{arg, ""}, {name, path}} {
			r, ok, err := s.chat.Book.Find(in.To, wanted.name, fits)
			if err != nil {
				return err
			}
			if ok {
				return s.resumeNamed(ctx, chat.Resume{Session: r, To: in.To, From: in.From}, wanted.path)
			}
		}
	}
	return s.tellNone(ctx, in, arg)
}

func (s *Sessions) resumeNamed(ctx context.Context, q chat.Resume, path string) (err error) {
	r := q.Session
	switch {
	case comesBack(r) && path != "":
		if q.Dir, err = s.resolve(q.To, path); err != nil {
			return s.refuse(ctx, q, err)
		}
	case comesBack(r):
	case r.Live && r.State != views.Stopping:
		return s.makeOpenCurrent(ctx, q)
	default:
		return s.refuse(ctx, q, &refusal.Error{Code: refusal.WrongState, State: r.State, Err: fmt.Errorf("the session is %s", r.State)})
	}
	_, err = s.Resume(ctx, q)
	return err
}

// shownToResume bounds the buttons of /resume; a name reaches any session.
const shownToResume = 10

func (s *Sessions) pick(ctx context.Context, in chat.Incoming) error {
	list := slices.DeleteFunc(s.chat.Book.Records.List(), func(r views.Session) bool { return !r.Resumable })
	if len(list) == 0 {
		return s.chat.Say(ctx, in.To, s.chat.Words.Say(i18n.ResumeNone))
	}
	return s.PostPick(ctx, in.To, list)
}

// PostPick shows sessions to choose one from, the latest end first.
func (s *Sessions) PostPick(ctx context.Context, to address.Conversation, list []views.Session) error {
	slices.SortFunc(list, func(a, b views.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	question := s.chat.Words.Say(i18n.ResumePick)
	if more := len(list) - shownToResume; more > 0 {
		question += "\n" + s.chat.Words.Say(i18n.ResumeMore, i18n.Args{"Count": more})
	}
	var shown []offer
	var options []card.Option
	for i, r := range list[:min(len(list), shownToResume)] {
		text := fmt.Sprintf("%s, %s", glyph.Name(r.Name), s.chat.Age(s.chat.Now().Sub(r.EndedAt)))
		options = append(options, card.Option{Text: text, Value: strconv.Itoa(i)})
		shown = append(shown, offer{Offer: chat.Offer{Session: r.ID}})
	}
	return s.offer(ctx, to, uuid.Nil, render.Plain(question), shown, options...)
}

// offer is a resume that an option of a card stands for: the value of the option is the offer's
// place in the card's payload.
type offer struct {
	chat.Offer
	MakeDir bool      `json:"make_dir,omitempty"` // the folder is made first
	Until   time.Time `json:"until,omitzero"`     // when the offer ends
}

// offer posts what can be resumed. about is the session that the message is about, if it is one.
func (s *Sessions) offer(ctx context.Context, to outbox.Conversation, about uuid.UUID, text render.Text,
	shown []offer, options ...card.Option) error {
	look := card.Look{To: to, Session: about, Text: text, Options: chat.Rows(1, options...)}
	return s.offers.Post(ctx, look, shown)
}

// tapOffer resumes a session: [Undo], [Restore], a session that was picked, and the choices under a
// resume that was refused.
func (s *Sessions) tapOffer(ctx context.Context, t chat.Tap, was []offer) (chat.Answer, error) {
	i, err := strconv.Atoi(t.Card.Option)
	if err != nil || i >= len(was) {
		return chat.Answer{}, fmt.Errorf("option of an offer: %q", t.Card.Option)
	}
	chosen := was[i]
	q, ok := s.chat.Accepted(chosen.Offer, t)
	if q.Undo = !chosen.Until.IsZero(); !ok || q.Undo && s.chat.Now().After(chosen.Until) {
		return s.offers.Over(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if chosen.MakeDir {
			if err := s.chat.Places.Make(cmp.Or(q.Dir, q.Session.Dir)); err != nil {
				return s.refuse(ctx, q, err)
			}
		}
		if back, err := s.Resume(ctx, q); err != nil || !back {
			return err
		}
		return s.offers.End(ctx, t, "")
	})
}

// followResume is a tap on a link to a session that is to be resumed. Whether the session can come
// back is for the session's worker to say: news of an end is told before the end is on disk, and a
// person may be quicker than that.
func (s *Sessions) followResume(_ context.Context, t chat.Tap, r views.Session) (chat.Answer, error) {
	q, _ := s.chat.Accepted(chat.Offer{Session: r.ID}, t)
	return chat.Do(func(ctx context.Context) error {
		if back, err := s.Resume(ctx, q); err != nil || !back {
			return err
		}
		return s.chat.Spend(ctx, t)
	})
}

// Resume resumes a session. Where the session cannot come back, that is told, with what can be done
// about it.
func (s *Sessions) Resume(ctx context.Context, q chat.Resume) (back bool, err error) {
	var restored control.Restored
	_, err = s.chat.Places.Resolve("/", cmp.Or(q.Dir, q.Session.Dir))
	if err == nil {
		restored, err = s.life.Restore(ctx, control.Restore{Session: q.Session.ID, Dir: q.Dir, Damaged: q.Damaged})
	}
	// what was spared is why the resume is refused, and stands there
	ended := slices.DeleteFunc(restored.Ended, func(e control.Ending) bool { return !e.Ended })
	q.Before = append(q.Before, endingLines(s.chat.Phrases, ended)...)
	switch open := refusal.In(err).Open; {
	case open && q.Many:
		return true, nil
	case open:
		return true, s.makeOpenCurrent(ctx, q)
	case err != nil:
		return false, s.refuse(ctx, q, err)
	}
	q.Session = restored.Session
	if err := s.takePlace(ctx, q); err != nil || q.Many && len(q.Before) == 0 {
		return err == nil, err
	}
	return true, s.tellResuming(ctx, q)
}

// takePlace shows a session that is back where it was asked for, and makes it the current one
// there; one of several, or one that leaves the current one, only where none that is open is.
func (s *Sessions) takePlace(ctx context.Context, q chat.Resume) error {
	if !q.Undo && !q.Many {
		return s.chat.Book.Use(ctx, q.To, q.Session)
	}
	if err := s.chat.Book.MoveTo(ctx, q.To, q.Session); err != nil || q.Many {
		return err
	}
	return s.chat.Book.SettleCurrent(ctx, q.To, []views.Session{q.Session})
}

func (s *Sessions) tellResuming(ctx context.Context, q chat.Resume) error {
	dir := s.chat.Short(q.Session.Dir)
	text := s.chat.Words.Say(i18n.Resuming, i18n.Args{"Name": q.Session.Name, "Dir": dir})
	return s.chat.For(q.Session.ID).Post(ctx, q.To, q.Above(chat.Marked(text, dir)), nil)
}

// makeOpenCurrent takes a session that is open already as one that came back.
func (s *Sessions) makeOpenCurrent(ctx context.Context, q chat.Resume) error {
	if !s.chat.Book.IsCurrent(q.To, q.Session) {
		s.Recall(q.Session, q.To)
	}
	if err := s.chat.Book.Use(ctx, q.To, q.Session); err != nil {
		return err
	}
	text := s.chat.Words.Say(i18n.ResumeAlreadyOpen, i18n.Args{"Name": q.Session.Name})
	return s.chat.For(q.Session.ID).Post(ctx, q.To, q.Above(render.Plain(text)), nil)
}

// refuse explains why a session could not come back, and offers what can be done.
func (s *Sessions) refuse(ctx context.Context, q chat.Resume, err error) error {
	if now, ok := s.chat.Book.Records.Get(q.Session.ID); ok { // it may have changed since q was made
		q.Session = now
	}
	e, about := refusal.In(err), q.Session
	if e.Code == refusal.NoEvidence {
		about = views.Session{} // the sentence with a name is about an end
	}
	f := s.chat.Failure(about, err)
	f.Text, f.Session = q.Above(f.Text), q.Session.ID
	again, asItIs := offer{Offer: q.Offer()}, offer{Offer: q.Offer()}
	var options []card.Option
	switch e.Code {
	case refusal.Writers:
		s.chat.Log.Info("request_refused", "error", err.Error())
		return s.Refused(ctx, q, e.Writers)
	case refusal.DirMissing:
		again.MakeDir = true
		options = []card.Option{s.chat.Option(i18n.ButtonMakeDir, "0", "")}
	case refusal.NothingLeft: // a copy of nothing is a new conversation
		again.Damaged = control.UseCopy
		options = []card.Option{s.chat.Option(i18n.ButtonBeginAnew, "0", outbox.Primary), s.chat.Cancel(q.From)}
	case refusal.Damaged:
		again.Damaged, asItIs.Damaged = control.UseCopy, control.UseAsItIs
		options = []card.Option{s.chat.Option(i18n.ButtonUseCopy, "0", outbox.Primary),
			s.chat.Option(i18n.ButtonUseAsIs, "1", ""), s.chat.Cancel(q.From)}
	default:
		return s.chat.Explain(ctx, q.To, f)
	}
	s.chat.Log.Info("request_refused", "error", err.Error())
	return s.offer(ctx, q.To, q.Session.ID, f.Text, []offer{again, asItIs}, options...)
}

// ResumedAtDesk takes a session that was resumed at the desk as one that came back, and says so in
// its conversation: where the current session is not open it becomes the current one. current is
// the session that texts there go to from then on; it is the zero record where no conversation
// shows the session.
func (s *Sessions) ResumedAtDesk(ctx context.Context, id uuid.UUID) (current views.Session, err error) {
	book := s.chat.Book
	r, ok := book.Records.Get(id)
	if r = book.Successor(r); !ok || !book.MayShow(r.Conversation) {
		return views.Session{}, nil
	}
	if err := book.SettleCurrent(ctx, r.Conversation, []views.Session{r}); err != nil {
		return views.Session{}, err
	}
	current, _, err = book.CurrentSession(r.Conversation)
	if err != nil {
		return views.Session{}, err
	}
	return current, s.tellResuming(ctx, chat.Resume{Session: r, To: r.Conversation})
}
