package sessions

import (
	"context"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Agents are looked at.
type Agents interface {
	Look(ctx context.Context, id uuid.UUID) desk.Look
	// Interrupt sends Esc to the agent of a session. told: others say what was stopped.
	Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error)
}

// Others are writers of a conversation beside its session, and windows of no session.
type Others interface {
	// All are the windows that belong to no session, and Post shows some, unless there are none.
	All(ctx context.Context) []desk.Window
	Post(ctx context.Context, to address.Conversation, all []desk.Window) error
	// Refused tells that a session is not resumed because others write its conversation.
	Refused(ctx context.Context, q chat.Resume, writers []desk.Writer) error
}

// Deps are what Sessions work with.
type Deps struct {
	Chat    *chat.Chat
	Starter control.Starter
	Ender   control.Ender
	Agents  Agents
	Others  Others
	// Recall has the last answer of a session shown where a person opens the session.
	Recall func(r views.Session, to address.Conversation)
	GoOn   GoingOn
}

// Sessions start, list, end and resume sessions.
type Sessions struct {
	Deps
	chat   *chat.Chat
	lists  chat.Cards[struct{}]        // of /list; the options are links
	ends   chat.Cards[end]             // ask whether to end a session
	offers chat.Cards[control.Restore] // offer ways to resume a session
	begins card.Kind[begin]            // say that a session begins, and then that it is ready
}

// The kinds of the cards.
const (
	listKind   = "list"
	endKind    = "end"
	resumeKind = "resume"
	beginKind  = "begin"
)

// New returns the Sessions of a chat.
func New(d Deps) *Sessions {
	return &Sessions{Deps: d, chat: d.Chat, lists: chat.NewCards[struct{}](d.Chat, listKind),
		ends: chat.NewCards[end](d.Chat, endKind), offers: chat.NewCards[control.Restore](d.Chat, resumeKind),
		begins: card.NewKind[begin](d.Chat.Cards, beginKind, nil)}
}

// Feature is what the roof knows of Sessions.
func (s *Sessions) Feature() chat.Feature {
	kill := s.askEnd(views.Archived, i18n.KillConfirm, i18n.ButtonKill)
	done := s.askEnd(views.Completed, i18n.DoneConfirm, i18n.ButtonDone)
	anything := func(views.Session) bool { return true }
	return chat.Feature{
		Name: "sessions",
		Commands: []chat.Command{
			{Name: "new", Run: s.start}, {Name: "list", Run: s.list}, {Name: "resume", Run: s.resume},
			{Name: "stop", Run: s.named(isLive, s.stop), Now: true},
			{Name: "kill", Run: s.named(isEndable, kill)}, {Name: "done", Run: s.named(isEndable, done)},
			{Name: "why", Run: s.named(anything, s.why)},
		},
		Cards: map[string]chat.OnTap{
			chat.LinkKind: s.tapLink, chat.NoticeKind: s.tapLink, listKind: s.tapList,
			endKind: s.ends.OnTap(s.tapEnd), resumeKind: s.offers.OnTap(s.tapOffer),
		},
		News: map[news.Kind]func(ctx context.Context, n news.Note) error{
			news.Ready: s.tellReady, news.Stopped: s.tellStopped,
			news.Failed: s.tellOver, news.Lost: s.tellOver, news.Ended: s.tellOver,
		},
	}
}

type (
	onSession = func(ctx context.Context, in chat.Incoming, r views.Session) error
	command   = func(ctx context.Context, in chat.Incoming, args string) error
)

// named is a command about the session that its argument names, or that the message answers, or
// that is the current one.
func (s *Sessions) named(fits func(views.Session) bool, do onSession) command {
	return func(ctx context.Context, in chat.Incoming, name string) error {
		r, ok, err := s.chat.Book.FindFor(in.Message, name, fits)
		switch {
		case err != nil:
			return err
		case !ok:
			return s.tellNone(ctx, in, name)
		}
		return do(ctx, in, r)
	}
}

// tellNone says that there is no session to do something with, or that it is over, and what to do.
func (s *Sessions) tellNone(ctx context.Context, in chat.Incoming, wanted string) error {
	r, ok, err := s.chat.Book.FindFor(in.Message, wanted, func(r views.Session) bool { return !r.EndedAt.IsZero() })
	if err == nil && ok && (wanted != "" || in.ReplyTo != 0) {
		text := s.chat.Words.Say(i18n.IsOver, s.chat.StateArgs(r), i18n.Args{"Time": s.chat.Moment(r.EndedAt)})
		return s.chat.For(r.ID).Post(ctx, in.To, render.Plain(text), s.chat.ResumeLink(r))
	}
	if wanted == "" {
		return s.chat.Say(ctx, in.To, s.chat.NoSessionText())
	}
	return s.chat.Say(ctx, in.To, s.chat.Words.Say(i18n.NoSuchSession, i18n.Args{"Name": wanted}))
}

// start opens a session: /new [name] [path].
func (s *Sessions) start(ctx context.Context, in chat.Incoming, args string) error {
	name, path := splitNameAndPath(args)
	dir, err := s.resolve(ctx, in.To, path)
	var r views.Session
	if err == nil {
		r, err = s.Starter.Start(ctx, control.Start{Name: name, Dir: dir, Conversation: in.To,
			Owner: in.From, Origin: in.Key})
	}
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.Failure(views.Session{}, err))
	}
	if err := s.chat.Book.MakeCurrent(ctx, in.To, r.ID); err != nil {
		return err
	}
	dir = s.chat.Short(r.Dir)
	text := s.chat.Words.Say(i18n.Started, i18n.Args{"Name": r.Name, "Dir": dir})
	receipt := chat.Marked(text, dir)
	if shared := s.chat.SharedText(r); shared != "" {
		receipt = render.Join(receipt, render.Plain("\n"+shared))
	}
	return s.tellBegin(ctx, in.To, r, receipt)
}

// resolve gives the folder that a typed path names, seen from the current session's folder.
func (s *Sessions) resolve(ctx context.Context, to address.Conversation, path string) (dir string, err error) {
	r, _, err := s.chat.Book.CurrentSession(to)
	if err != nil {
		return "", err
	}
	return s.chat.Places.Resolve(ctx, r.Dir, path)
}

// quotes are what keyboards write around a text; phones curve them.
const quotes = "\"'“”„«»‘’"

// beginOfPath is what stands before a path, and its first letter.
var beginOfPath = regexp.MustCompile(`(^|[\s\p{Z}])[` + quotes + `]?[/~.]`)

// splitNameAndPath separates the name from the path, which is what begins with /, ~ or . and goes
// on to the end. Quotes around either go: people type them around blanks, and a path needs none
// here.
func splitNameAndPath(args string) (name, path string) {
	name = args
	if found := beginOfPath.FindStringIndex(args); found != nil {
		at := found[1] - 1
		name, path = args[:at], strings.TrimSpace(args[at:])
		if strings.ContainsAny(args[found[0]:at], quotes) {
			path = strings.TrimRight(path, quotes)
		}
	}
	name = chat.Visible(strings.Trim(name, quotes+" \t\n"))
	letters := []rune(strings.Join(strings.Fields(name), "-"))
	return string(letters[:min(len(letters), chat.MaxName)]), path
}

// stop sends Esc, which interrupts a turn, and says what was stopped where nothing else does.
func (s *Sessions) stop(ctx context.Context, in chat.Incoming, r views.Session) error {
	told, err := s.Agents.Interrupt(ctx, r.ID)
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.Failure(r, err))
	}
	s.chat.Sender.React(ctx, in.To, in.MessageID, chat.ReactionReceived)
	if told {
		return nil
	}
	text := s.chat.Words.Say(i18n.StopDone, i18n.Args{"Name": r.Name})
	return s.chat.For(r.ID).Post(ctx, in.To, render.Plain(text), nil)
}

func isLive(r views.Session) bool { return r.Live }

// comesBack reports whether a resume brings a session back; a session that is on its way may have
// been cut short.
func comesBack(r views.Session) bool { return r.Resumable || r.Interrupted }

func isNotClean(r views.Session) bool { return r.State == views.CleanupFailed }

// isEndable reports whether a session can still be archived.
func isEndable(r views.Session) bool { return isLive(r) || isNotClean(r) }
