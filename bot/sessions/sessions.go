package sessions

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Life starts and ends sessions.
type Life interface {
	Start(ctx context.Context, q lifecycle.StartRequest) (session.Record, error)
	Archive(ctx context.Context, id uuid.UUID, final session.State, why string) error
}

// Agents are looked at.
type Agents interface {
	Look(ctx context.Context, r session.Record) lifecycle.Look
	// ProjectAnswers says what in a session's project may answer permission requests before the
	// chat; empty where nothing may.
	ProjectAnswers(r session.Record) string
}

// Interrupter sends Esc to the agent of a session. Errors: those of lifecycle, ErrIdle among them.
type Interrupter interface {
	Interrupt(ctx context.Context, id uuid.UUID) error
}

// Reader shows what the agent of a session writes.
type Reader interface {
	// Recall has the last answer of a session shown in a conversation where a person opens the
	// session.
	Recall(r session.Record, to session.Conversation)
}

// Windows are the windows that belong to no session, as a part of the list.
type Windows interface {
	Listed(ctx context.Context) (render.Text, [][]outbox.Button)
}

// Deps are what Sessions work with.
type Deps struct {
	Chat        *chat.Chat
	Life        Life
	Agents      Agents
	Interrupter Interrupter
	Reader      Reader
}

// Sessions start, list and end sessions.
type Sessions struct {
	chat        *chat.Chat
	book        *conversation.Book
	words       i18n.Words
	life        Life
	agents      Agents
	interrupter Interrupter
	reader      Reader
	windows     Windows
}

// New returns the Sessions of a chat; Connect completes them.
func New(d Deps) *Sessions {
	return &Sessions{chat: d.Chat, book: d.Chat.Book, words: d.Chat.Words, life: d.Life, agents: d.Agents,
		interrupter: d.Interrupter, reader: d.Reader}
}

// Connect gives Sessions what can only be made after them.
func (s *Sessions) Connect(windows Windows) { s.windows = windows }

// Feature is what the roof knows of Sessions. In the lines about buttons SESSION is a session's id,
// LAUNCH the start that a question is about, BY the person who was asked.
func (s *Sessions) Feature() chat.Feature {
	return chat.Feature{
		Name: "sessions",
		Commands: []chat.Command{
			{Name: "new", Run: s.start}, {Name: "list", Run: s.list}, {Name: "stop", Run: s.stop, Now: true},
			{Name: "kill", Run: s.askKill}, {Name: "done", Run: s.askDone}, {Name: "why", Run: s.why},
		},
		Taps: map[string]chat.OnTap{
			"cur":  s.tapCurrent,                   // SESSION: make it the current one
			"kill": s.tapEnd(session.Archived),     // SESSION:BY:LAUNCH: end it, as archived
			"done": s.tapEnd(session.Completed),    // SESSION:BY:LAUNCH: end it, as completed
			"no":   s.chat.ByAsker(0, s.tapCancel), // BY: take the question back
			"try":  s.tapRetry,                     // SESSION: try again to end what is left of it
		},
		News: map[lifecycle.NoteKind]func(ctx context.Context, n lifecycle.Note) error{
			lifecycle.NoteReady:   s.tellReady,
			lifecycle.NoteFailed:  s.tellFailed,
			lifecycle.NoteLost:    s.tellLost,
			lifecycle.NoteStopped: s.tellStopped,
			lifecycle.NoteEnded:   s.tellEnded,
		},
	}
}

// start opens a session: /new [name] [path]. The path is what begins with /, ~ or . and goes on to
// the end of the line.
func (s *Sessions) start(ctx context.Context, in chat.Incoming, args string) error {
	name, path := splitNameAndPath(args)
	dir, err := resolveDir(s.chat, in.To, path)
	if err != nil {
		return err
	}
	if outside := s.chat.OutsideText(dir); outside != "" {
		return s.chat.Say(ctx, in.To, outside)
	}
	r, err := s.life.Start(ctx, lifecycle.StartRequest{Name: name, Dir: dir, Conversation: in.To,
		Owner: in.From, Origin: in.Key})
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.StartFailure(err))
	}
	if err := s.book.MakeCurrent(ctx, in.To, r.ID); err != nil {
		return err
	}
	dir = s.chat.Short(r.Dir)
	text := s.words.Say(i18n.Started, i18n.Args{"Name": r.Name, "Dir": dir})
	if name != "" && r.Name != name {
		text = s.words.Say(i18n.NameTaken, i18n.Args{"Name": r.Name, "Wanted": name}) + "\n" + text
	}
	return s.chat.For(r.ID).Post(ctx, in.To, chat.Marked(text, dir), nil)
}

// splitNameAndPath tells the name from the path. Quotes around either go: people type quotes around
// blanks, and a path needs none here.
func splitNameAndPath(args string) (name, path string) {
	at, quoted := len(args), false
	before := ' '
	for i, r := range args {
		quoted = strings.ContainsRune(quotes, before)
		if strings.ContainsRune("/~.", r) && (quoted || unicode.IsSpace(before)) {
			at = i
			break
		}
		before = r
	}
	name, path = strings.Trim(args[:at], quotes+" \t\n"), strings.TrimSpace(args[at:])
	if quoted {
		path = strings.TrimRight(path, quotes)
	}
	letters := []rune(strings.Join(strings.Fields(chat.Visible(name)), "-"))
	return string(letters[:min(len(letters), chat.MaxName)]), path
}

// quotes are what keyboards write around a text; phones curve them.
const quotes = "\"'“”„«»‘’"

// resolveDir gives the folder that a typed path names: a relative path begins at the current
// session's folder, and without a path it is that folder itself, or home. Whether a session can
// work there is said where one is to.
func resolveDir(c *chat.Chat, to session.Conversation, path string) (string, error) {
	r, _, err := c.Book.CurrentSession(to)
	if err != nil {
		return "", err
	}
	dir, err := c.Places.Resolve(r.Dir, path)
	if dir == "" {
		return "", err
	}
	return dir, nil
}

// stop sends Esc: Esc interrupts a turn, or denies an open dialog.
func (s *Sessions) stop(ctx context.Context, in chat.Incoming, args string) error {
	r, ok, err := s.book.FindFor(in.Message, args, isLive)
	if err != nil {
		return err
	}
	if !ok {
		return tellNone(ctx, s.chat, in, args)
	}
	err = s.interrupter.Interrupt(ctx, r.ID)
	if errors.Is(err, lifecycle.ErrIdle) {
		text := s.words.Say(i18n.StopNothing, i18n.Args{"Name": r.Name})
		return s.chat.For(r.ID).Say(ctx, in.To, text)
	}
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.AgentFailure(r, err))
	}
	// what comes of it is told by the transcript
	s.chat.Sender.React(ctx, in.To, in.MessageID, chat.ReactionReceived)
	return nil
}

// tellNone says that there is no session to do something with, and what to do.
func tellNone(ctx context.Context, c *chat.Chat, in chat.Incoming, wanted string) error {
	if wanted != "" {
		return c.Say(ctx, in.To, c.Words.Say(i18n.NoSuchSession, i18n.Args{"Name": wanted}))
	}
	return c.Say(ctx, in.To, c.NoSessionText())
}

func isLive(r session.Record) bool { return r.State.Live() }

// comesBack reports whether a resume brings a session back; a session that is on its way may have
// been cut short.
func comesBack(r session.Record) bool { return r.Resumable() || r.Interrupted() }

// isEndable reports whether a session can still be archived.
func isEndable(r session.Record) bool { return r.State.Live() || r.State == session.CleanupFailed }

// tapCancel takes a question back.
func (s *Sessions) tapCancel(_ context.Context, t chat.Tap) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error { return s.chat.Replace(ctx, t, s.words.Say(i18n.Cancelled)) })
}
