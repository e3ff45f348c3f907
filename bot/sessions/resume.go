package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/newtext"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"

	"github.com/google/uuid"
)

// resume resumes a session, or shows the resumable ones: /resume [name|id] [path]. A path resumes
// the session in another folder.
func (s *Sessions) resume(ctx context.Context, in chat.Incoming, arg string) error {
	if arg == "" {
		if len(s.toResume(in.To, chat.Among{})) == 0 {
			if _, unread := s.chat.Book.Records.List(); unread != nil {
				return s.chat.ReplyNone(ctx, in, "", nil)
			}
			return s.chat.Say(ctx, in.To, s.chat.In(in.To).Say(i18n.ResumeNone))
		}
		return s.pick(ctx, in.To, chat.Among{})
	}
	found, path := findToResume(s.chat.Book, in.To, in.From, arg, s.chat.Machines.Has)
	if len(found) > 1 {
		if found = slices.DeleteFunc(found, func(r port.Session) bool { return !comesBack(r) }); len(found) == 0 {
			return s.chat.Say(ctx, in.To, s.chat.In(in.To).Say(i18n.ResumeNone))
		}
	}
	switch {
	case len(found) > 1:
		return s.pick(ctx, in.To, chat.Among{Word: arg, From: in.From, Dir: path})
	case len(found) == 0 || !comesBack(found[0]) && !Endable(found[0]):
		return s.chat.ReplyNone(ctx, in, arg, found)
	}
	_, err := s.resumeIn(ctx, chat.Resume{Session: found[0], To: in.To, From: in.From}, path)
	return err
}

// Again resumes a session, or makes one that is open the current one.
func (s *Sessions) Again(ctx context.Context, q chat.Resume) (back bool, err error) {
	return s.resumeIn(ctx, q, "")
}

// resumeIn resumes a session in the folder that a typed path names; empty: the session's own.
func (s *Sessions) resumeIn(ctx context.Context, q chat.Resume, path string) (back bool, err error) {
	if s.chat.Book.MayEnter(q.To, q.Session) != nil {
		if path != "" {
			if q.Dir, err = s.resolve(ctx, q.To, q.From, path); err != nil {
				return false, s.refuse(ctx, q, err)
			}
		}
		return false, s.AskBorder(ctx, q)
	}
	switch r := q.Session; {
	case r.State.Open() && !comesBack(r) && path != "": // its agent works in its folder
		text := s.chat.In(q.To).Text(i18n.ResumeNotElsewhere, i18n.Args{"Name": r.Name})
		return false, s.chat.Post(ctx, card.Content{To: q.To, Session: r.ID, Text: text})
	case r.State.Open() && !comesBack(r):
		return true, s.makeOpenCurrent(ctx, q)
	case path != "":
		if q.Dir, err = s.resolve(ctx, q.To, q.From, path); err != nil {
			return false, s.refuse(ctx, q, err)
		}
	}
	return s.Resume(ctx, q)
}

// findToResume resolves "name path". A name may have blanks in it, or look like a path: an unnamed
// session is called like its folder. Sessions that can come back precede open ones.
func findToResume(book *conversation.Book, to outbox.Conversation, by int64, arg string, isMachine func(name string) bool) (found []port.Session, path string) {
	name, path := newtext.NameAndPath(arg, isMachine)
	if name == "" {
		name, path, _ = strings.Cut(path, " ")
	}
	if found = book.Find(to, by, arg, comesBack); len(found) > 0 {
		return found, ""
	}
	return book.Find(to, by, name, comesBack), path
}

// toResume returns the sessions that a word means, or without a word all resumable ones, the latest
// end first.
func (s *Sessions) toResume(to outbox.Conversation, a chat.Among) []port.Session {
	if a.Word != "" {
		found, _ := findToResume(s.chat.Book, to, 0, a.Word, s.chat.Machines.Has)
		return slices.DeleteFunc(found, func(r port.Session) bool { return !comesBack(r) })
	}
	over := func(r port.Session) bool { return !r.Resumable }
	return conversation.LatestEnd(slices.DeleteFunc(s.chat.Book.Known(), over))
}

// makeDirOption makes the folder of the session first. The other options of an offer are those of
// port.Damaged.
const makeDirOption = "make_dir"

// tapOffer resumes a session in the way that was chosen under a resume that was refused.
func (s *Sessions) tapOffer(ctx context.Context, t chat.Tap, was port.Restore) (chat.Answer, error) {
	makes, damaged := t.Card.Option == makeDirOption, port.Damaged(t.Card.Option)
	if !makes {
		was.Damaged = damaged
	}
	q, ok := s.chat.Accepted(was, t)
	if !ok || !makes && damaged != port.UseCopy && damaged != port.UseAsItIs {
		return s.offers.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if makes {
			if err := s.chat.Places.Make(ctx, cmp.Or(q.Dir, q.Session.Start, q.Session.Dir)); err != nil {
				return s.refuse(ctx, q, err)
			}
		}
		return s.back(ctx, q, func(ctx context.Context) error { return s.offers.End(ctx, t, "") })
	})
}

// Resume resumes a session. If the session cannot come back, it reports that, with the next steps.
func (s *Sessions) Resume(ctx context.Context, q chat.Resume) (back bool, err error) {
	if s.chat.Book.MayEnter(q.To, q.Session) != nil {
		return false, s.AskBorder(ctx, q)
	}
	var restored port.Restored
	_, err = s.chat.Places.Resolve(ctx, "/", cmp.Or(q.Dir, q.Session.Dir))
	if err == nil && q.Dir == "" && q.Session.Start != "" {
		_, err = s.chat.Places.Resolve(ctx, "/", q.Session.Start) // it begins there if its present folder is gone
	}
	if err == nil {
		restored, err = s.Agents.Restore(ctx, q.Restore())
	}
	// spared processes are the reason of the refusal, and listed there
	ended := slices.DeleteFunc(restored.Ended, func(e port.Ending) bool { return !e.Ended })
	q.Before = chat.Lines(q.Before, endingsText(s.chat.In(q.To), ended))
	switch open := refusal.In(err).Open; {
	case open && q.Many: // another tap has opened it at this moment
		now, _ := s.chat.Book.Records.Get(q.Session.ID)
		return true, s.SendWaiting(ctx, q.To.ChatID, now)
	case open:
		return true, s.makeOpenCurrent(ctx, q)
	case err != nil:
		return false, s.refuse(ctx, q, err)
	}
	if was := q.Session.Dir; q.Dir == "" && restored.Session.Dir != was { // it begins where it was started
		q.Before = chat.Lines(q.Before, s.chat.In(q.To).Text(i18n.FolderGone, i18n.Args{"Dir": render.Code(s.chat.Short(was))}))
	}
	q.Session = restored.Session
	from := q.To
	if q.Undo || q.Many { // it gets no new topic
		q.To = s.chat.Book.Home(q.To, q.Session)
		err = s.chat.Book.MoveTo(ctx, q.To, q.Session)
	} else if q.To, err = s.chat.Book.Place(ctx, q.To, q.Session, q.Session.ID.String()); err == nil {
		err = s.chat.Book.Use(ctx, q.To, q.From, q.Session)
	}
	sent := s.SendWaiting(ctx, from.ChatID, q.Session)
	if err != nil || q.Many && q.Before.Blank() {
		return err == nil, errors.Join(err, sent)
	}
	if q.Undo {
		err = s.chat.Book.SettleCurrent(ctx, q.To, q.From, []port.Session{q.Session})
	}
	return true, errors.Join(err, sent, s.reportResuming(ctx, q), s.chat.Lead(ctx, from, q.Session, q.To))
}

func (s *Sessions) reportResuming(ctx context.Context, q chat.Resume) error {
	dir := s.chat.Short(q.Session.Dir)
	text := s.chat.In(q.To).Text(i18n.Resuming, i18n.Args{"Name": q.Session.Name, "Dir": render.Code(dir)})
	return s.reportBegin(ctx, q.To, q.Session, chat.Lines(q.Before, text))
}

// makeOpenCurrent takes a session that is open already as one that came back.
func (s *Sessions) makeOpenCurrent(ctx context.Context, q chat.Resume) error {
	if s.chat.Book.MayEnter(q.To, q.Session) != nil {
		return s.AskBorder(ctx, q)
	}
	at := s.chat.Book.Home(q.To, q.Session)
	s.Recall(q.Session, at)
	if err := s.chat.Book.Use(ctx, at, q.From, q.Session); err != nil {
		return err
	}
	if err := s.SendWaiting(ctx, q.To.ChatID, q.Session); err != nil {
		return err
	}
	if at != q.To {
		return s.chat.Lead(ctx, q.To, q.Session, at)
	}
	text := s.chat.In(q.To).Text(i18n.ResumeAlreadyOpen, i18n.Args{"Name": q.Session.Name})
	if now, _ := s.chat.Book.Records.Get(q.Session.ID); now.Next == at {
		text = chat.Lines(text, s.chat.In(q.To).Text(i18n.ShownFromNext))
	}
	return s.chat.Post(ctx, card.Content{To: q.To, Session: q.Session.ID, Text: chat.Lines(q.Before, text)})
}

// refuse explains why a session could not come back, and offers the next steps.
func (s *Sessions) refuse(ctx context.Context, q chat.Resume, err error) error {
	if now, ok := s.chat.Book.Records.Get(q.Session.ID); ok { // it may have changed since q was made
		q.Session = now
	}
	e, f := refusal.In(err), s.chat.In(q.To).Failure(q.Session, err)
	f.Text = chat.Lines(q.Before, f.Text)
	asCopy := func(word i18n.Key) card.Option {
		return s.chat.In(q.To).Option(word, string(port.UseCopy), outbox.Primary)
	}
	var options []card.Option
	switch e.Code {
	case refusal.Writers:
	case refusal.DirMissing:
		options = []card.Option{s.chat.In(q.To).Option(i18n.ButtonMakeDir, makeDirOption, "")}
	case refusal.NothingLeft, refusal.Deleted: // a copy of nothing is a new conversation
		options = []card.Option{asCopy(i18n.ButtonBeginAnew), s.chat.In(q.To).Cancel()}
	case refusal.Damaged:
		asItIs := s.chat.In(q.To).Option(i18n.ButtonUseAsIs, string(port.UseAsItIs), "")
		options = []card.Option{asCopy(i18n.ButtonUseCopy), asItIs, s.chat.In(q.To).Cancel()}
	default:
		return s.chat.Explain(ctx, q.To, f)
	}
	s.chat.LogRefused(err, false)
	if e.Code == refusal.Writers {
		return s.Others.Refused(ctx, q, e.Writers)
	}
	content := card.Content{To: q.To, Session: q.Session.ID, Text: f.Text, Options: chat.Rows(1, options...)}
	return s.offers.Post(ctx, content, q.Restore())
}

// GoingOn holds the dependencies of Continue.
type GoingOn struct {
	// Add puts a prompt into the inbox, durably; fresh is false where its key was ever there.
	Add  func(e inbox.Entry) (fresh bool, err error)
	Text string // of the prompt; empty: a sentence in the language of the chat
}

// Front is the beginning of a session's queue: see offer.Queue and talk.PromptOrder.
type Front interface {
	Keep(ctx context.Context, id uuid.UUID, key string) error
	ToFront(ctx context.Context, id uuid.UUID, key string) error
}

// Continue continues an interrupted session: it queues a prompt for the agent, and resumes an ended
// session. Repeated calls and crashes in between lead to one prompt.
func (s *Sessions) Continue(ctx context.Context, q chat.Resume) (back bool, err error) {
	r := q.Session
	if r.Interruption == nil {
		return true, s.chat.Post(ctx, card.Content{To: q.To, Text: s.chat.In(q.To).Text(i18n.ContinueOver, i18n.Args{"Name": r.Name})})
	}
	if s.chat.Book.MayEnter(q.To, r) != nil { // nothing is typed before a yes
		return false, s.askBorder(ctx, q, true)
	}
	typed, class, _ := talk.Normalise(cmp.Or(s.GoOn.Text, s.chat.In(q.To).Say(i18n.PromptAfterEnd)))
	e := inbox.Entry{Key: talk.PromptKey(r.Interruption.Prompt), State: inbox.Held, Session: r.ID,
		Conversation: q.To, Text: typed, Class: class, By: max(q.From, 0)} // a group is nobody
	fresh, err := s.GoOn.Add(e)
	if err != nil {
		return false, err
	}
	s.chat.At("continue-held")
	if err = s.Agents.Keep(ctx, r.ID, e.Key); err == nil {
		err = s.Agents.ToFront(ctx, r.ID, e.Key)
	}
	if err != nil && !chat.IsGone(err) { // without its entry it is typed already, because nothing was in the way
		return false, err
	}
	said := chat.Lines(s.chat.In(q.To).Text(i18n.Continues, i18n.Args{"Name": r.Name}), render.Plain(typed))
	now, _ := s.chat.Book.Records.Get(r.ID)
	switch {
	case now.State != port.StateRunning && fresh && !q.Many:
		q.Before = chat.Lines(q.Before, said)
		return s.Resume(ctx, q)
	case now.State != port.StateRunning:
		return s.Resume(ctx, q)
	case q.Many:
		return true, s.chat.Book.MoveTo(ctx, q.To, now)
	case fresh:
		if err := s.chat.Post(ctx, card.Content{To: q.To, Session: r.ID, Text: said}); err != nil {
			return true, err
		}
	}
	return true, s.chat.Book.Use(ctx, q.To, q.From, now)
}

// continueLink returns the [Continue] option of an interrupted session, nil for any other.
func continueLink(p chat.Phrases, r port.Session) []card.Option {
	if r.Interruption == nil {
		return nil
	}
	return []card.Option{{Text: p.Say(i18n.ButtonContinue), Value: chat.OfLaunch(chat.GoOnLink, r), Session: r.ID}}
}
