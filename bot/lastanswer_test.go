package bot

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// seen waits until the chat has so many answers, and gives them.
func (w *world) seen(t *testing.T, count int) []string {
	t.Helper()
	require.Eventually(t, func() bool { return len(w.sender.answersSent()) >= count }, patience, time.Millisecond, "%v", w.sender.done())
	return w.sender.answersSent()
}

func TestP5_ANoticedAnswerIsShownInFullWhenItIsOpened(t *testing.T) {
	answer := long(1200)
	for _, state := range []session.State{session.Running, session.Completed} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			r := w.beside(t, state, promptLine("first"), says("old"), turnEnd, promptLine("second"), says("Let me look."), toolUse, says(answer), turnEnd)
			front := w.CurrentID(atAlice)
			w.running(t)
			require.Eventually(t, func() bool { return len(w.sender.texts()) == 2 }, patience, time.Millisecond)
			end, err := transcript.End(w.cursors(r)[0].Path)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return w.cursors(r)[0] == end }, patience, time.Millisecond)
			cursors := w.cursors(r)

			require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonOpen))
			all := func() []string { return strings.Fields(strings.Join(w.sender.answersSent(), " ")) }
			require.Eventually(t, func() bool { return strings.HasSuffix(answer, last(all())) }, patience, time.Millisecond)
			got := all()
			assert.Equal(t, append([]string{"api", "old", "Let", "me", "look."}, strings.Fields(answer)...), got, "under its name, all that had only a notice")
			assert.Equal(t, cursors, w.cursors(r), "no cursor moves")
			assert.Equal(t, 1, w.sender.spent, "the button is used up")
			if state.Live() {
				assert.Equal(t, r.ID, w.CurrentID(atAlice))
			} else {
				assert.Equal(t, front, w.CurrentID(atAlice), "what is over does not become current")
			}
			for _, m := range w.sender.sent {
				assert.Equal(t, r.ID, m.Session)
			}
		})
	}
}

func TestP5_OpeningShowsOnlyWhatTheChatLacks(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T, w *world, r session.Record) error
	}{
		{"in the list", func(t *testing.T, w *world, r session.Record) error { return w.tapSpot(t, alice, w.listed(t, r)) }},
		{"by its name", func(t *testing.T, w *world, r session.Record) error { _, err := w.hear(t, "/resume api"); return err }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := transcriptOf(t, "t.jsonl", promptLine("first"), says("one"), turnEnd)
			front := w.currentSession(t, "front", session.Running)
			r := w.session(t, "api", session.Running, c)
			w.running(t)
			require.Eventually(t, func() bool { return len(w.sender.texts()) == 1 }, patience, time.Millisecond)
			require.NoError(t, tt.open(t, w, r))
			assert.Equal(t, []string{"api\none"}, w.seen(t, 1))

			grow(t, c, promptLine("second"), says("two"))
			assert.Equal(t, []string{"api\none", "two"}, w.seen(t, 2), "it is current now")
			require.NoError(t, w.tapSpot(t, alice, w.listed(t, r)))
			require.NoError(t, w.tapSpot(t, alice, w.listed(t, front)))
			grow(t, c, says("three"))
			require.NoError(t, tt.open(t, w, r))
			grow(t, c, says("four"))
			assert.Equal(t, []string{"api\none", "two", "three", "four"}, w.seen(t, 4), "what was shown in full is not shown again before what is newer")
		})
	}
}

// Of several answers that had only their notice the first [Open] shows all, and no other one
// anything again, also after a restart.
func TestP5_OpeningShowsAllThatWasOnlyNoticed(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", promptLine("first"), says("one"), turnEnd, promptLine("second"), says("two"), turnEnd)
	front := w.currentSession(t, "front", session.Running)
	r := w.session(t, "api", session.Running, c)
	w.running(t)
	require.Eventually(t, func() bool { return len(w.sender.texts()) == 2 }, patience, time.Millisecond)
	require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonOpen))
	assert.Equal(t, []string{"api\none\n\ntwo"}, w.seen(t, 1))

	require.Eventually(t, func() bool {
		next, err := OpenChats(filepath.Join(w.dir, "chats")) // as a restart would
		require.NoError(t, err)
		had, known := next.ReadMarkOf(atAlice, r.ID)
		return known && had.Since == nil
	}, patience, time.Millisecond)
	require.NoError(t, w.tapSpot(t, alice, w.listed(t, front)))
	require.NoError(t, w.tapSpot(t, alice, w.listed(t, r)))
	grow(t, c, promptLine("third"), says("three"))
	assert.Equal(t, []string{"api\none\n\ntwo", "three"}, w.seen(t, 2), "nothing again")
}

func TestOpeningASessionThatSaidNothing(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl")
	w.currentSession(t, "front", session.Running)
	r := w.session(t, "api", session.Running, c)
	w.running(t)
	require.NoError(t, w.tapSpot(t, alice, w.listed(t, r)))
	grow(t, c, says("one"))
	assert.Equal(t, []string{"one"}, w.seen(t, 1))
}

func TestP9_TheLastAnswerIsNotShownToStrangers(t *testing.T) {
	w := newWorld(t)
	r := w.beside(t, session.Completed, says("secret"))
	w.readNow(t, r)
	m := w.quietly(t)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonOpen))
	w.sender.forget()
	delete(w.Allowed, alice) // before it is shown
	w.readNow(t, r)
	assert.Empty(t, w.sender.done())

	w.Allowed[alice] = true
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonOpen))
	w.readNow(t, r)
	assert.Equal(t, []string{"api\nsecret"}, w.sender.answersSent(), "who may see it gets it")
}

func last(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return words[len(words)-1]
}

// What cannot be rendered does not end the bot when a person opens the session.
func TestP5_OpeningShowsWhatCannotBeRenderedAsItIs(t *testing.T) {
	for times, want := range [][]string{{"api\none"}, {"api\n**one**"}, nil} {
		w := newWorld(t)
		r := w.beside(t, session.Completed, says("**one**"), turnEnd)
		w.readNow(t, r)
		require.Len(t, w.sender.texts(), 1, "the notice")
		w.Answers.Rich, w.Answers.Limits = true, &renderCrash{fakeSender: w.sender, times: times}
		require.NoError(t, w.tap(t, alice, data(w.sender.last(t))[0]))
		w.readNow(t, r)
		assert.Equal(t, want, w.sender.answersSent())
		told := w.sender.texts()[1:]
		assert.Equal(t, want == nil, slices.Contains(told, w.marker(r)), "%v", told)
	}
}
