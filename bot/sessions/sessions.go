package sessions

import (
	"context"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Life starts and ends sessions.
type Life interface {
	Start(ctx context.Context, q control.Start) (views.Session, error)
	Restore(ctx context.Context, q control.Restore) (control.Restored, error)
	Archive(ctx context.Context, id uuid.UUID, final views.State, why string) error
}

// Agents are looked at.
type Agents interface {
	Look(ctx context.Context, id uuid.UUID) desk.Look
	// ProjectAnswers says what in a session's project may answer permission requests before the
	// chat; empty where nothing may.
	ProjectAnswers(id uuid.UUID) string
	// Interrupt sends Esc to the agent of a session. Errors: refusal.Idle among them.
	Interrupt(ctx context.Context, id uuid.UUID) error
}

// Reader shows what the agent of a session writes.
type Reader interface {
	// Recall has the last answer of a session shown in a conversation where a person opens the
	// session.
	Recall(r views.Session, to address.Conversation)
}

// Windows are the windows that belong to no session, as a part of the list.
type Windows interface {
	All(ctx context.Context) []desk.Window
	List(all []desk.Window) chat.WindowList
	// Tap does what an option about one of the windows says. redraw draws the message again.
	Tap(t chat.Tap, was []chat.Window, redraw func(ctx context.Context) error) (chat.Answer, error)
}

// Sessions start, list, end and resume sessions.
type Sessions struct {
	Resumer *Resumer
	ends    *ends
	chat    *chat.Chat
	book    *conversation.Book
	words   i18n.Words
	life    Life
	agents  Agents
	reader  Reader
	windows Windows
	lists   chat.Cards[[]chat.Window] // the sessions stand in the values of the options
}

// The kinds of the cards.
const (
	listKind   = "list"   // of /list
	endKind    = "end"    // asks whether to end a session
	resumeKind = "resume" // offers to resume sessions
)

// New returns the Sessions of a chat.
func New(c *chat.Chat, life Life, agents Agents, reader Reader, windows Windows) *Sessions {
	e := &ends{c, c.Book, c.Words, life, chat.NewCards[end](c, endKind)}
	return &Sessions{ends: e, chat: c, book: c.Book, words: c.Words, life: life, agents: agents, reader: reader,
		windows: windows, lists: chat.NewCards[[]chat.Window](c, listKind),
		Resumer: &Resumer{chat: c, book: c.Book, words: c.Words, life: life, reader: reader, ends: e,
			offers: chat.NewCards[[]offer](c, resumeKind)}}
}

// Feature is what the roof knows of Sessions.
func (s *Sessions) Feature() chat.Feature {
	c := s.chat
	return chat.Feature{
		Name: "sessions",
		Commands: []chat.Command{
			{Name: "new", Run: s.start}, {Name: "list", Run: s.list}, {Name: "stop", Run: s.stop, Now: true},
			{Name: "kill", Run: s.ends.askKill}, {Name: "done", Run: s.ends.askDone}, {Name: "why", Run: s.why},
			{Name: "resume", Run: s.Resumer.resume},
		},
		Taps: map[string]chat.OnTap{ // links, see package chat
			"open": c.OnLink(s.followOpen), "res": c.OnLink(s.Resumer.followResume), "try": c.OnLink(s.ends.followRetry),
		},
		Cards: map[string]chat.OnTap{listKind: s.lists.OnTap(s.tapList), endKind: s.ends.questions.OnTap(s.ends.tap),
			resumeKind: s.Resumer.offers.OnTap(s.Resumer.tap)},
		News: map[news.Kind]func(ctx context.Context, n news.Note) error{
			news.Ready:   s.tellReady,
			news.Failed:  s.tellFailed,
			news.Lost:    s.tellLost,
			news.Stopped: s.Resumer.tellStopped,
			news.Ended:   s.tellEnded,
		},
		Heard: s.ends.heard,
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
	r, err := s.life.Start(ctx, control.Start{Name: name, Dir: dir, Conversation: in.To,
		Owner: in.From, Origin: in.Key})
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.Failure(views.Session{}, err))
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

// splitNameAndPath separates the name from the path. Quotes around either go: people type quotes
// around blanks, and a path needs none here.
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
func resolveDir(c *chat.Chat, to address.Conversation, path string) (string, error) {
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
	err = s.agents.Interrupt(ctx, r.ID)
	if refusal.Is(err, refusal.Idle) {
		text := s.words.Say(i18n.StopNothing, i18n.Args{"Name": r.Name})
		return s.chat.For(r.ID).Say(ctx, in.To, text)
	}
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.Failure(r, err))
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

func isLive(r views.Session) bool { return r.Live }

// comesBack reports whether a resume brings a session back; a session that is on its way may have
// been cut short.
func comesBack(r views.Session) bool { return r.Resumable || r.Interrupted }

func isNotClean(r views.Session) bool { return r.State == views.CleanupFailed }

// isRetry reports whether what is left of a session is left of the launch that a button names.
func isRetry(r views.Session, launch string) bool { return isNotClean(r) && chat.LaunchOf(r) == launch }

// isEndable reports whether a session can still be archived.
func isEndable(r views.Session) bool { return isLive(r) || isNotClean(r) }
