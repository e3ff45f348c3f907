package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/newtext"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Agents inspects and ends agents.
type Agents interface {
	Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error)
	// Interrupt sends Esc to the agent of a session. reported: others report what was stopped.
	Interrupt(ctx context.Context, id uuid.UUID) (reported bool, err error)
	// Archive ends a session with proof. Its result comes as news.
	Archive(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) error
	// BeginEnd is Archive that returns when the end is on disk.
	BeginEnd(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) error
}

// Idle ends the idle sessions together.
type Idle interface {
	// Spared returns why a session is not ended with them; empty: it may be.
	Spared(p chat.Phrases, r port.Session, l port.Status) string
	// Offer asks whether to end them, where a person has tapped.
	Offer(ctx context.Context, t chat.Tap) error
}

// Others handles other writers of a session's conversation, and windows of no session.
type Others interface {
	// All returns the windows that belong to no session. Post shows windows; it does nothing
	// without any.
	All(ctx context.Context) []port.Window
	Post(ctx context.Context, to address.Conversation, all []port.Window) error
	// Refused reports that other writers prevent a resume.
	Refused(ctx context.Context, q chat.Resume, writers []port.Writer) error
}

// Questions handles agents' questions.
type Questions interface {
	// Chosen brings the open question, if any, of a session that was chosen in a conversation.
	Chosen(ctx context.Context, from address.Conversation, session uuid.UUID) error
	// Step shows the oldest open question of all.
	Step(ctx context.Context, from address.Conversation) error
	// Waits returns the sessions that wait for a person.
	Waits() []port.Session
}

// Stops handles the stops of people.
type Stops interface {
	// StopBegins is called before a person's stop of a session; see Stopped. ends gets the error of
	// a stop that did nothing.
	StopBegins(session uuid.UUID, by int64) (ends func(refused error))
	// Stopped shows the effect of a stop in the list of texts that it took back; false: no list.
	Stopped(ctx context.Context, r port.Session, to address.Conversation, s chat.Stop) (shown bool, err error)
}

// Deps holds the dependencies of Sessions.
type Deps struct {
	Chat   *chat.Chat
	Agents interface {
		port.Starter
		port.Agents
		Agents
		Front
	}
	Others Others
	// Recall has the last answer of a session shown where a person opens the session.
	Recall func(r port.Session, to address.Conversation)
	// Look is Recall where a person only looks at a session that is read in another chat.
	Look      func(r port.Session, to address.Conversation)
	GoOn      GoingOn
	Idle      Idle
	Stops     Stops
	Questions interface {
		Questions
		// Stopping asks how to stop an agent with an open question; false: no question is shown.
		Stopping(ctx context.Context, in chat.Incoming, r port.Session) (asked bool, err error)
	}
	// Kept returns the first lines of the prompts that wait for a session, in order.
	Kept func(r port.Session) []string
	// SendWaiting sends the texts of a chat that wait for a session that returns.
	SendWaiting func(ctx context.Context, chatID int64, r port.Session) error
}

// Sessions start, list, end and resume sessions.
type Sessions struct {
	Deps
	chat   *chat.Chat
	ends   chat.Cards[End]          // ask whether to end a session
	offers chat.Cards[port.Restore] // offer ways to resume a session
	begins card.Kind[begin]         // report that a session begins, and then that it is ready
	wheres chat.Cards[unclear]      // ask which part of /new is the folder
	border chat.Cards[entering]     // ask before a group may read what was said in another chat
	// pick asks which session to resume, and pickCurrent which one to make current if there are too
	// many for a button each.
	pick, pickCurrent func(ctx context.Context, to address.Conversation, a chat.Among) error

	Together *Together
}

// The kinds of the cards.
const (
	endKind    = "end"
	resumeKind = "resume"
	beginKind  = "begin"
	whereKind  = "where"
	borderKind = "border"
)

// New returns the Sessions of a chat.
func New(d Deps) *Sessions {
	return &Sessions{Deps: d, chat: d.Chat, Together: newTogether(d.Chat, d.Kept), ends: chat.NewCards[End](d.Chat, endKind),
		offers: chat.NewCards[port.Restore](d.Chat, resumeKind).Asking(),
		border: chat.NewCards[entering](d.Chat, borderKind), wheres: chat.NewCards[unclear](d.Chat, whereKind), begins: card.NewKind[begin](d.Chat.Cards, beginKind, nil)}
}

// FeatureName is the name of the feature.
const FeatureName = "sessions"

// Feature describes Sessions to the dispatcher.
func (s *Sessions) Feature() chat.Feature {
	kill := s.AskEnd(port.StateArchived, i18n.KillConfirm, i18n.ButtonKill)
	done := s.AskEnd(port.StateCompleted, i18n.DoneConfirm, i18n.ButtonDone)
	// Its links need the disk.
	listText := func(ctx context.Context, to address.Conversation) render.Text { return s.screen(ctx, to).Text }
	f := chat.Feature{
		Name: FeatureName,
		Commands: []chat.Command{
			{Name: "new", Run: s.start}, {Name: "list", Run: s.list, Unkept: listText}, {Name: "resume", Run: s.resume},
		},
		Cards: map[string]chat.OnTap{
			chat.LinkKind: s.tapLink, chat.NoticeKind: s.tapLink, endKind: s.ends.OnTap(s.tapEnd),
			resumeKind: s.offers.OnTap(s.tapOffer), whereKind: s.wheres.OnTap(s.tapWhere), borderKind: s.border.OnTap(s.tapBorder),
		},
		Pages:  map[string]chat.Page{listPage: {Draw: page{s}.draw, Do: page{s}.do}},
		Late:   map[string]func(chat.Tap) string{chat.LinkKind: s.late},
		OnNews: s.onNews,
	}
	s.addChoices(&f)
	s.chat.ByName(&f, chat.Command{Name: "stop", Now: true, Acts: true}, isLive, s.Stop)
	s.chat.ByName(&f, chat.Command{Name: "kill", Acts: true}, Endable, kill)
	s.chat.ByName(&f, chat.Command{Name: "done", Acts: true}, Endable, done)
	return f
}

// addChoices adds the pages that ask which session to resume, and which one to make current.
func (s *Sessions) addChoices(f *chat.Feature) {
	s.pick = s.chat.AddChoice(f, chat.Choice{Name: "pick", Question: i18n.ResumePick, Among: s.toResume,
		Do: func(ctx context.Context, t chat.Tap, r port.Session, a chat.Among) (back bool, err error) {
			return s.resumeIn(ctx, chat.Resume{Session: r, To: t.To, From: t.From}, a.Dir)
		}})
	s.pickCurrent = s.chat.AddChoice(f, chat.Choice{Name: "switch", Question: i18n.SwitchPick,
		Among: func(address.Conversation, chat.Among) []port.Session { return openIn(s.chat.Book.Known()) },
		Do: func(ctx context.Context, t chat.Tap, r port.Session, _ chat.Among) (bool, error) {
			opened, err := s.open(ctx, t, r, func(context.Context) error { return nil })
			if err != nil {
				return false, err
			}
			return true, opened.Then(ctx)
		}})
}

// openIn returns the sessions that are open.
func openIn(all []port.Session) []port.Session {
	return slices.DeleteFunc(all, func(r port.Session) bool { return !isLive(r) })
}

// start opens a session: /new [name] [path] [--agent name]. Without arguments it shows the page of
// new sessions.
func (s *Sessions) start(ctx context.Context, in chat.Incoming, args string) error {
	agent, args := newtext.Agent(args)
	if args == "" && agent == "" {
		return s.chat.Pages.Open(ctx, in, "new")
	}
	name, path := newtext.NameAndPath(args, s.chat.Machines.Has)
	if path == "" && strings.Contains(args, "/") && agent == "" {
		return s.askWhere(ctx, in, args)
	}
	dir, err := s.resolve(ctx, in.To, in.From, path)
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(port.Session{}, err))
	}
	_, _, err = s.Begin(ctx, in.To, port.Start{Name: name, Dir: dir, Owner: in.From, Origin: in.Key, Agent: agent})
	return err
}

// Begin starts a session that a person asks for in a conversation: it is shown and current there,
// or in a new topic. The topic comes first, so that it has all messages of the session. The chat's
// settings fill in what the person has not chosen. A refusal is reported in the chat.
func (s *Sessions) Begin(ctx context.Context, to address.Conversation, q port.Start) (r port.Session, began bool, err error) {
	r, refused, err := s.begin(ctx, to, q)
	if refused != nil {
		return r, false, s.chat.Explain(ctx, to, s.chat.In(to).Failure(port.Session{}, refused))
	}
	return r, err == nil, err
}

// begin is Begin without the report of a refusal.
func (s *Sessions) begin(ctx context.Context, to address.Conversation, q port.Start) (r port.Session, refused, err error) {
	name := cmp.Or(q.Name, q.Dir[strings.LastIndex(q.Dir, "/")+1:])
	at, err := s.chat.Book.Place(ctx, to, port.Session{Name: name}, q.Origin)
	if err != nil {
		return r, nil, err
	}
	set := s.chat.Book.Settings(to.ChatID)
	by, can, refused := set.AgentOf(ctx, s.Agents, q)
	if refused != nil {
		return r, refused, nil
	}
	limits := s.chat.Book.Limits(port.Session{Conversation: at, Owner: q.Owner})
	q.Agent, q.Conversation, q.With, q.Budget = by, at, chosen(can, set, q.With), limits.Budget(s.chat.Book.DayBudget)
	if r, refused = s.Agents.Start(ctx, q); refused != nil {
		return r, refused, nil
	}
	if err := s.chat.Book.MakeCurrent(ctx, at, q.Owner, r.ID); err != nil {
		return r, nil, err
	}
	return r, nil, reportStarted(ctx, s, r, at)
}

// reportStarted reports a new session where it is shown. Telegram shows a new topic by itself.
func reportStarted(ctx context.Context, s *Sessions, r port.Session, at address.Conversation) error {
	dir := render.Code(s.chat.Short(r.Dir))
	words := s.chat.In(at)
	receipt := words.Text(i18n.Started, i18n.Args{"Name": r.Name, "Dir": dir})
	return s.reportBegin(ctx, at, r, chat.Lines(receipt, reachableText(words, r), s.chat.SharedText(at, r)))
}

// reachableText names the agent of a new session if a tool can answer its requests; else empty.
func reachableText(p chat.Phrases, r port.Session) render.Text {
	if !r.Reachable {
		return render.Text{}
	}
	return p.Text(i18n.AgentReachable, i18n.Args{"Agent": r.Product})
}

// chosen returns the mode and the model of a new session. Choices count as far as the agent has
// them: they may have been made for another agent.
func chosen(can port.Abilities, set conversation.Settings, with port.ModeChange) port.ModeChange {
	if with.Mode = cmp.Or(with.Mode, port.Mode(set.Mode)); !can.HasMode(with.Mode) {
		with.Mode = ""
	}
	with.Model = cmp.Or(can.Model(with.Model), can.Model(set.Model))
	return with
}

// unclear is a /new with a part that may be a folder, or belong to the name.
type unclear struct {
	Name  string `json:"name"`  // with that part
	Short string `json:"short"` // without it
	Here  string `json:"here"`  // the folder without it
	Dir   string `json:"dir"`   // with it
	Key   string `json:"key"`   // of the command: it starts one session
}

const asFolder, asName = "folder", "name"

// slashed is the first word that has a slash in it.
var slashed = lazyregexp.New(`[^\s\p{Z}]*/`)

// askWhere asks whether a word with a slash in it begins a folder's path, or is a part of the name.
func (s *Sessions) askWhere(ctx context.Context, in chat.Incoming, args string) error {
	at := slashed.FindStringIndex(args)[0]
	path := strings.Trim(args[at:], chat.Quotes+" ")
	q := unclear{Name: chat.NameOf(args), Short: chat.NameOf(args[:at]), Key: in.Key}
	var err error
	if q.Here, err = s.resolve(ctx, in.To, in.From, ""); err == nil {
		q.Dir, err = s.resolve(ctx, in.To, in.From, path)
	}
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(port.Session{}, err))
	}
	words := s.chat.In(in.To)
	folder := words.Say(i18n.ButtonAsFolder, i18n.Args{"Dir": s.chat.ShortTail(q.Dir)})
	name := words.Say(i18n.ButtonAsName, i18n.Args{"Name": q.Name})
	content := card.Content{To: in.To, Text: words.Text(i18n.NewUnclear, i18n.Args{"Path": render.Code(glyph.Name(path))}),
		Options: chat.Rows(1, card.Option{Text: folder, Value: asFolder, For: in.From},
			card.Option{Text: name, Value: asName, For: in.From}, words.Cancel())}
	return s.wheres.Post(ctx, content, q)
}

// tapWhere starts the chosen session.
func (s *Sessions) tapWhere(_ context.Context, t chat.Tap, q unclear) (chat.Answer, error) {
	start := port.Start{Name: q.Name, Dir: q.Here, Owner: t.From, Origin: q.Key}
	if t.Card.Option == asFolder {
		start.Name, start.Dir = q.Short, q.Dir
	}
	return chat.Do(func(ctx context.Context) error {
		if _, _, err := s.Begin(ctx, t.To, start); err != nil {
			return err
		}
		return s.wheres.End(ctx, t, "")
	})
}

// resolve returns the folder of a typed path, relative to the folder of the person's current session.
func (s *Sessions) resolve(ctx context.Context, to address.Conversation, by int64, path string) (dir string, err error) {
	if dir := s.chat.Book.Settings(to.ChatID).Dir; dir != "" && path == "" {
		return s.chat.Places.Resolve(ctx, "/", dir)
	}
	r, _ := s.chat.Book.CurrentSession(to, by)
	return s.chat.Places.Resolve(ctx, r.Dir, path)
}

// commandEnds is how long a command of an interrupted turn may take to end.
const commandEnds = time.Second

// Stop sends Esc, which interrupts a turn. It reports what was stopped if no other message does,
// and what goes on in the background.
func (s *Sessions) Stop(ctx context.Context, in chat.Incoming, r port.Session) error {
	ends := s.Stops.StopBegins(r.ID, in.From)
	reported, err := s.Agents.Interrupt(ctx, r.ID)
	defer ends(err) // until then the reply is for no list of an earlier stop
	if refusal.Is(err, refusal.Asks) {
		if asked, err := s.Questions.Stopping(ctx, in, r); asked || err != nil {
			return err
		}
	}
	idle := refusal.Is(err, refusal.Idle)
	if err != nil && !idle {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
	}
	looks, unknown := s.Agents.Inspect(ctx, r.ID)
	if !idle && looks[r.ID].Commands > 0 && pause.For(ctx, commandEnds) == nil {
		looks, unknown = s.Agents.Inspect(ctx, r.ID)
	}
	now, p := looks[r.ID], s.chat.In(in.To)
	goesOn := strings.Join(p.Beside(port.Status{Idle: true, Agents: now.Agents, Commands: now.Commands}), p.Say(i18n.JoinParts))
	if idle && goesOn == "" { // known, or something may run
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, cmp.Or(unknown, err)))
	}
	s.chat.React(ctx, in.To, in.MessageID, chat.ReactionReceived)
	stop := chat.Stop{Turn: !idle && !reported, GoesOn: goesOn}
	if shown, err := s.Stops.Stopped(ctx, r, in.To, stop); shown || err != nil {
		return err
	}
	var said []render.Text
	if stop.Turn {
		said = append(said, p.Text(i18n.StopDone, i18n.Args{"Name": r.Name}))
		if err := s.chat.TellShown(ctx, in.To, r, in.From, i18n.StopDone, i18n.Args{"Name": r.Name}); err != nil {
			return err
		}
	}
	if goesOn != "" {
		said = append(said, p.Text(i18n.StopGoesOn, i18n.Args{"Name": r.Name, "What": goesOn}))
	}
	if len(said) > 0 { // otherwise the line of the interrupt in the transcript is reported
		said = append(said, s.chat.By(in.To, in.From))
	}
	return s.chat.Post(ctx, card.Content{To: in.To, Session: r.ID, Text: chat.Lines(said...)})
}

func isLive(r port.Session) bool { return r.State.Live() }

// comesBack reports whether a resume brings a session back; a session that is on its way may have
// been cut short.
func comesBack(r port.Session) bool { return r.Resumable || r.Interrupted }

func isNotClean(r port.Session) bool { return r.State == port.StateCleanupFailed }

// Endable reports whether a session can still be archived.
func Endable(r port.Session) bool { return isLive(r) || isNotClean(r) }
