package sessions

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/lifecycle"
)

// Restorer starts the agent of a session again.
type Restorer interface {
	Restore(ctx context.Context, q lifecycle.RestoreRequest) (lifecycle.Restored, error)
}

// Writers tell that a session is not resumed because somebody else writes its conversation.
type Writers interface {
	Refused(q chat.Resume, writers []lifecycle.Writer) (render.Text, [][]outbox.Button)
}

// ResumerDeps are what a Resumer works with.
type ResumerDeps struct {
	Chat     *chat.Chat
	Restorer Restorer
	Reader   Reader
}

// Resumer resumes sessions that are over.
type Resumer struct {
	chat     *chat.Chat
	book     *conversation.Book
	words    i18n.Words
	restorer Restorer
	reader   Reader
	writers  Writers
}

// NewResumer returns the Resumer of a chat; Connect completes it.
func NewResumer(d ResumerDeps) *Resumer {
	return &Resumer{chat: d.Chat, book: d.Chat.Book, words: d.Chat.Words, restorer: d.Restorer, reader: d.Reader}
}

// Connect gives the Resumer what can only be made after it.
func (m *Resumer) Connect(writers Writers) { m.writers = writers }

// Feature is what the roof knows of a Resumer. RESUME is a session with where and how to resume it.
func (m *Resumer) Feature() chat.Feature {
	return chat.Feature{
		Name:     "resume",
		Commands: []chat.Command{{Name: "resume", Run: m.resume}},
		Taps: map[string]chat.OnTap{
			"undo": m.tapUndo,    // SESSION:TIME: take the end of then back, seconds since 1970
			"res":  m.tapResume,  // RESUME: resume it
			"mkd":  m.tapMakeDir, // RESUME: make its directory again, then resume it
		},
	}
}
