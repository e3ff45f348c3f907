package bot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/machine"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

func TestP5_NoticedAnswerIsShownWhenOpened(t *testing.T) {
	answer := chattest.Long(1200)
	for _, state := range []session.State{session.Running, session.Completed} {
		t.Run(string(state), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Beside(t, state, chattest.PromptLine("first"), chattest.Says("old"), chattest.TurnEnd, chattest.PromptLine("second"), chattest.Says("Let me look."), chattest.ToolUse, chattest.Says(answer), chattest.TurnEnd)
			front := w.CurrentID(chattest.AtAlice, 0)
			w.Running(t)
			waittest.Until(t, func() bool { return len(w.Telegram.Texts()) == 2 })
			end, err := jsonl.End(w.Cursors(r)[0].Path)
			require.NoError(t, err)
			waittest.Until(t, func() bool { return w.Cursors(r)[0] == end })
			cursors := w.Cursors(r)

			require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
			all := func() []string { return strings.Fields(strings.Join(w.Telegram.AnswersSent(), " ")) }
			waittest.Until(t, func() bool { return strings.HasSuffix(answer, last(all())) })
			got := all()
			assert.Equal(t, append([]string{"api", "old", "Let", "me", "look."}, strings.Fields(answer)...), got, "under its name, all that had only a notice")
			assert.Equal(t, cursors, w.Cursors(r), "no cursor moves")
			assert.Equal(t, 1, w.Telegram.Spent, "the button is used up")
			if state.Live() {
				assert.Equal(t, r.ID, w.CurrentID(chattest.AtAlice, 0))
			} else {
				assert.Equal(t, front, w.CurrentID(chattest.AtAlice, 0), "what is over does not become current")
			}
			for _, m := range w.Telegram.Sent {
				assert.Equal(t, r.ID, m.Session)
			}
		})
	}
}

// cutting returns only the end of what was said.
type cutting struct{ machine.Transcripts }

func (c cutting) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor) ([]talk.Item, bool, error) {
	items, _, err := c.Transcripts.Between(ctx, from, before)
	return items[max(0, len(items)-1):], true, err
}

// What is not read when a session is opened, because it is too far back, is not left out silently.
func TestP5_OpeningReportsAnswersTooFarBack(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Deps.Transcripts = cutting{w.Deps.Transcripts}
	w.Again()
	r := w.Beside(t, session.Running, chattest.PromptLine("first"), chattest.Says("early"), chattest.PromptLine("second"), chattest.Says("late"), chattest.TurnEnd)
	w.Running(t)
	waittest.Until(t, func() bool { return len(w.Telegram.Texts()) > 0 })
	end, err := jsonl.End(w.Cursors(r)[0].Path)
	require.NoError(t, err)
	waittest.Until(t, func() bool { return w.Cursors(r)[0] == end })

	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
	waittest.Until(t, func() bool { return strings.Contains(strings.Join(w.Telegram.AnswersSent(), "\n"), "late") })
	shown := strings.Join(w.Telegram.AnswersSent(), "\n")
	assert.Contains(t, shown, w.Speech.For("en").Say(i18n.AnswersCut))
	assert.NotContains(t, shown, "early")
}

func TestP5_OpeningShowsOnlyMissingTexts(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T, w *chattest.World, r session.Record) error
	}{
		{"in the list", func(t *testing.T, w *chattest.World, r session.Record) error {
			return w.TapSpot(t, chattest.Alice, w.Listed(t, r))
		}},
		{"by its name", func(t *testing.T, w *chattest.World, r session.Record) error {
			_, err := w.Hear(t, "/resume api")
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			c := chattest.TranscriptOf(t, "t.jsonl", chattest.PromptLine("first"), chattest.Says("one"), chattest.TurnEnd)
			front := w.NewCurrentSession(t, "front", session.Running)
			r := w.Session(t, "api", session.Running, c)
			w.Running(t)
			waittest.Until(t, func() bool { return len(w.Telegram.Texts()) == 1 })
			require.NoError(t, tt.open(t, w, r))
			assert.Equal(t, []string{"api\none"}, w.Seen(t, 1))

			chattest.Grow(t, c, chattest.PromptLine("second"), chattest.Says("two"))
			assert.Equal(t, []string{"api\none", "two"}, w.Seen(t, 2), "it is current now")
			require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, r)))
			require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, front)))
			chattest.Grow(t, c, chattest.Says("three"))
			require.NoError(t, tt.open(t, w, r))
			chattest.Grow(t, c, chattest.Says("four"))
			assert.Equal(t, []string{"api\none", "two", "three", "four"}, w.Seen(t, 4), "what was shown in full is not shown again before what is newer")
		})
	}
}

// Of several answers that had only their notice the first [Open] shows all, and no other one
// anything again, also after a restart.
func TestP5_OpeningShowsNoticedAnswers(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.PromptLine("first"), chattest.Says("one"), chattest.TurnEnd, chattest.PromptLine("second"), chattest.Says("two"), chattest.TurnEnd)
	front := w.NewCurrentSession(t, "front", session.Running)
	r := w.Session(t, "api", session.Running, c)
	w.Running(t)
	waittest.Until(t, func() bool { return len(w.Telegram.Texts()) == 2 })
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
	assert.Equal(t, []string{"api\none", "two"}, w.Seen(t, 2), "the answers to two prompts are two messages")

	waittest.Until(t, func() bool {
		had, known := w.Chats.ReadMarkOf(chattest.AtAlice, r.ID)
		return known && had.Since == nil
	})
	next, err := chattest.OpenChats(filepath.Join(w.Dir, "chats")) // as a restart would
	require.NoError(t, err)
	had, known := next.ReadMarkOf(chattest.AtAlice, r.ID)
	require.True(t, known)
	assert.Nil(t, had.Since)
	require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, front)))
	require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, r)))
	chattest.Grow(t, c, chattest.PromptLine("third"), chattest.Says("three"))
	assert.Equal(t, []string{"api\none", "two", "three"}, w.Seen(t, 3), "nothing again")
}

// A turn that is shown in full, because its prompt replied to a message of the session, is not
// shown again by [Open], also after a restart; what had only a notice before and after it is.
func TestP5_OpeningSkipsFullyShownAnswers(t *testing.T) {
	w := chattest.NewWorld(t)
	turn := func(prompt string) []string {
		return []string{chattest.PromptLine(prompt), chattest.Says("to " + prompt), chattest.TurnEnd}
	}
	r := w.Beside(t, session.Completed, turn("first")...)
	w.ReadNow(t, r)
	for _, prompt := range []string{"second", "third"} {
		require.NoError(t, w.Chats.NotePrompt(chattest.AtAlice, 0, prompt, r.ID, w.Now(), chattest.Alice))
		require.NoError(t, w.Chats.BeginTurn(chattest.AtAlice, r.ID, prompt, w.Now()))
		chattest.Grow(t, r.Cursors[0], turn(prompt)...)
		w.ReadNow(t, r)
	}
	require.NoError(t, w.Chats.EndTurn(chattest.AtAlice, r.ID, w.Now().Add(time.Second)))
	chattest.Grow(t, r.Cursors[0], turn("fourth")...)
	w.ReadNow(t, r)
	assert.Equal(t, []string{w.Notice("api", "to first"), w.Notice("api", "to fourth")}, w.Telegram.Texts())
	full := []string{"api\nto second", "api\nto third"}
	require.Equal(t, full, w.Telegram.AnswersSent())

	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
	w.ReadNow(t, r)
	assert.Equal(t, append(full, "api\nto first", "to fourth"), w.Telegram.AnswersSent())
}

func TestP5_OpeningSendsManyMessagesAsFile(t *testing.T) {
	w := chattest.NewWorld(t)
	var lines []string
	for n := range 41 {
		lines = append(lines, chattest.PromptLine("next"), chattest.Says(fmt.Sprintf("answer %d", n)), chattest.TurnEnd)
	}
	r := w.Beside(t, session.Completed, lines...)
	w.ReadNow(t, r)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
	w.ReadNow(t, r)
	require.Len(t, w.Telegram.Files, 1)
	assert.Regexp(t, `(?s)^answer 0\n\n.*answer 40\n$`, chattest.Content(t, w.Telegram.Files[0]))
	assert.Regexp(t, `(?s)^api\n41 .*answer 0\n.*answer 40$`, w.Telegram.Files[0].Caption.Text)
	assert.Empty(t, w.Telegram.AnswersSent())
}

func TestOpeningASessionThatSaidNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl")
	w.NewCurrentSession(t, "front", session.Running)
	r := w.Session(t, "api", session.Running, c)
	w.Running(t)
	require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, r)))
	chattest.Grow(t, c, chattest.Says("one"))
	assert.Equal(t, []string{"one"}, w.Seen(t, 1))
}

func TestP9_LastAnswerIsHiddenFromStrangers(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Beside(t, session.Completed, chattest.Says("secret"))
	w.ReadNow(t, r)
	m := w.Quietly(t)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonOpen))
	w.Telegram.Forget()
	delete(w.People, chattest.Alice) // before it is shown
	w.ReadNow(t, r)
	assert.Empty(t, w.Telegram.Done())

	w.People[chattest.Alice] = true
	w.Answers.Recall(chattest.ViewOf(w.Record(t, r.ID)), chattest.AtAlice) // the button is spent
	w.ReadNow(t, r)
	assert.Equal(t, []string{"api\nsecret"}, w.Telegram.AnswersSent(), "who may see it gets it")
}

func last(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return words[len(words)-1]
}

// A text that cannot be rendered does not end the bot when a person opens the session.
func TestP5_OpeningShowsUnrenderableTextUnchanged(t *testing.T) {
	for times, want := range [][]string{{"api\none"}, {"api\n**one**"}, nil} {
		w := chattest.NewWorld(t)
		r := w.Beside(t, session.Completed, chattest.Says("**one**"), chattest.TurnEnd)
		w.ReadNow(t, r)
		require.Len(t, w.Telegram.Texts(), 1, "the notice")
		w.Answers.Rich, w.Answers.Sender = true, &chattest.RenderCrash{FakeSender: w.Telegram, Times: times}
		require.NoError(t, w.TapButton(t, chattest.Alice, chattest.Data(w.Telegram.Last(t))[0]))
		w.ReadNow(t, r)
		assert.Equal(t, want, w.Telegram.AnswersSent())
		reported := w.Telegram.Texts()[1:]
		assert.Equal(t, want == nil, slices.Contains(reported, w.Marker(r)), "%v", reported)
	}
}

// TestSwitchIsReportedInChat opens another session by the button of its notice, which then states
// where texts go.
func TestSwitchIsReportedInChat(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Beside(t, session.Running, chattest.Says("Done"), chattest.TurnEnd)
	w.ReadAll(t)
	notice := w.Telegram.LastID()
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonOpen))
	assert.Equal(t, r.ID, w.CurrentID(chattest.AtAlice, 0))
	assert.Contains(t, w.Shows(t, notice).Text.Text, w.Named(i18n.NowCurrent, r.Name))
	assert.Empty(t, w.Shows(t, notice).Buttons)
}
