package bot

import (
	"bytes"
	"context"
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
	"ccbot/internal/transcript"
)

const thinks = `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm\nso"}]}}` + "\n"

// What the chat shows of the current session only waits like an answer: it must not
// be in the way of what is held before it.
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
			w.Bot.Thinking = true
			r := w.beside(t, tt.state, tt.lines...)
			require.NoError(t, w.answers.readFile(t.Context(), r, nil, false))
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
		require.NoError(t, s.answers.readFile(t.Context(), s.r, nil, false))
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, lines("$ false", s.word(i18n.OutputNone)), s.sender.ended[0].Text.Text)
		assert.Equal(t, []string{s.notice("api", "one")}, s.sender.texts())
	})
}

func TestP5_WhatIsReadAgainAtTheSamePlaceIsNoHotLoop(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moves bool
		most  int // passes in an hour
	}{{"the cursor stands", false, 130}, {"the cursor moves", true, 1000}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.beside(t, session.Running, says("one"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var s streak
				passes := 0
				for ; ctx.Err() == nil && passes < 1000; passes++ {
					w.answers.stumble(ctx, r, nil, &s, errAgain)
					if tt.moves {
						r.Cursors = []transcript.Cursor{{Path: r.Cursors[0].Path, Offset: r.Cursors[0].Offset + 1}}
					}
				}
				assert.LessOrEqual(t, passes, tt.most)
				if tt.moves {
					assert.Equal(t, tt.most, passes, "nothing waits")
				}
			})
		})
	}
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
				w.Log = slog.New(slog.NewTextHandler(&told, nil))
				r := w.beside(t, session.Completed, says("one"), turnEnd)
				tt.cut(t, w, r)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				w.answers.follow(r)
				require.NoError(t, w.answers.read(ctx, r.ID))
				assert.Equal(t, 1, strings.Count(told.String(), "transcript_unreadable"), told.String())
				assert.LessOrEqual(t, len(w.sender.done()), tt.most)
				assert.Equal(t, r.Cursors, w.cursors(r))
			})
		})
	}
}

func TestANewPlaceIsTriedAtOnceAndToldAnew(t *testing.T) {
	at := func(offset int64) transcript.Cursor { return transcript.Cursor{Path: "t", Offset: offset} }
	var s streak
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		assert.Equal(t, want*time.Second, s.after(at(1), errDisk))
	}
	assert.Equal(t, time.Second, s.after(at(2), errDisk))
	assert.Zero(t, s.after(at(3), errAgain))
	assert.Equal(t, time.Second, s.after(at(3), errAgain))
}
