package bot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func TestStaleButtons(t *testing.T) {
	none := uuid.NewString()
	for _, data := range []string{"", ":", "what", "what:x", "cur", "cur:", "cur:x", "cur:" + none, "kill", "kill:x:7", "kill:" + none + ":7",
		"done:" + none + ":7", "res:", "res:" + none, "undo:x", "again", "again:", "again:../x", "again:999", "drop:999", "drop:p-x"} {
		t.Run(data, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "api", session.Running)
			require.NoError(t, w.tap(t, alice, data))
			assert.Equal(t, []string{"answer query: " + w.word(i18n.StaleButton), "buttons of 55: 0"}, w.sender.done())
			assert.Empty(t, w.sessions.done())
		})
	}
}

func TestConfirmationsWithoutAnAskerAreNobodys(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	for _, data := range []string{"kill:" + r.ID.String(), "done:" + r.ID.String() + ":", "kill:" + r.ID.String() + ":8:7", "no", "no:", "no:07"} {
		require.NoError(t, w.tap(t, alice, data))
	}
	assert.Empty(t, w.sessions.done())
	assert.Len(t, w.sender.done(), 6)
	for _, line := range w.sender.done() {
		assert.Equal(t, "answer query: "+w.word(i18n.NotForYou), line)
	}
}

// A message that is gone, or too old to be edited, is nothing to fail on.
func TestAMessageThatIsGoneIsPassedOver(t *testing.T) {
	for _, verb := range []string{"stale", "no:7", "res"} {
		w := newWorld(t)
		r := w.session(t, "api", session.Archived)
		if verb == "res" {
			verb += ":" + r.ID.String()
		}
		w.sender.edit = func(outbox.Message) error { return fmt.Errorf("edit: %w", &outbox.Refused{Err: errors.New("gone")}) }
		require.NoError(t, w.tap(t, alice, verb))
		w.sender.edit = func(outbox.Message) error { return outbox.ErrClosed }
		assert.ErrorIs(t, w.tap(t, alice, verb), outbox.ErrClosed)
	}
}

func TestTapCurrentSwitches(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Running)
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	require.NoError(t, w.tap(t, alice, "cur:"+web.ID.String()))
	current, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, web.ID, current)
	assert.Equal(t, []string{"move " + web.ID.String() + " to 7"}, w.sessions.done(), "it is shown here from now on")
	text, _ := w.listText(t.Context(), atAlice)
	assert.Equal(t, text.Text, w.sender.lastEdit(t).Text.Text)
	assert.Contains(t, w.sender.done(), "answer query: → web")

	w.sessions.move = func(uuid.UUID, session.Conversation) error { return errDisk }
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	assert.ErrorIs(t, w.tap(t, alice, "cur:"+web.ID.String()), errDisk)
}

func TestTapCurrentOnAListThatIsGone(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errors.New("gone")} }
	assert.NoError(t, w.tap(t, alice, "cur:"+r.ID.String()))
}

func TestTapCurrentOnALongListStaysWithinTheLimit(t *testing.T) {
	w := newWorld(t)
	var last session.Record
	for n := range 100 {
		last = w.session(t, fmt.Sprintf("a-long-name-for-a-session-that-fills-the-list-%02d", n), session.Starting)
	}
	require.NoError(t, w.tap(t, alice, "cur:"+last.ID.String()))
	assert.LessOrEqual(t, w.sender.lastEdit(t).Text.Length(), 4096)
}

func TestP4_APersonDecidesAboutTheUnproven(t *testing.T) {
	for _, tt := range []struct {
		verb, call string
		said       i18n.Key
	}{
		{"again", "send again", i18n.SentAgain},
		{"drop", "drop", i18n.Dropped},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e := w.prompt(t, r, "text", inbox.Unproven)
			require.NoError(t, w.tap(t, bob, tt.verb+":"+e.Key), "any allowed person may")
			assert.Equal(t, []string{tt.call + " " + e.Key + " for " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, lines("the question", "", w.named(tt.said, "api")), w.sender.lastEdit(t).Text.Text)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
		})
	}
}

func TestP4_ADecisionThatFailsLeavesTheButtons(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		stale bool
	}{
		{"finished meanwhile", fs.ErrNotExist, true},
		{"the entry is finished", inbox.ErrNoEntry, true},
		{"the session is gone", session.ErrNotFound, true},
		{"the agent has ended", lifecycle.ErrNoAgent, false},
		{"the disk is full", errDisk, false},
	} {
		for _, verb := range []string{"again", "drop"} {
			t.Run(tt.name+": "+verb, func(t *testing.T) {
				w := newWorld(t)
				r := w.session(t, "api", session.Archived)
				e := w.prompt(t, r, "text", inbox.Unproven)
				w.sessions.decide = func(uuid.UUID, string) error { return deep(tt.err) }
				err := w.tap(t, alice, verb+":"+e.Key)
				if errors.Is(tt.err, errDisk) {
					assert.ErrorIs(t, err, errDisk)
				} else {
					require.NoError(t, err)
					assert.NotEmpty(t, w.sender.done())
				}
				assert.Equal(t, tt.stale, w.sender.spent == 1, "only what is over loses its buttons")
				assert.Empty(t, w.sender.edited)
			})
		}
	}
}

// Telegram refuses a button whose data has more than 64 bytes.
func TestCallbackDataFits(t *testing.T) {
	w := newWorld(t)
	w.Allowed[math.MaxInt64] = true
	r := w.currentSession(t, "api", session.Running)
	w.session(t, "old", session.Archived)
	longest := inbox.UpdateKey(math.MaxInt64)
	for _, key := range []string{longest, inbox.NewPromptKey()} {
		_, err := w.entries.Add(inbox.Entry{Key: key, State: inbox.Unproven, Session: r.ID, Conversation: atAlice, Text: "x"})
		require.NoError(t, err)
		n := lifecycle.Note{Kind: lifecycle.NoteUnproven, Session: r, Prompt: lifecycle.Prompt{Key: key, Text: "x"}}
		require.NoError(t, w.SessionNews(t.Context(), n))
	}
	for _, kind := range []lifecycle.NoteKind{lifecycle.NoteLost, lifecycle.NoteFailed, lifecycle.NoteEnded} {
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r}))
	}
	r.State = session.Archived
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &lifecycle.Receipt{}}))
	for _, text := range []string{"/list", "/kill api", "/done api", "/resume"} {
		key, u := w.accept(t, &models.Message{From: &models.User{ID: math.MaxInt64}, Chat: privateChat(alice), Text: text})
		require.NoError(t, w.Handle(t.Context(), key, u))
	}
	seen := make(map[string]bool)
	for _, m := range w.sender.posted {
		for _, d := range data(m) {
			assert.LessOrEqual(t, len(d), 64, d)
			assert.NotEmpty(t, d)
			verb, _, _ := strings.Cut(d, ":")
			assert.Contains(t, w.taps, verb, "somebody answers it")
			seen[verb] = true
		}
	}
	assert.Len(t, seen, len(w.taps), "all buttons were looked at: %v", seen)
}
