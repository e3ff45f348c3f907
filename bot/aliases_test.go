package bot

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/bot/report"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Names that tests use for what other packages have.
var (
	plain          = render.Plain
	lastLines      = chat.LastLines
	OpenChats      = conversation.Open
	ResumeAsk      = report.ResumeAsk
	ResumeAll      = report.ResumeAll
	ResumeNever    = report.ResumeNever
	reactionStored = chat.ReactionStored
)

const (
	limit            = render.Limit
	reactionTyped    = chat.ReactionTyped
	reactionReceived = chat.ReactionReceived
	reactionNone     = chat.ReactionNone
	warning          = chat.Warning
)

func (w *world) setSender(s Sender) { w.Sender, w.Chat.Sender, w.Editor = s, s, s }

func ref(id uuid.UUID) string { return id.String() }

func live(r views.Session) bool      { return r.Live }
func resumable(r views.Session) bool { return r.Resumable }

// identities are the processes of writers.
func identities(all []lifecycle.Writer) (who []process.Identity) {
	for _, one := range all {
		who = append(who, one.Identity)
	}
	return who
}

// listText is the list that a person gets who asks for it in a conversation.
func (w *world) listText(t *testing.T, to session.Conversation) (render.Text, [][]outbox.Button) {
	t.Helper()
	require.NoError(t, w.command("list").Run(t.Context(), chat.Incoming{Message: conversation.Message{To: to}}, ""))
	w.sender.deliver(t.Context())
	m := w.sender.last(t)
	return m.Text, m.Buttons
}

// conflict is what a message about writers is about.
type conflict string

const (
	resumeRefused  conflict = "r" // a session that is over is not resumed: somebody else writes
	otherWriter    conflict = "s" // somebody else writes a session that is open
	writerAfterEnd conflict = "g" // somebody writes a session that is over
)

// resumeOnStart starts the program with another setting.
func (w *world) resumeOnStart(what string) {
	w.ResumeOnStart = what
	w.again()
}
