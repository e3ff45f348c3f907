package bot_test

import (
	"bytes"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/refusal"
)

// Output that only the current session shows waits like an answer, after the held output before it.
func TestP5_OtherSessionsOutputAlsoWaits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		lines []string
		want  []string // first lines of notices
	}{
		{"thoughts between answers", session.Running, []string{chattest.Says("one"), chattest.ToolUse, chattest.Thinks, chattest.Says("two"), chattest.TurnEnd}, []string{"two"}},
		{"thoughts of a session that is over", session.Completed, []string{chattest.Says("one"), chattest.ToolUse, chattest.Thinks, chattest.Says("two"), chattest.TurnEnd}, []string{"two"}},
		{"thoughts at the end", session.Running, []string{chattest.Says("one"), chattest.Thinks, chattest.TurnEnd}, []string{"one"}},
		{"a command without output", session.Running, []string{chattest.Says("one"), chattest.Prints("false", ""), chattest.TurnEnd}, []string{"one"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Answers.Thinking = true
			r := w.Beside(t, tt.state, tt.lines...)
			if tt.state.Live() {
				w.ReadAll(t)
			} else {
				w.ReadNow(t, r)
			}
			var want []string
			for _, line := range tt.want {
				want = append(want, w.Notice("api", line))
			}
			assert.Equal(t, want, w.Telegram.Texts())
			assert.Empty(t, w.Telegram.AnswersSent())
			assert.Equal(t, int64(len(strings.Join(tt.lines, ""))), w.Cursors(r)[0].Offset)
		})
	}
}

func TestP5_SilentCommandOfOtherSessionEnds(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!false")
		s.Shows(s.Rows())
		s.NewCurrentSession(t, "other", session.Running)
		chattest.Grow(t, s.R.Cursors[0], chattest.Says("one"), chattest.Prints("false", ""), chattest.TurnEnd)
		s.Ends()
		require.Len(t, s.Telegram.Ended, 1)
		assert.Equal(t, chattest.Lines("$ false", s.Word(i18n.OutputNone)), s.Telegram.Ended[0].Text.Text)
		assert.Equal(t, []string{s.Notice("api", "one")}, s.Telegram.Texts())
	})
}

// A full disk or an unreadable file is retried rarely and reported once.
func TestFailingReaderBacksOff(t *testing.T) {
	for _, tt := range []struct {
		name string
		cut  func(t *testing.T, w *chattest.World, r session.Record)
		most int // tries
		log  string
		read bool // the transcript can be read
	}{
		{"no notice can be posted", func(_ *testing.T, w *chattest.World, _ session.Record) {
			w.Telegram.OnPost = func(outbox.Message) error {
				w.Telegram.Add("try")
				return chattest.ErrDisk
			}
		}, 40, "answer_not_shown", true},
		{"the transcript cannot be opened", func(t *testing.T, _ *chattest.World, r session.Record) {
			require.NoError(t, os.Remove(r.Cursors[0].Path))
			require.NoError(t, os.Symlink(r.Cursors[0].Path, r.Cursors[0].Path))
		}, 1, "transcript_unreadable", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				var reported bytes.Buffer
				w.Chat.Log = slog.New(slog.NewTextHandler(&reported, nil))
				r := w.Beside(t, session.Completed, chattest.Says("one"), chattest.TurnEnd)
				tt.cut(t, w, r)
				stop := w.Running(t)
				time.Sleep(10 * time.Minute)
				var unreadable []string
				if !tt.read {
					unreadable = []string{r.Cursors[0].Path}
				}
				assert.Equal(t, unreadable, w.Bot.Answers.Unreadable())
				require.NoError(t, stop())
				assert.Equal(t, 1, strings.Count(reported.String(), "level=ERROR"), reported.String())
				assert.Equal(t, 1, strings.Count(reported.String(), "msg="+tt.log), reported.String())
				assert.LessOrEqual(t, len(w.Telegram.Done()), tt.most)
				assert.Equal(t, r.Cursors, w.Cursors(r))
			})
		})
	}
}

// TestUnreadableUntilRead: a transcript stays unreadable while it is tried again, and until a try
// succeeds.
func TestUnreadableUntilRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.Beside(t, session.Completed, chattest.Says("one"), chattest.TurnEnd)
		path := r.Cursors[0].Path
		require.NoError(t, os.Rename(path, path+".away"))
		require.NoError(t, os.Symlink(path, path))
		var seen [][]string
		var mu sync.Mutex
		w.Talk.Reads = func() error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, w.Bot.Answers.Unreadable())
			return nil
		}
		stop := w.Running(t)
		time.Sleep(10 * time.Minute)
		mu.Lock()
		all := slices.Clone(seen)
		mu.Unlock()
		require.Greater(t, len(all), 5)
		for _, one := range all[3:] {
			assert.Equal(t, []string{path}, one)
		}
		require.NoError(t, os.Rename(path+".away", path))
		time.Sleep(2 * time.Minute)
		assert.Empty(t, w.Bot.Answers.Unreadable())
		require.NoError(t, stop())
	})
}

// TestSilentMachineIsNotUnreadable: a transcript whose machine does not answer is not reported as
// unreadable.
func TestSilentMachineIsNotUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		var logged bytes.Buffer
		w.Chat.Log = slog.New(slog.NewTextHandler(&logged, nil))
		w.Beside(t, session.Completed, chattest.Says("one"), chattest.TurnEnd)
		tries := 0
		w.Talk.Reads = func() error { tries++; return refusal.ErrUnreachable }
		stop := w.Running(t)
		time.Sleep(10 * time.Minute)
		assert.Empty(t, w.Bot.Answers.Unreadable())
		require.NoError(t, stop())
		assert.Greater(t, tries, 5)
		assert.NotContains(t, logged.String(), "level=ERROR")
	})
}
