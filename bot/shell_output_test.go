package bot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/answer"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

func TestP5_CommandOutputIsOneMessage(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Types("!make test") // news that comes twice
		s.Shows(s.Rows("one"))
		require.Len(t, s.Telegram.Sent, 1)
		card := s.Telegram.Sent[0]
		assert.Equal(t, chattest.Lines("$ make test", "one", s.Word(i18n.OutputRuns)), card.Text.Text)
		assert.Equal(t, []any{77, false, outbox.Later, s.R.ID}, []any{card.ReplyTo, card.Sounds, card.Rank, card.Session})
		s.Shows(s.Rows("one"))
		s.Shows(s.Rows("one"))
		assert.Empty(t, s.Telegram.Edited, "nothing has changed")
		s.Shows(s.Rows("one", "two"))
		require.Len(t, s.Telegram.Edited, 1)
		assert.Equal(t, outbox.Card, s.Telegram.Edited[0].Rank, "what grows shares the pace of cards")
		assert.Equal(t, []any{1, chattest.Lines("$ make test", "one", "two", s.Word(i18n.OutputRuns))},
			[]any{s.Telegram.Edited[0].ReplyTo, s.Telegram.Edited[0].Text.Text})

		s.Happened()
		s.Telegram.OnEditNow = func(outbox.Message) error {
			assert.Equal(t, s.R.Cursors, s.Cursors(s.R), "the cursor waits for the yes")
			return nil
		}
		s.Ends(chattest.Prints("make test", "one\ntwo\nthree"))
		require.Len(t, s.Telegram.Ended, 1)
		assert.Equal(t, []any{1, chattest.Lines("$ make test", "one", "two", "three")}, []any{s.Telegram.Ended[0].ReplyTo, s.Telegram.Ended[0].Text.Text})
		assert.Len(t, s.Telegram.Sent, 1, "one message in the end")
		assert.Equal(t, outbox.Talk, s.Telegram.Ended[0].Rank, "the end waits for no card")
		all := s.Happened()
		assert.True(t, strings.HasPrefix(all[0], "edit now") && strings.HasPrefix(all[1], "advance"), "%q", all)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, m := range s.Telegram.Edited[1:] {
			assert.Equal(t, s.Telegram.Ended[0].Text, m.Text, "it is left alone from then on")
		}
	})
}

// A message that an earlier run has left is found again and ends as it should.
func TestP5_GrowingMessageSurvivesRestart(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Stop()
		s.Reopened(t)
		s.Follow()
		s.Shows(s.Rows("one", "two"))
		assert.Equal(t, []any{1, chattest.Lines("$ make test", "one", "two", s.Word(i18n.OutputRuns))},
			[]any{s.Telegram.LastEdit(t).ReplyTo, s.Telegram.LastEdit(t).Text.Text})
		s.Stop()
		s.Reopened(t)
		s.Follow()
		s.Ends(chattest.Prints("make test", "all of it"))
		require.Len(t, s.Telegram.Ended, 1)

		s.Stop() // a crash before the cursor was on disk
		s.Reopened(t)
		s.Records.Change(s.R.ID, func(r *session.Record) { r.Cursors = s.R.Cursors })
		s.Follow()
		s.NewTranscript(t, s.R)
		<-s.ReaderOf(s.R)
		require.Len(t, s.Telegram.Ended, 2)
		assert.Equal(t, s.Telegram.Ended[0], s.Telegram.Ended[1], "the same edit, which changes nothing")
		assert.Len(t, s.Telegram.Sent, 1)
	})
}

func TestP5_DeletedGrowingMessageIsSentAgain(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Telegram.OnEditNow = func(outbox.Message) error { return &outbox.Refused{Err: outbox.ErrGone} }
		s.Ends(chattest.Prints("make test", "all of it"))
		assert.Equal(t, "all of it", s.Telegram.AnswersSent()[1])
	})
}

func TestP5_FailedEditIsRetried(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		failed := false
		s.Telegram.OnEditNow = func(outbox.Message) error {
			if failed {
				return nil
			}
			failed = true
			assert.Equal(t, s.R.Cursors, s.Cursors(s.R))
			return outbox.ErrUnsure
		}
		s.Ends(chattest.Prints("make test", "all of it"))
		assert.Len(t, s.Telegram.Ended, 1)
		assert.Len(t, s.Telegram.Sent, 1)
	})
}

func TestQuickCommandHasNoSeparateMessage(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!ls")
		s.Shows(port.Output{})
		assert.Empty(t, s.Telegram.Sent)
		s.Ends(chattest.Prints("ls", "a  b"))
		assert.Equal(t, []string{"a  b"}, s.Telegram.AnswersSent())
		s.Forgotten()
	})
}

// Claude Code forgets a stopped command. The later output of another one is not taken for its own.
func TestStoppedCommandIsReportedAndForgotten(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		for range chattest.IdleLooks {
			s.Shows(port.Output{Idle: true})
		}
		assert.Equal(t, chattest.Lines("$ make test", "one", s.Word(i18n.OutputStopped)), s.Telegram.LastEdit(t).Text.Text)
		s.Ends(chattest.Prints("make other", "of another"))
		assert.Empty(t, s.Telegram.Ended)
		assert.Equal(t, "of another", s.Telegram.AnswersSent()[1])
	})
}

// The session may have ended with its command.
func TestCommandEndsWithSession(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Records.Change(s.R.ID, func(r *session.Record) { r.State = session.Archived })
		s.Shows(port.Output{})
		assert.Contains(t, s.Telegram.LastEdit(t).Text.Text, s.Word(i18n.OutputStopped))
		s.Ends(chattest.Prints("make test", "it had ended before"))
		assert.Equal(t, chattest.Lines("$ make test", "it had ended before"), s.Telegram.Ended[0].Text.Text, "what the transcript says counts")
	})
}

// Of a session that is not the current one the notice is the answer; the message that has grown
// ends all the same.
func TestOtherSessionsCommandEndsInMessage(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.NewCurrentSession(t, "other", session.Running)
		s.Ends(chattest.Prints("make test", "all of it"), chattest.TurnEnd)
		require.Len(t, s.Telegram.Ended, 1)
		assert.Equal(t, chattest.Lines("$ make test", "all of it"), s.Telegram.Ended[0].Text.Text)
		assert.Len(t, s.Telegram.AnswersSent(), 1)
		assert.Equal(t, []string{s.Notice("api", "all of it")}, s.Telegram.Texts())
	})
}

func TestTwoCommandsHaveTheirOwnMessages(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		chattest.Grow(t, s.R.Cursors[0], chattest.Prints("make test", "first"))
		s.Types("!make test")
		s.Shows(s.Rows("two"))
		s.Ends(chattest.Prints("make test", "second"))
		require.Len(t, s.Telegram.Ended, 2)
		assert.Equal(t, []any{1, chattest.Lines("$ make test", "first"), 2, chattest.Lines("$ make test", "second")},
			[]any{s.Telegram.Ended[0].ReplyTo, s.Telegram.Ended[0].Text.Text, s.Telegram.Ended[1].ReplyTo, s.Telegram.Ended[1].Text.Text})
	})
}

func TestCommandWithoutOutputEndsMessage(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!false")
		s.Shows(s.Rows())
		s.Ends(chattest.Prints("false", ""))
		assert.Equal(t, chattest.Lines("$ false", s.Word(i18n.OutputNone)), s.Telegram.Ended[0].Text.Text)
	})
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Ends(chattest.Prints("false", ""))
		assert.Equal(t, []string{s.Word(i18n.OutputNone)}, s.Telegram.AnswersSent(), "it had no message")
	})
}

func TestLongOutputIsExcerptAndFile(t *testing.T) {
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
		{"a file elsewhere", saved(filepath.Join(dir, "secret")), "line 0\nline 1", "106.3KB, too big for Telegram.", ""},
		{"a link", saved(filepath.Join(results, "link.txt")), "line 0\nline 1", "106.3KB, too big for Telegram.", ""},
		{"a path that climbs", saved(results + "/../../secret"), "line 0\nline 1", "106.3KB, too big for Telegram.", ""},
		{"one endless line", strings.Repeat("x", 100_000), "… 1 more line", "", strings.Repeat("x", 100_000) + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.StateDir = t.TempDir() // a file is read only if ccbot's own ones are known
			require.NoError(t, os.WriteFile(path, []byte(chattest.Prints("make test", tt.text)), 0o600))
			w.ReadNow(t, w.NewCurrentSession(t, "api", session.Completed, talk.Cursor{Path: path}))
			require.Len(t, w.Telegram.Sent, 1)
			shown := w.Telegram.Sent[0].Text
			assert.True(t, strings.HasPrefix(shown.Text, tt.head), "%.200q", shown.Text)
			assert.True(t, strings.HasSuffix(shown.Text, tt.tail), "%.200q", shown.Text)
			assert.LessOrEqual(t, shown.Length(), chattest.Limit-answer.HeadingRoom-chattest.ShownCommand)
			if tt.file == "" {
				assert.Empty(t, w.Telegram.Files)
				return
			}
			require.Len(t, w.Telegram.Files, 1)
			assert.Equal(t, tt.file, chattest.Content(t, w.Telegram.Files[0]))
		})
	}
}
