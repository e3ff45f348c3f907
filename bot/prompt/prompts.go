package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attachment"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/planned"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/bot/textlist"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Entries reads the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	Find(to address.Conversation, message int) (inbox.Entry, error)
	List() ([]inbox.Entry, error)
	Age(e inbox.Entry) time.Duration
}

// Changes writes the inbox. A change is on disk when the call returns.
type Changes interface {
	Change(key string, change func(e *inbox.Entry) error) error
	FinishIn(key string, state inbox.State) error
	// Reopen brings a finished entry back; inbox.ErrNoEntry if nothing is left of it.
	Reopen(key string, state inbox.State) (inbox.Entry, error)
}

// Edits change prompts that were not typed, and their order.
type Edits interface {
	Withdraw(ctx context.Context, id uuid.UUID, key string) error
	Reword(ctx context.Context, id uuid.UUID, key, text string, class talk.PromptClass) error
	SendNow(ctx context.Context, id uuid.UUID, key string) (reported bool, err error)
}

// Offers are the offers of prompts to their engines, and the answers; see package offer.
type Offers interface {
	Progress(ctx context.Context, n news.Progress) (asks bool, err error)
	Again(ctx context.Context, people offer.People, report func(error)) error
	Cancel(ctx context.Context, id uuid.UUID, key string) error
}

// Sessions starts and resumes sessions.
type Sessions interface {
	Begin(ctx context.Context, to outbox.Conversation, q port.Start) (r port.Session, began bool, err error)
	Resume(ctx context.Context, q chat.Resume) (back bool, err error)
}

// Lost handles the sessions that went down with the machine or with tmux, and are not back.
type Lost interface {
	Lost() []port.Session
	ResumeAll(ctx context.Context, to outbox.Conversation, from int64) error
}

// Deps holds the dependencies of prompts.
type Deps struct {
	Chat  *chat.Chat
	Queue interface {
		offer.Queue
		talk.PromptDecisions
		talk.PromptViews
		Edits
		Offers
	}
	Entries interface {
		Entries
		Changes
	}
	Texts       *textlist.Lists
	Attachments *attachment.Attachments
	Sessions    Sessions
	Lost        Lost
	Confirm     bool // the words of a recording are typed after a person has seen them
	// Chosen brings the open question, if any, of a session that was chosen in a conversation.
	Chosen func(ctx context.Context, from outbox.Conversation, session uuid.UUID) error
	// Planned reports whether a prompt is sent when a limit of usage ends.
	Planned func(prompt string) bool
	// Limits knows the sessions that are continued when a limit ends, and calls AfterLimits.
	Limits interface {
		Planned(session uuid.UUID) bool
		Changed() // a limit holds a text, or no longer
	}
	Work    func(ctx context.Context, id uuid.UUID) (port.Work, error)
	HoldFor time.Duration // that a limit holds a text without asking about it; 0: for ever
	// Run runs a ccbot command with the text after the first word of an entry's message.
	Run func(ctx context.Context, e inbox.Entry, by int64, command string) error
}

// Prompts are the prompts of all sessions.
type Prompts struct {
	Deps
	book     *conversation.Book
	cards    chat.Cards[facts]
	barred   planned.Cards[texts]
	reviewed atomic.Bool // by the start
}

// New returns the prompts of a chat.
func New(d Deps) *Prompts {
	p := &Prompts{Deps: d, book: d.Chat.Book, cards: chat.NewCards[facts](d.Chat, CardKind).Asking()}
	p.barred = planned.Cards[texts]{Cards: chat.NewCards[texts](d.Chat, barredKind), Chat: d.Chat, Act: p.actOnBarred, Taken: i18n.SentAgain, Removed: i18n.Dropped}
	return p
}

// FeatureName is the name of the feature.
const FeatureName = "prompt"

// Feature describes prompts to the dispatcher.
func (p *Prompts) Feature() chat.Feature {
	return chat.Feature{
		Name:   FeatureName,
		Cards:  map[string]chat.OnTap{CardKind: p.cards.OnTap(p.tap), barredKind: p.barred.OnTap(p.barred.Tap)},
		OnNews: p.onNews,
		Text: func(ctx context.Context, in *chat.Incoming, text string) (bool, error) {
			return true, p.take(ctx, *in, text)
		},
		OnCurrent: func(ctx context.Context, to address.Conversation, _ uuid.UUID) error { return redrawShared(ctx, p, to) },
		Run: func(ctx context.Context) error {
			p.Tidy(ctx)
			return offerAgain(ctx, p)
		},
		OnMoved: p.moved,
	}
}

// take passes a text to the session that it is for. It stays in the inbox until there is proof that
// the agent has it, or it leaves with a sentence.
func (p *Prompts) take(ctx context.Context, in chat.Incoming, text string) error {
	if corrects, err := correct(ctx, p, in, text); corrects || err != nil {
		return err
	}
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	if in.Near != "" {
		has, err := p.Chat.Folder.HasCommand(ctx, r.ID, in.Typed)
		if err != nil && refusal.MachineOf(err) == "" && !refusal.Is(err, refusal.Unreachable) { // a person is asked
			return fmt.Errorf("a command of the agent: %w: %w", inbox.ErrLater, err)
		}
		if has {
			in.Near = ""
		}
	}
	return p.takeFor(ctx, in, r, fetched{text: text})
}

// takeFor is take for a session, with the files that came with the text. For the zero session it
// asks which session gets the prompt.
func (p *Prompts) takeFor(ctx context.Context, in chat.Incoming, r port.Session, got fetched) error {
	typed, class, some := talk.Normalise(withFiles(got.text, got.files))
	if !some {
		return p.Chat.Fail(ctx, in.To, in.MessageID, render.Plain(p.Chat.In(in.To).Say(i18n.BlankText)), nil)
	}
	if unable := refusal.Unable(r.Can, typed, class); unable != nil && r.ID != uuid.Nil && in.Near == "" {
		return p.notDelivered(ctx, in, p.Chat.In(in.To).Failure(r, unable).Text, nil)
	}
	e, err := p.Entries.Load(in.Key)
	if err != nil {
		return err
	}
	if m := sentOn(e); m != nil && !p.book.IsAuthorized(m.From.ID, m.Chat) { // since the files were fetched, or put into words
		p.Chat.Log.Warn("not_typed", logkey.Prompts, 1, logkey.Why, notAllowed)
		return nil
	}
	e.Refers = in.Refers
	e.Session, e.Conversation, e.MessageID, e.Sent = r.ID, in.To, in.MessageID, in.Sent.UTC()
	e.State, e.Text, e.Class, e.Files, e.Spoken = inbox.Accepted, typed, class, got.files, got.spoken
	e.Speaker, e.Aside = p.speaker(e, r), p.aside(in, e, r)
	p.Chat.React(ctx, in.To, in.MessageID, chat.ReactionStored)
	if r.ID != uuid.Nil {
		_, reply, _ := p.book.Answered(in.Message)
		p.noteTarget(e, r, reply)
	}
	now, _ := p.book.CurrentSession(in.To, in.From)
	limit, isLimited := p.limit(ctx, e, r)
	switch {
	case in.Folder != "":
		err = p.wait(ctx, facts{Reason: asFolder, By: in.From, File: p.Chat.Short(in.Folder)}, e, r)
	case in.NoFolder != nil:
		err = p.wait(ctx, facts{Reason: noFolder, By: in.From, File: in.NoFolder.Dir, Refused: in.NoFolder.Code}, e, r)
	case in.Near != "":
		err = p.wait(ctx, facts{Reason: mistyped, Command: in.Near}, e, r)
	case in.First:
		err = p.wait(ctx, facts{Reason: first, By: in.From}, e, r)
	case r.ID == uuid.Nil && lacking(p) != nobody && (now.State.Live() || in.OfBot && in.To.ThreadID == 0):
		err = p.wait(ctx, facts{Reason: whose}, e, r)
	case r.ID == uuid.Nil: // in a topic also a reply to the question about earlier texts
		err = p.wait(ctx, facts{Reason: lacking(p)}, e, r)
	case !r.State.Live() && !r.Resumable:
		err = p.wait(ctx, facts{Reason: gone}, e, r)
	case !r.State.Live():
		err = p.wait(ctx, facts{Reason: over}, e, r)
	case in.Missed != uuid.Nil:
		err = p.wait(ctx, facts{Reason: missed}, e, r)
	case isStale(e):
		err = p.wait(ctx, facts{Reason: old}, e, r)
	case e.Spoken != "":
		err = p.wait(ctx, facts{Reason: spoken}, e, r)
	case p.book.MayEnter(in.To, r) != nil:
		err = p.wait(ctx, facts{Reason: border}, e, r)
	case e.Aside != nil:
		err = p.keepAside(ctx, e)
	case isLimited:
		err = p.holdForLimit(ctx, limit, e, r)
	default:
		if err = p.hold(ctx, e, r); err == nil && in.ReplyTo != 0 && !p.book.IsCurrent(in.To, in.From, r) {
			if err = p.Chosen(ctx, in.To, r.ID); refusal.Is(err, refusal.Unreachable) || refusal.MachineOf(err) != "" {
				err = nil
			}
		}
	}
	if refusal.MachineOf(err) != "" { // later texts in the chat must not wait for what its machine says
		err = p.wait(ctx, facts{Reason: over}, e, r)
	}
	if err != nil { // the inbox hands it on again, also when the session has ended at this moment
		return fmt.Errorf("keep a prompt: %w: %w", inbox.ErrLater, err)
	}
	return nil
}

// hold queues a prompt for its session. The entry is accepted until the queue holds it: its facts
// are found again after a crash and need no separate write.
func (p *Prompts) hold(ctx context.Context, e inbox.Entry, r port.Session) error {
	if err := p.book.Follow(ctx, e.Conversation, r); err != nil {
		return err
	}
	draft := func(now *inbox.Entry) error { e.Number, *now = now.Number, e; return inbox.ErrDraft }
	if err := p.Entries.Change(e.Key, draft); err != nil {
		return err
	}
	if err := p.Queue.Queue(ctx, r.ID, e.Key); err != nil {
		return err
	}
	p.Chat.Sender.Typing(ctx, e.Conversation)
	err := errors.Join(p.Texts.Queued(ctx, e, r), p.stored(ctx, e, r))
	missing, unknown := p.Chat.Folder.IsMissing(ctx, r.Dir)
	if r.Dir != "" && unknown == nil && missing { // the agent works on, and its tools fail; "": its machine is not known yet
		text := p.Chat.In(e.Conversation).Text(i18n.FolderMissing, i18n.Args{"Name": r.Name, "Dir": render.Code(p.Chat.Short(r.Dir))})
		err = errors.Join(err, p.Chat.Post(ctx, card.Content{To: e.Conversation, Session: r.ID, ReplyTo: e.MessageID, Text: text}))
	}
	return errors.Join(err, p.recount(ctx, r.ID))
}

// stored says in words that a prompt is stored that waits behind others, where no reaction can say it. The first that waits has a
// message of its own.
func (p *Prompts) stored(ctx context.Context, e inbox.Entry, r port.Session) error {
	now, _ := p.book.Records.Get(r.ID)
	if len(without(now.Prompts, e.Key)) == 0 || e.MessageID == 0 || p.Chat.Sender.TakesReactions(e.Conversation.ChatID) {
		return nil
	}
	text := p.Chat.In(e.Conversation).Text(i18n.StoredBehind, i18n.Args{"Name": r.Name})
	return p.Chat.Post(ctx, card.Content{To: e.Conversation, Session: r.ID, ReplyTo: e.MessageID, Text: text})
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(key string) bool { return key == one })
}

func (p *Prompts) save(e inbox.Entry) error {
	return p.Entries.Change(e.Key, func(now *inbox.Entry) error { *now = e; return nil })
}

// target returns the session of a message, which can take it now or when it is back. If it cannot
// come back, or is unknown (the zero session), a person can choose an open one, or start one.
func (p *Prompts) target(ctx context.Context, in chat.Incoming) (port.Session, bool, error) {
	if in.First {
		return port.Session{}, true, nil
	}
	r, ok := p.book.Target(in.Message, in.From)
	if s, known := p.book.Records.Get(in.Missed); known {
		r, ok = s, true
	}
	if ok && (r.State.Live() || r.Resumable) {
		return r, true, nil
	}
	switch some, err := openIn(p.book.Records); {
	case len(some) > 0:
		return r, true, nil // a person chooses
	case err != nil && refusal.Lacks(err, ""):
		return r, false, fmt.Errorf("the sessions: %w: %w", inbox.ErrLater, err)
	}
	_, some := p.book.CurrentSession(in.To, in.From)
	switch {
	case ok && r.State == port.StateCleanupFailed:
		return r, false, p.notDelivered(ctx, in, p.Chat.In(in.To).NotCleanText(r), p.Chat.In(in.To).ResumeLink(r))
	case !ok && some: // it answers a message of an unknown session
		return r, false, p.notDelivered(ctx, in, p.Chat.In(in.To).Text(i18n.ReplyUnknown), nil)
	}
	return port.Session{}, true, nil // a person chooses its folder
}

// notDelivered reports an undelivered message, with the next steps.
func (p *Prompts) notDelivered(ctx context.Context, in chat.Incoming, why render.Text,
	links [][]card.Option) error {
	text := chat.Lines(why, p.Chat.In(in.To).Text(i18n.NotDelivered))
	return p.Chat.Fail(ctx, in.To, in.MessageID, text, links)
}

// Forget reports the prompts that still wait for a session, or for an answer about it, and ends
// them.
func Forget(ctx context.Context, p *Prompts, session uuid.UUID) error {
	entries, err := p.Entries.List()
	if err != nil {
		return err
	}
	var left []string
	for _, e := range entries {
		if e.Session == session && slices.Contains([]inbox.State{inbox.Held, inbox.Typing, inbox.Unproven, inbox.Asked, inbox.Barred}, e.State) {
			left = append(left, e.Key)
		}
	}
	return p.Homeless(ctx, left)
}

// Homeless reports prompts whose session no longer exists, and ends them.
func (p *Prompts) Homeless(ctx context.Context, keys []string) error {
	for _, key := range keys {
		e, err := p.Entries.Load(key)
		if err != nil {
			return err
		}
		places := p.book.Seen(e.Conversation)
		if len(places) == 0 { // nobody would hear of it
			continue
		}
		for _, to := range places {
			under := e.MessageID
			if to != e.Conversation {
				under = 0
			}
			says := p.Chat.In(to).Say(questions[withoutSession(e)].says)
			if err := p.Chat.Fail(ctx, to, under, render.Join(render.Plain(says+"\n"), chat.Quoted(e.Text)), nil); err != nil {
				return err
			}
		}
		if err := p.finish(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// withoutSession returns the reason of a prompt whose session does not exist.
func withoutSession(e inbox.Entry) reason {
	if e.State == inbox.Typing || e.State == inbox.Unproven {
		return adrift
	}
	return homeless
}

// Offer is Homeless if no session is open; otherwise it asks which session gets the prompts.
func Offer(ctx context.Context, p *Prompts, keys []string) error {
	switch some, err := openIn(p.book.Records); {
	case len(some) > 0:
	case err != nil:
		return err
	default:
		return p.Homeless(ctx, keys)
	}
	for _, key := range keys {
		e, err := p.Entries.Load(key)
		if err == nil {
			e.Session = uuid.Nil
			err = p.wait(ctx, facts{Reason: withoutSession(e)}, e, port.Session{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends a prompt and the question about it.
func (p *Prompts) finish(ctx context.Context, e inbox.Entry) error {
	c, _ := p.cards.Get(e.Key)
	err := errors.Join(p.Entries.FinishIn(e.Key, e.State), p.close(ctx, e.Key, render.Text{}))
	return errors.Join(err, askRest(ctx, p, c.Payload, c.Content.To, c.Content.Session))
}

// Discard takes a waiting prompt out of its queue for good, and reports that under it if it has a
// question, or if another person than its writer did it. chat.IsGone of the error: it no longer waits.
func (p *Prompts) Discard(ctx context.Context, e inbox.Entry, by int64) error {
	if err := p.Queue.Withdraw(ctx, e.Session, e.Key); err != nil {
		return err
	}
	p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	who := p.Chat.By(e.Conversation, by)
	dropped := chat.Lines(render.Plain(p.Chat.In(e.Conversation).Say(i18n.Dropped)), who)
	m := sentOn(e)
	if _, asked := p.cards.Get(e.Key); !asked && !who.Blank() && (m == nil || m.From.ID != by) {
		return p.Chat.Post(ctx, card.Content{To: e.Conversation, Session: e.Session, ReplyTo: e.MessageID, Text: dropped})
	}
	return p.close(ctx, e.Key, dropped)
}

// moved takes the prompts of moved places along. Their messages stay in the chat, or are gone.
func (p *Prompts) moved(_ context.Context, where chat.MoveFunc) error {
	entries, err := p.Entries.List()
	errs := []error{err}
	for _, e := range entries {
		if _, moves := where(e.Conversation); !moves {
			continue
		}
		err := p.Entries.Change(e.Key, func(now *inbox.Entry) error {
			now.Conversation, _ = where(now.Conversation)
			now.Place, _ = where(now.Place)
			now.MessageID = 0
			return nil
		})
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// noteTarget keeps that a person's message, with the others of its album or text, is a session's
// prompt. If that fails, replies lose their way, never the prompt. The answer to a reply is shown
// in full, even if another session is then the current one.
func (p *Prompts) noteTarget(e inbox.Entry, r port.Session, reply bool) {
	key, by := e.Key, writerOf(e)
	if e.ThreadID != 0 || !reply && p.book.IsCurrent(e.Conversation, by, r) {
		key = ""
	}
	err := p.book.NotePrompt(e.Conversation, e.MessageID, key, r.ID, sentOf(e), by)
	if parts, unread := quotation.Parts(e.Update, e.Rest, e.Refers); unread == nil {
		for _, u := range parts[1:] {
			_, message := p.book.Inside(u.Message)
			err = errors.Join(err, p.book.NoteMessage(e.Conversation, message, r.ID))
		}
	}
	if err != nil {
		p.Chat.Log.Warn("message_not_noted", logkey.ChatID, e.ChatID, logkey.Error, err)
	}
}

// speaker returns the name of a prompt's writer, if another person has written to its session too.
func (p *Prompts) speaker(e inbox.Entry, r port.Session) string {
	m := messageOf(e)
	if m == nil || r.ID == uuid.Nil || !p.book.Several() || !p.book.OthersSpeak(r.ID, m.From.ID) {
		return ""
	}
	return quotation.Speaker(m.From)
}

// aside describes a text that may be no prompt, in a group in which several people write: it replies
// to a permission or a plan, or was written while the agent asks something, and not by the person
// whose turn it is. A command, and what a person has sent to the agent with the name of the bot
// alone, is a prompt.
func (p *Prompts) aside(in chat.Incoming, e inbox.Entry, r port.Session) *inbox.Aside {
	m := sentOn(e)
	if m == nil || e.Refers || e.Class != talk.ClassPlain || len(p.book.PeopleOf(in.To.ChatID)) < 2 {
		return nil
	}
	if request, denies := p.Texts.Requests.Replied(in.To, in.ReplyTo); request != "" {
		return &inbox.Aside{Request: request, Replies: denies}
	}
	request := p.Texts.Requests.OpenIn(r.ID, in.To)
	if request == "" || p.book.AskerOf(r.ID) == m.From.ID {
		return nil
	}
	return &inbox.Aside{Request: request}
}

// keepAside keeps a text out of the queue until the request has an outcome and a person decides.
func (p *Prompts) keepAside(ctx context.Context, e inbox.Entry) error {
	e.State = inbox.Asked
	if err := p.save(e); err != nil {
		return err
	}
	p.Chat.At("text-kept-aside")
	return p.Texts.Aside(ctx, e)
}

// ErrBlank is returned if nothing of a text can be typed.
var ErrBlank = errors.New("the text is blank")

// CLI takes the prompts that people write in a terminal.
type CLI struct {
	*Prompts
	// Add puts a prompt into the inbox, durably; fresh is false where its key was ever there.
	Add func(e inbox.Entry) (fresh bool, err error)
}

// Send queues a text for an open session, like a message of its chat. With a key that was ever used
// it does nothing. Errors: [ErrBlank], refusal.WrongState, and the errors of
// refusal.Unable.
func (c CLI) Send(ctx context.Context, key string, r port.Session, text string) error {
	typed, class, ok := talk.Normalise(text)
	if !ok {
		return ErrBlank
	}
	if !r.State.Live() {
		return &refusal.Error{Code: refusal.WrongState, State: r.State}
	}
	if err := refusal.Unable(r.Can, typed, class); err != nil {
		return err
	}
	e := inbox.Entry{Key: key, State: inbox.Held, Session: r.ID, Machine: r.Machine, Conversation: r.Conversation, Received: time.Now().UTC(),
		Text: typed, Class: class}
	why, isLimited := c.limit(ctx, e, r)
	if isLimited {
		e.State, e.Machine = inbox.Asked, ""
	}
	fresh, err := c.Add(e)
	if err != nil || !fresh {
		return err
	}
	c.Chat.At("desk-prompt-added")
	if isLimited {
		return c.holdForLimit(ctx, why, e, r)
	}
	if err = c.hold(ctx, e, r); chat.IsGone(err) || refusal.Is(err, refusal.NoAgent) { // it ended at this moment
		return errors.Join(&refusal.Error{Code: refusal.WrongState, State: r.State, Err: err}, c.finish(ctx, e))
	}
	if err == nil {
		return nil
	}
	ended := end(ctx, c.Prompts, e) // the sender of a failed message writes it again
	if chat.IsGone(ended) {         // it is already typed: only the report has failed
		c.Chat.Log.Error("prompt_not_shown", logkey.SessionID, e.Session.String(), logkey.Error, err)
		return nil
	}
	return errors.Join(err, ended)
}

// end takes a waiting prompt out of its queue, if it is in one, and finishes it. chat.IsGone of the
// error: it no longer waits.
func end(ctx context.Context, p *Prompts, e inbox.Entry) error {
	withdrawn := p.Queue.Withdraw(ctx, e.Session, e.Key)
	if withdrawn != nil && !chat.IsGone(withdrawn) {
		return withdrawn
	}
	err := p.finish(ctx, e)
	if withdrawn == nil && chat.IsGone(err) { // which has finished it
		return nil
	}
	return err
}
