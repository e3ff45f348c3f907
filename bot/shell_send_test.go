package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
)

func TestP4_StopIgnoresPendingCommandMessage(t *testing.T) {
	for _, after := range []error{context.Canceled, fmt.Errorf("%w: %w", outbox.ErrUnsure, context.Canceled)} {
		chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
			s.DamsCards(after)
			s.Types("!make test")
			s.Shows(s.Rows("one"))
			s.Mu.Lock()
			s.Screen = port.Output{Idle: true}
			s.Mu.Unlock()
			begun := time.Now()
			s.MustHear(t, "/stop")
			assert.Zero(t, time.Since(begun), "of the bubble's clock")
			time.Sleep(time.Minute)
			s.Sends()
			assert.Empty(t, s.Telegram.Sent)
			s.Telegram.OnSend = nil
			s.Sends()
			assert.Equal(t, []string{chattest.Lines("$ make test", "one", s.Word(i18n.OutputStopped))}, s.Telegram.AnswersSent(),
				"what comes late says how it ended")
			s.Forgotten()
		})
	}
}

// A card that is sent late shows how the command ended.
func TestLateCardShowsStop(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.SlowCards(chattest.LookPace)
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Mu.Lock()
		s.Screen = port.Output{Idle: true}
		s.Mu.Unlock()
		s.MustHear(t, "/stop")
		assert.Empty(t, s.Telegram.AnswersSent())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, s.Telegram.Sent, 1)
		assert.Equal(t, chattest.Lines("$ make test", "one", s.Word(i18n.OutputStopped)), s.Telegram.LastEdit(t).Text.Text)
	})
}

func TestP5_OutputDoesNotWaitForCard(t *testing.T) {
	for _, after := range []error{context.Canceled, fmt.Errorf("%w: %w", outbox.ErrUnsure, context.Canceled)} {
		chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
			s.DamsCards(after)
			s.Types("!make test")
			s.Shows(s.Rows("one"))
			begun := time.Now()
			s.Ends(chattest.Prints("make test", "all of it"))
			assert.LessOrEqual(t, time.Since(begun), chattest.CardGrace, "of the bubble's clock")
			assert.Equal(t, []string{"all of it"}, s.Telegram.AnswersSent())
			assert.Empty(t, s.Telegram.Ended)
			time.Sleep(time.Minute)
			s.Telegram.OnSend = nil
			s.Sends()
			assert.Len(t, s.Telegram.Sent, 1, "the card is given up")
			s.Forgotten()
		})
	}
}

// A pending card gets the output: without it the card would show a running command for ever.
func TestP5_OutputUsesPendingCard(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.SlowCards(chattest.LookPace / 2)
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Ends(chattest.Prints("make test", "all of it"))
		assert.Len(t, s.Telegram.Sent, 1)
		require.Len(t, s.Telegram.Ended, 1)
		assert.Equal(t, chattest.Lines("$ make test", "all of it"), s.Telegram.Ended[0].Text.Text)
	})
}

// The end of a message waits for the chat, a stop does not.
func TestP4_StopDoesNotWaitForOutput(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Telegram.OnEditNow = func(outbox.Message) error { time.Sleep(time.Hour); return nil }
		go s.Ends(chattest.Prints("make test", "all of it"))
		synctest.Wait()
		s.Mu.Lock()
		s.Screen = port.Output{Idle: true}
		s.Mu.Unlock()
		begun := time.Now()
		s.MustHear(t, "/stop")
		assert.Zero(t, time.Since(begun), "of the bubble's clock")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Len(t, s.Telegram.Ended, 1)
		for _, m := range s.Telegram.Edited {
			assert.Equal(t, s.Telegram.Ended[0].Text, m.Text, "nothing is written over the output")
		}
	})
}

// A dialog that stays open for hours is not polled every two seconds.
func TestUnseenCommandIsPolledSlowly(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  port.Output
	}{
		{"neither running nor idle", port.Output{}},
		{"it runs and prints nothing", port.Output{Runs: true, Lines: []string{"one"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
				s.Types("!make test")
				s.Shows(s.Rows("one"))
				s.Shows(tt.now)
				time.Sleep(2 * chattest.QuietLooks * chattest.LookPace)
				synctest.Wait()
				before := s.Looked()
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.InDelta(t, 120, s.Looked()-before, 1)
				s.Records.Change(s.R.ID, func(r *session.Record) { r.State = session.Archived })
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Contains(t, s.Telegram.LastEdit(t).Text.Text, s.Word(i18n.OutputStopped))
				s.Forgotten()
			})
		})
	}
}

// printsAt is prints with the time at which a command has ended.
func printsAt(at time.Time, command, out string) (all string) {
	for _, text := range []string{"<bash-input>" + command + "</bash-input>", "<bash-stdout>" + out + "</bash-stdout><bash-stderr></bash-stderr>"} {
		content, _ := json.Marshal(text)
		all += fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":%s}}`, at.Format(time.RFC3339Nano), content) + "\n"
	}
	return all
}

// The message of a command that was stopped is far above when the same command prints something the
// next day.
func TestP5_StoppedCommandTakesNoLaterOutput(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // between the stop and the output
		ended bool
	}{
		{"its own, which is read late", -time.Second, true},
		{"of a later one", time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
				s.Types("!make test")
				s.Shows(s.Rows("one"))
				for range chattest.IdleLooks {
					s.Shows(port.Output{Idle: true})
				}
				s.Stop()
				s.Reopened(t)
				s.Follow()
				s.Ends(printsAt(s.Now().Add(tt.after), "make test", "all of it"))
				if tt.ended {
					assert.Len(t, s.Telegram.Ended, 1)
					return
				}
				assert.Empty(t, s.Telegram.Ended)
				assert.Equal(t, "all of it", s.Telegram.AnswersSent()[1])
			})
		})
	}
}

// The same command again, before the first one is seen to be stopped: the agent was idle when it
// was typed.
func TestP5_RepeatedCommandEndsFirst(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Types("!make test")
		assert.Equal(t, chattest.Lines("$ make test", "one", s.Word(i18n.OutputStopped)), s.Telegram.LastEdit(t).Text.Text)
		s.Shows(port.Output{Idle: true}) // it was quick
		s.Ends(printsAt(chattest.Started.Add(time.Second), "make test", "of the second"))
		assert.Empty(t, s.Telegram.Ended)
		assert.Equal(t, "of the second", s.Telegram.AnswersSent()[1])
	})
}

// People may delete a message that grows. It does not come again.
func TestP5_DeletedGrowingMessageBecomesAnswer(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Telegram.OnEdit = func(outbox.Message) error { return &outbox.Refused{Err: outbox.ErrGone} }
		s.Shows(s.Rows("one", "two"))
		s.Shows(s.Rows("one", "two", "three"))
		assert.Len(t, s.Telegram.Sent, 1)
		s.Ends(chattest.Prints("make test", "all of it"))
		assert.Equal(t, "all of it", s.Telegram.AnswersSent()[1])
		assert.Len(t, s.Telegram.Sent, 2)
	})
}

func TestRefusedCardIsNotRetried(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		tries := 0
		s.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
			if m.Name == "" {
				return nil
			}
			tries++
			return &outbox.Refused{Err: errors.New("no")}
		}
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		s.Shows(s.Rows("one", "two"))
		assert.Equal(t, 1, tries)
		s.Ends(chattest.Prints("make test", "all of it"))
		assert.Equal(t, []string{"all of it"}, s.Telegram.AnswersSent())
	})
}
