package bot

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

const thinks = `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm\nso"}]}}` + "\n"

// What the chat shows of the current session only waits like an answer: it must not be in the way
// of what is held before it.
func TestP5_WhatAnotherSessionShowsBesidesItsWordsWaitsToo(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		lines []string
		want  []string // first lines of notices
	}{
		{"thoughts between answers", session.Running, []string{says("one"), toolUse, thinks, says("two"), turnEnd}, []string{"two"}},
		{"thoughts of a session that is over", session.Completed, []string{says("one"), toolUse, thinks, says("two"), turnEnd}, []string{"two"}},
		{"thoughts at the end", session.Running, []string{says("one"), thinks, turnEnd}, []string{"one"}},
		{"a command without output", session.Running, []string{says("one"), prints("false", ""), turnEnd}, []string{"one"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.Answers.Thinking = true
			r := w.beside(t, tt.state, tt.lines...)
			if tt.state.Live() {
				w.readAll(t)
			} else {
				w.readNow(t, r)
			}
			var want []string
			for _, line := range tt.want {
				want = append(want, w.notice("api", line))
			}
			assert.Equal(t, want, w.sender.texts())
			assert.Empty(t, w.sender.answersSent())
			assert.Equal(t, int64(len(strings.Join(tt.lines, ""))), w.cursors(r)[0].Offset)
		})
	}
}

func TestP5_ACommandOfAnotherSessionThatPrintsNothingEndsInItsMessage(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!false")
		s.shows(s.rows())
		s.currentSession(t, "other", session.Running)
		grow(t, s.r.Cursors[0], says("one"), prints("false", ""), turnEnd)
		s.ends()
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, lines("$ false", s.word(i18n.OutputNone)), s.sender.ended[0].Text.Text)
		assert.Equal(t, []string{s.notice("api", "one")}, s.sender.texts())
	})
}

// A full disk, a file that may not be read: seldom tried, and told once.
func TestAReaderThatCannotGoOnBacksOff(t *testing.T) {
	for _, tt := range []struct {
		name string
		cut  func(t *testing.T, w *world, r session.Record)
		most int // tries
	}{
		{"no notice can be posted", func(_ *testing.T, w *world, _ session.Record) {
			w.sender.post = func(outbox.Message) error {
				w.sender.add("try")
				return errDisk
			}
		}, 25},
		{"the transcript cannot be opened", func(t *testing.T, _ *world, r session.Record) {
			require.NoError(t, os.Remove(r.Cursors[0].Path))
			require.NoError(t, os.Symlink(r.Cursors[0].Path, r.Cursors[0].Path))
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var told bytes.Buffer
				w.Chat.Log = slog.New(slog.NewTextHandler(&told, nil))
				r := w.beside(t, session.Completed, says("one"), turnEnd)
				tt.cut(t, w, r)
				stop := w.running(t)
				time.Sleep(10 * time.Minute)
				require.NoError(t, stop())
				assert.Equal(t, 1, strings.Count(told.String(), "transcript_unreadable"), told.String())
				assert.LessOrEqual(t, len(w.sender.done()), tt.most)
				assert.Equal(t, r.Cursors, w.cursors(r))
			})
		})
	}
}
