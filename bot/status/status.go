package status

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// Agents are looked at. None of it changes anything.
type Agents interface {
	Looks(ctx context.Context, ids ...uuid.UUID) map[uuid.UUID]desk.Look
	Writers(ctx context.Context, id uuid.UUID) ([]desk.Writer, error)
	Work(ctx context.Context, id uuid.UUID) views.Work
}

// Entries reads the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
}

// status tells all of one session.
type status struct {
	chat    *chat.Chat
	agents  Agents
	records control.Keeper
	entries Entries
	resume  func(ctx context.Context, q chat.Resume) (back bool, err error)
	rename  func(ctx context.Context, to address.Conversation, session uuid.UUID, asked int64) error
	cards   chat.Cards[over]
}

// over is one launch of a session, as a card keeps it.
type over struct {
	Session uuid.UUID `json:"session"`
	Launch  time.Time `json:"launch"` // the record of a later one is not deleted
}

const kind = "status"

// What the options of a card do.
const (
	resumeOption = "resume"
	renameOption = "rename"
	forgetOption = "forget" // ask
	surely       = "surely" // delete the record
)

// About is what other features show of a session.
type About struct {
	// Text is all that is known of it, as a place is told it.
	Text func(ctx context.Context, to address.Conversation, r views.Session) render.Text
	// AskForget asks a person whether to delete its record, and deletes that.
	AskForget func(ctx context.Context, to address.Conversation, asked int64, r views.Session) error
}

// New returns the feature of a chat. resume resumes a session, and tells what came of it; rename asks
// for another name.
func New(c *chat.Chat, agents Agents, records control.Keeper, entries Entries,
	resume func(ctx context.Context, q chat.Resume) (back bool, err error),
	rename func(ctx context.Context, to address.Conversation, session uuid.UUID, asked int64) error) (chat.Feature, About) {
	s := &status{chat: c, agents: agents, records: records, entries: entries, resume: resume, rename: rename,
		cards: chat.NewCards[over](c, kind)}
	f := chat.Feature{Name: "status", Cards: map[string]chat.OnTap{kind: s.cards.OnTap(s.tap)}}
	c.ByName(&f, chat.Command{Name: "status"}, func(views.Session) bool { return true }, s.status)
	return f, About{s.text, s.askForget}
}

// askForget asks whether to delete the record of this launch of a session.
func (s *status) askForget(ctx context.Context, to address.Conversation, asked int64, r views.Session) error {
	question := card.Look{To: to, Session: r.ID, Text: words{s.chat.In(to)}.staying(i18n.ForgetConfirm, r),
		Options: s.chat.In(to).Confirm(i18n.ButtonForget, surely, asked)}
	return s.cards.Post(ctx, question, over{r.ID, r.StartedAt})
}

// status tells all of a session, and offers what can be done.
func (s *status) status(ctx context.Context, in chat.Incoming, r views.Session) error {
	look := card.Look{To: in.To, Session: r.ID, Text: s.text(ctx, in.To, r)}
	var options []card.Option
	if r.Over && r.Resumable {
		options = append(options, s.chat.In(in.To).Option(i18n.ButtonResume, resumeOption, outbox.Primary))
	}
	options = append(options, s.chat.In(in.To).Option(i18n.ButtonRename, renameOption, ""))
	if r.Over {
		options = append(options, s.chat.In(in.To).Option(i18n.ButtonForget, forgetOption, ""))
	}
	look.Options = chat.Rows(2, options...)
	return s.cards.Post(ctx, look, over{r.ID, r.StartedAt})
}

// tap asks whether to delete a record, and deletes it when the person who was asked confirms that.
func (s *status) tap(ctx context.Context, t chat.Tap, was over) (chat.Answer, error) {
	r, ok := s.chat.Book.Records.Get(was.Session)
	if ok && t.Card.Option == renameOption {
		return chat.Do(func(ctx context.Context) error { return s.rename(ctx, t.To, r.ID, t.From) })
	}
	if !ok || !r.Over || !was.Launch.Equal(r.StartedAt) {
		return s.cards.Over(ctx, t)
	}
	if t.Card.Option == resumeOption {
		return chat.Do(func(ctx context.Context) error {
			q, _ := s.chat.Accepted(control.Restore{Session: r.ID}, t)
			if back, err := s.resume(ctx, q); err != nil || !back {
				return err
			}
			return s.cards.End(ctx, t, "")
		})
	}
	if t.Card.Option != surely {
		return chat.Do(func(ctx context.Context) error { return s.askForget(ctx, t.To, t.From, r) })
	}
	return chat.Do(func(ctx context.Context) error {
		if err := s.cards.Close(ctx, t.Card.Key, s.chat.In(t.To).Text(i18n.Forgetting, i18n.Args{"Name": r.Name})); err != nil {
			return err
		}
		return s.forget(ctx, t, r)
	})
}

// forget deletes a record. What is said of it belongs to no session any more.
func (s *status) forget(ctx context.Context, t chat.Tap, r views.Session) error {
	err := s.records.Forget(ctx, r.ID)
	switch {
	case refusal.Is(err, refusal.WrongState):
		return s.chat.For(uuid.Nil).Post(ctx, t.To, s.chat.In(t.To).Text(i18n.AlreadyOpen, i18n.Args{"Name": r.Name}), nil)
	case err != nil:
		return s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(r, err))
	}
	return s.chat.For(uuid.Nil).Post(ctx, t.To, words{s.chat.In(t.To)}.staying(i18n.Forgotten, r), nil)
}

// now is what was seen of a session, within a bound.
type now struct {
	desk.Look
	views.Work
	writers []desk.Writer
	unseen  bool // nobody knows who else writes
}

// patience is how long the machine may take in all to say what it knows.
const patience = 5 * time.Second

func (s *status) look(ctx context.Context, r views.Session) (n now) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.Live {
		n.Look = s.agents.Looks(ctx, r.ID)[r.ID]
	}
	n.Work = s.agents.Work(ctx, r.ID)
	n.Work.Usage = cmp.Or(n.Look.Usage, n.Work.Usage)
	var err error
	n.writers, err = s.agents.Writers(ctx, r.ID) // last: it waits while the session is being started or ended
	if n.unseen = err != nil; n.unseen {
		s.chat.Log.Warn("writers_unknown", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
	}
	return n
}
