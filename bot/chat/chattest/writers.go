package chattest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/bot/report"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/tmux"
)

// Theirs is the conversation that a window's agent writes.
var Theirs = uuid.MustParse("11111111-0000-4000-8000-000000000001")

// ShellWindow is a window without a writer of a conversation.
func ShellWindow(t *testing.T, id string) evidence.Window {
	t.Helper()
	window, err := tmux.ParseWindowID(id)
	require.NoError(t, err)
	return evidence.Window{Pane: tmux.Pane{Window: window, WindowName: "mine", PID: 99, Command: "vim", Path: "/home/alice/x"}}
}

// AgentWindow is a window in whose shell an agent runs that is proven to write a conversation.
func AgentWindow(t *testing.T, id string, pid int) evidence.Window {
	t.Helper()
	w := ShellWindow(t, id)
	one := InTerminal(pid)
	one.AgentSessionID, one.Pane, one.InTmux = Theirs, w.Pane, true
	w.Agent = &one
	w.Others = []process.Process{{Identity: process.Identity{PID: 99}, Args: []string{"-bash"}}}
	return w
}

// Unbound sets the unbound windows, and returns the list that shows them.
func (w *World) Unbound(t *testing.T, all ...evidence.Window) outbox.Message {
	t.Helper()
	w.Windows.All = all
	w.MustHear(t, "/list")
	return w.Telegram.Last(t)
}

// InTerminal is a writer that a person has started in a terminal: proven and unprotected.
func InTerminal(pid int) evidence.Writer {
	p := Claude(pid)
	p.TTY, p.Cwd = 136<<8|3, "/home/alice/proj" // pts/3
	return evidence.Writer{Process: p, Age: 2 * time.Hour, Proven: true, Source: process.SourcePresence, Standing: evidence.Second}
}

// InWindow is a writer in a window of ccbot's tmux server.
func InWindow(t *testing.T, pid int) evidence.Writer {
	t.Helper()
	w := InTerminal(pid)
	window, err := tmux.ParseWindowID("@4")
	require.NoError(t, err)
	w.Pane, w.InTmux = tmux.Pane{Window: window, WindowName: "mine"}, true
	return w
}

func Unsure(pid int) evidence.Writer {
	w := InTerminal(pid)
	w.Proven, w.Standing, w.Source = false, evidence.Unclear, ""
	return w
}

func AgentOf(pid int, name string) evidence.Writer {
	w := InTerminal(pid)
	w.Session, w.Spared = name, evidence.ReasonOtherAgent
	return w
}

// Write makes these the writers of every session.
func (w *World) Write(all ...evidence.Writer) {
	w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return all, nil }
}

// Refuse is a resume that is refused because of these writers; they write on.
func (w *World) Refuse(all ...evidence.Writer) {
	w.Write(all...)
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		now, err := w.Lifecycle.OnWriters(uuid.Nil)
		if len(now) > 0 || err != nil {
			return session.Record{}, Deep(&lifecycle.WriterError{Writers: now})
		}
		return w.Records.List()[0], nil
	}
}

// MarkReported posts the message of a scene and returns it.
func (w *World) MarkReported(t *testing.T, k Conflict, all ...evidence.Writer) (session.Record, outbox.Message) {
	t.Helper()
	state := map[Conflict]session.State{ResumeRefused: session.Archived, OtherWriter: session.Running, WriterAfterEnd: session.Archived}[k]
	r := w.Session(t, "api", state)
	w.Refuse(all...)
	if k == ResumeRefused {
		w.MustHear(t, "/resume api")
		return r, w.Telegram.Last(t)
	}
	require.NoError(t, w.SessionNews(t.Context(), r, lifecycle.OtherWriters(all)))
	return r, w.Telegram.Last(t)
}

// EndedWriterShown returns the message about writers of an ended session's conversation.
func (w *World) EndedWriterShown(t *testing.T, r session.Record, all ...evidence.Writer) outbox.Message {
	t.Helper()
	return w.Shown(t, r, lifecycle.OtherWriters(all))
}

var ErrTable = errors.New("the process table cannot be read")

// Doing returns the calls about sessions except the first refused resume.
func (w *World) Doing(r session.Record) []string {
	return slices.DeleteFunc(w.Lifecycle.Done(), func(line string) bool { return line == "restore "+r.ID.String() })
}

// TakeOver taps [Take over] or [End it] and returns the question.
func (w *World) TakeOver(t *testing.T, m outbox.Message, word i18n.Key) outbox.Message {
	t.Helper()
	require.NoError(t, w.TapShown(t, Alice, m, word))
	asked := w.Telegram.Last(t)
	assert.Equal(t, w.WordsOf(word, i18n.ButtonCancel), Words(asked))
	return asked
}

// Inspect are the buttons of a scene's message and of its question that look at the writers: all
// but [Cancel].
func (w *World) Inspect(m, asked outbox.Message) []Spot {
	cancel := w.Word(i18n.ButtonCancel)
	return slices.DeleteFunc(Spots(m, asked), func(s Spot) bool { return s.Button.Text == cancel })
}

func TakeWord(k Conflict) i18n.Key {
	if k == WriterAfterEnd {
		return i18n.ButtonStopIt
	}
	return i18n.ButtonTakeOver
}

// Names that tests use for declarations of other packages.
var (
	Plain          = render.Plain
	ResumeAsk      = report.ResumeAsk
	ResumeAll      = report.ResumeAll
	ResumeNever    = report.ResumeNever
	ReactionStored = chat.ReactionStored
)

const (
	Limit            = render.Limit
	ReactionTyped    = chat.ReactionTyped
	ReactionReceived = chat.ReactionReceived
	ReactionNone     = chat.ReactionNone
	Warning          = chat.Warning
)

func (w *World) setSender(s bot.Sender) {
	w.Sender, w.Chat.Sender = s, s
}

func Ref(id uuid.UUID) string { return id.String() }

func Live(r port.Session) bool { return r.State.Live() }

func Resumable(r port.Session) bool { return r.Resumable }

// Identities are the processes of writers.
func Identities(all []evidence.Writer) (who []process.Identity) {
	for _, one := range all {
		who = append(who, one.Identity)
	}
	return who
}

// ListText is the text of /list in a conversation.
func (w *World) ListText(t *testing.T, to session.Conversation) (render.Text, [][]outbox.Button) {
	t.Helper()
	require.NoError(t, w.command("list").Run(t.Context(), chat.Incoming{Message: conversation.Message{To: to}}, ""))
	w.Telegram.Deliver(t.Context())
	m := w.Telegram.Last(t)
	return m.Text, m.Buttons
}

// Conflict is the subject of a message about writers.
type Conflict string

const (
	ResumeRefused  Conflict = "r" // an ended session is not resumed because of other writers
	OtherWriter    Conflict = "s" // an open session has other writers
	WriterAfterEnd Conflict = "g" // an ended session has writers
)

// SetResumeOnStart starts the program with another setting.
func (w *World) SetResumeOnStart(what string) {
	w.ResumeOnStart = what
	w.Again()
}
