package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/answer"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// bashWorld is a world in which a session runs a command of bash mode.
type bashWorld struct {
	*world
	t    *testing.T
	r    session.Record
	stop func()

	mu  sync.Mutex
	now lifecycle.Output // what the terminal shows

	looks int // how often it was looked at
}

// inShell runs a test with a session whose transcript begins with these lines.
func inShell(t *testing.T, test func(t *testing.T, s *bashWorld), lines ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &bashWorld{world: newWorld(t), t: t}
		s.r = s.currentSession(t, "api", session.Running, transcriptOf(t, "t.jsonl", lines...))
		s.records.change(s.r.ID, func(r *session.Record) { r.Cursors = nil }) // until it ends: a follower needs real time
		s.sessions.output = func() lifecycle.Output {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.looks++
			return s.now
		}
		s.run()
		test(t, s)
		s.stop()
	})
}

// run follows commands until stop.
func (s *bashWorld) run() {
	stop := s.running(s.t)
	s.stop = func() { assert.NoError(s.t, stop()) }
}

// types lets the agent have a command of bash mode.
func (s *bashWorld) types(command string) {
	s.t.Helper()
	e := s.prompt(s.t, s.r, command, inbox.Typing)
	size := int64(0)
	if info, err := os.Stat(s.r.Cursors[0].Path); err == nil {
		size = info.Size()
	}
	require.NoError(s.t, s.SessionNews(s.t.Context(), lifecycle.Note{Kind: lifecycle.NoteDelivered, Session: s.r,
		Prompt: lifecycle.Prompt{Key: e.Key, Text: command, Class: lifecycle.ClassBash,
			Mark: &lifecycle.Mark{At: started, Path: s.r.Cursors[0].Path, Offset: size}}}))
}

func (s *bashWorld) shows(now lifecycle.Output) {
	s.mu.Lock()
	s.now = now
	s.mu.Unlock()
	time.Sleep(lookPace)
	s.sends()
}

// sends lets the messages go that wait for their turn in the chat.
func (s *bashWorld) sends() {
	synctest.Wait()
	go s.sender.deliver(s.t.Context())
	synctest.Wait()
}

// As package shell has them.
const (
	firstLook    = time.Second
	lookPace     = 2 * time.Second
	quietLooks   = 15
	idleLooks    = 4
	cardGrace    = 2 * time.Second
	shownCommand = 120
)

// prints is what a transcript has of a command once it has ended.
func prints(command, out string) string {
	return promptLine("<bash-input>"+command+"</bash-input>") + promptLine("<bash-stdout>"+out+"</bash-stdout><bash-stderr></bash-stderr>")
}

func (s *bashWorld) ends(lines ...string) {
	s.t.Helper()
	grow(s.t, s.r.Cursors[0], lines...)
	s.records.change(s.r.ID, func(r *session.Record) {
		if r.State = session.Completed; len(r.Cursors) == 0 {
			r.Cursors = s.r.Cursors
		}
	})
	s.newTranscript(s.t, s.record(s.t, s.r.ID))
	<-s.readerOf(s.r)
}

// forgotten requires that no command is followed any more.
func (s *bashWorld) forgotten() {
	s.t.Helper()
	before := s.looked()
	time.Sleep(time.Hour)
	synctest.Wait()
	assert.Equal(s.t, before, s.looked(), "nobody looks at its terminal")
}

func (s *bashWorld) rows(rows ...string) lifecycle.Output {
	return lifecycle.Output{Runs: true, Lines: rows}
}

func TestP5_TheOutputOfACommandIsOneMessage(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.types("!make test") // news that comes twice
		s.shows(s.rows("one"))
		require.Len(t, s.sender.sent, 1)
		card := s.sender.sent[0]
		assert.Equal(t, lines("$ make test", "one", s.word(i18n.OutputRuns)), card.Text.Text)
		assert.Equal(t, []any{77, true, outbox.Card, s.r.ID}, []any{card.ReplyTo, card.Silent, card.Rank, card.Session})
		s.shows(s.rows("one"))
		s.shows(s.rows("one"))
		assert.Empty(t, s.sender.edited, "nothing has changed")
		s.shows(s.rows("one", "two"))
		require.Len(t, s.sender.edited, 1)
		assert.Equal(t, []any{1, lines("$ make test", "one", "two", s.word(i18n.OutputRuns))},
			[]any{s.sender.edited[0].ReplyTo, s.sender.edited[0].Text.Text})

		s.happened()
		s.sender.editNow = func(outbox.Message) error {
			assert.Equal(t, s.r.Cursors, s.cursors(s.r), "the cursor waits for the yes")
			return nil
		}
		s.ends(prints("make test", "one\ntwo\nthree"))
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, []any{1, lines("$ make test", "one", "two", "three")}, []any{s.sender.ended[0].ReplyTo, s.sender.ended[0].Text.Text})
		assert.Len(t, s.sender.sent, 1, "one message in the end")
		all := s.happened()
		assert.True(t, strings.HasPrefix(all[0], "edit now") && strings.HasPrefix(all[1], "advance"), "%q", all)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, m := range s.sender.edited[1:] {
			assert.Equal(t, s.sender.ended[0].Text, m.Text, "it is left alone from then on")
		}
	})
}

// A message that an earlier run has left is found again and ends as it should.
func TestP5_AGrowingMessageOutlivesARestart(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.stop()
		s.reopened(t)
		s.run()
		s.shows(s.rows("one", "two"))
		assert.Equal(t, []any{1, lines("$ make test", "one", "two", s.word(i18n.OutputRuns))},
			[]any{s.sender.lastEdit(t).ReplyTo, s.sender.lastEdit(t).Text.Text})
		s.stop()
		s.reopened(t)
		s.run()
		s.ends(prints("make test", "all of it"))
		require.Len(t, s.sender.ended, 1)

		s.stop() // a crash before the cursor was on disk
		s.reopened(t)
		s.records.change(s.r.ID, func(r *session.Record) { r.Cursors = s.r.Cursors })
		s.run()
		s.newTranscript(t, s.r)
		<-s.readerOf(s.r)
		require.Len(t, s.sender.ended, 2)
		assert.Equal(t, s.sender.ended[0], s.sender.ended[1], "the same edit, which changes nothing")
		assert.Len(t, s.sender.sent, 1)
	})
}

func TestP5_AGrowingMessageThatIsGoneIsSentAnew(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.sender.editNow = func(outbox.Message) error { return &outbox.Refused{Err: outbox.ErrGone} }
		s.ends(prints("make test", "all of it"))
		assert.Equal(t, "all of it", s.sender.answersSent()[1])
	})
}

func TestP5_AnEditThatFailsIsTriedAgain(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		failed := false
		s.sender.editNow = func(outbox.Message) error {
			if failed {
				return nil
			}
			failed = true
			assert.Equal(t, s.r.Cursors, s.cursors(s.r))
			return outbox.ErrUnsure
		}
		s.ends(prints("make test", "all of it"))
		assert.Len(t, s.sender.ended, 1)
		assert.Len(t, s.sender.sent, 1)
	})
}

func TestAQuickCommandHasNoMessageOfItsOwn(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!ls")
		s.shows(lifecycle.Output{})
		assert.Empty(t, s.sender.sent)
		s.ends(prints("ls", "a  b"))
		assert.Equal(t, []string{"a  b"}, s.sender.answersSent())
		s.forgotten()
	})
}

// Claude Code forgets a command that was stopped. What another one prints later is not taken for
// its output.
func TestAStoppedCommandIsToldAndForgotten(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		for range idleLooks {
			s.shows(lifecycle.Output{Idle: true})
		}
		assert.Equal(t, lines("$ make test", "one", s.word(i18n.OutputStopped)), s.sender.lastEdit(t).Text.Text)
		s.ends(prints("make other", "of another"))
		assert.Empty(t, s.sender.ended)
		assert.Equal(t, "of another", s.sender.answersSent()[1])
	})
}

// The session may have ended with its command.
func TestACommandEndsWithItsSession(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.records.change(s.r.ID, func(r *session.Record) { r.State = session.Archived })
		s.shows(lifecycle.Output{})
		assert.Contains(t, s.sender.lastEdit(t).Text.Text, s.word(i18n.OutputStopped))
		s.ends(prints("make test", "it had ended before"))
		assert.Equal(t, lines("$ make test", "it had ended before"), s.sender.ended[0].Text.Text, "what the transcript says counts")
	})
}

// Of a session that is not the current one the notice is the answer; the message that has grown
// ends all the same.
func TestACommandOfAnotherSessionEndsInItsMessage(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.currentSession(t, "other", session.Running)
		s.ends(prints("make test", "all of it"), turnEnd)
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, lines("$ make test", "all of it"), s.sender.ended[0].Text.Text)
		assert.Len(t, s.sender.sent, 1)
		assert.Equal(t, []string{s.notice("api", "all of it")}, s.sender.texts())
	})
}

func TestTwoCommandsHaveTheirOwnMessages(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		grow(t, s.r.Cursors[0], prints("make test", "first"))
		s.types("!make test")
		s.shows(s.rows("two"))
		s.ends(prints("make test", "second"))
		require.Len(t, s.sender.ended, 2)
		assert.Equal(t, []any{1, lines("$ make test", "first"), 2, lines("$ make test", "second")},
			[]any{s.sender.ended[0].ReplyTo, s.sender.ended[0].Text.Text, s.sender.ended[1].ReplyTo, s.sender.ended[1].Text.Text})
	})
}

func TestACommandWithoutOutputEndsItsMessage(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!false")
		s.shows(s.rows())
		s.ends(prints("false", ""))
		assert.Equal(t, lines("$ false", s.word(i18n.OutputNone)), s.sender.ended[0].Text.Text)
	})
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.ends(prints("false", ""))
		assert.Equal(t, []string{s.word(i18n.OutputNone)}, s.sender.answersSent(), "it had no message")
	})
}

func TestALongOutputIsItsEndsAndAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	results := filepath.Join(dir, "t", "tool-results")
	require.NoError(t, os.MkdirAll(results, 0o700))
	var whole []string
	for n := range 3000 {
		whole = append(whole, fmt.Sprint("line ", n))
	}
	text := strings.Join(whole, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(results, "x.txt"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(results, "link.txt")))
	saved := func(path string) string {
		return "<persisted-output>\nOutput too large (106.3KB). Full output saved to: " + path + "\n\nPreview (first 2KB):\nline 0\nline 1\n...\n</persisted-output>"
	}
	for _, tt := range []struct {
		name, text string
		head, tail string
		file       string
	}{
		{"short", "one\ntwo", "one", "two", ""},
		{"colours and a moving cursor", "\x1b[31mred\x1b[0m\n10%\r100%\r\ndone\n", "red\n100%", "done", ""},
		{"long", text, "line 0\nline 1", "line 2998\nline 2999", text + "\n"},
		{"kept in a file", saved(filepath.Join(results, "x.txt")), "line 0\nline 1", "line 2998\nline 2999", text + "\n"},
		{"a file elsewhere", saved(filepath.Join(dir, "secret")), "line 0\nline 1", "106.3KB, which Telegram does not take.", ""},
		{"a link", saved(filepath.Join(results, "link.txt")), "line 0\nline 1", "106.3KB, which Telegram does not take.", ""},
		{"a path that climbs", saved(results + "/../../secret"), "line 0\nline 1", "106.3KB, which Telegram does not take.", ""},
		{"one endless line", strings.Repeat("x", 100_000), "… 1 line more", "", strings.Repeat("x", 100_000) + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, os.WriteFile(path, []byte(prints("make test", tt.text)), 0o600))
			w.readNow(t, w.currentSession(t, "api", session.Completed, transcript.Cursor{Path: path}))
			require.Len(t, w.sender.sent, 1)
			shown := w.sender.sent[0].Text
			assert.True(t, strings.HasPrefix(shown.Text, tt.head), "%.200q", shown.Text)
			assert.True(t, strings.HasSuffix(shown.Text, tt.tail), "%.200q", shown.Text)
			assert.LessOrEqual(t, shown.Length(), limit-answer.HeadingRoom-shownCommand)
			if tt.file == "" {
				assert.Empty(t, w.sender.files)
				return
			}
			require.Len(t, w.sender.files, 1)
			assert.Equal(t, tt.file, content(t, w.sender.files[0]))
		})
	}
}
