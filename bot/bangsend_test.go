package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// damsCards lets no card into the chat, as behind a retry_after.
func (s *bashWorld) damsCards(why error) {
	s.sender.send = func(_ context.Context, m outbox.Message) error {
		if !strings.HasPrefix(m.Text.Text, "$ ") { // no card, whatever it shows by now
			return nil
		}
		return why
	}
}

// slowCards lets cards take a while.
func (s *bashWorld) slowCards(d time.Duration) {
	s.sender.send = func(ctx context.Context, m outbox.Message) error {
		if m.Rank == outbox.Card {
			time.Sleep(d)
		}
		return nil
	}
}

func TestP4_AStopDoesNotWaitForTheMessageOfACommand(t *testing.T) {
	for _, after := range []error{context.Canceled, fmt.Errorf("%w: %w", outbox.ErrUnsure, context.Canceled)} {
		inShell(t, func(t *testing.T, s *bashWorld) {
			s.damsCards(after)
			s.types("!make test")
			s.shows(s.rows("one"))
			s.mu.Lock()
			s.now = lifecycle.Output{Idle: true}
			s.mu.Unlock()
			begun := time.Now()
			s.mustHear(t, "/stop")
			assert.Zero(t, time.Since(begun), "of the bubble's clock")
			time.Sleep(time.Minute)
			s.sends()
			assert.Empty(t, s.sender.sent)
			s.sender.send = nil
			s.sends()
			assert.Equal(t, []string{lines("$ make test", "one", s.word(i18n.OutputStopped))}, s.sender.answersSent(),
				"what comes late says how it ended")
			s.forgotten()
		})
	}
}

// A card that comes through after all says how it ended.
func TestACardThatComesLateTellsOfTheStop(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.slowCards(lookPace)
		s.types("!make test")
		s.shows(s.rows("one"))
		s.mu.Lock()
		s.now = lifecycle.Output{Idle: true}
		s.mu.Unlock()
		s.mustHear(t, "/stop")
		assert.Empty(t, s.sender.answersSent())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, s.sender.sent, 1)
		assert.Equal(t, lines("$ make test", "one", s.word(i18n.OutputStopped)), s.sender.lastEdit(t).Text.Text)
	})
}

func TestP5_AnOutputDoesNotWaitForItsCard(t *testing.T) {
	for _, after := range []error{context.Canceled, fmt.Errorf("%w: %w", outbox.ErrUnsure, context.Canceled)} {
		inShell(t, func(t *testing.T, s *bashWorld) {
			s.damsCards(after)
			s.types("!make test")
			s.shows(s.rows("one"))
			begun := time.Now()
			s.ends(prints("make test", "all of it"))
			assert.LessOrEqual(t, time.Since(begun), cardGrace, "of the bubble's clock")
			assert.Equal(t, []string{"all of it"}, s.sender.answersSent())
			assert.Empty(t, s.sender.ended)
			time.Sleep(time.Minute)
			s.sender.send = nil
			s.sends()
			assert.Len(t, s.sender.sent, 1, "the card is given up")
			s.forgotten()
		})
	}
}

// A card that is about to be there gets the output: given up, it would say for ever that the
// command runs.
func TestP5_AnOutputTakesTheCardThatIsOnItsWay(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.slowCards(lookPace / 2)
		s.types("!make test")
		s.shows(s.rows("one"))
		s.ends(prints("make test", "all of it"))
		assert.Len(t, s.sender.sent, 1)
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, lines("$ make test", "all of it"), s.sender.ended[0].Text.Text)
	})
}

// The end of a message waits for the chat, a stop does not.
func TestP4_AStopDoesNotWaitForTheEndOfAnOutput(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.sender.editNow = func(outbox.Message) error { time.Sleep(time.Hour); return nil }
		go s.ends(prints("make test", "all of it"))
		synctest.Wait()
		s.mu.Lock()
		s.now = lifecycle.Output{Idle: true}
		s.mu.Unlock()
		begun := time.Now()
		s.mustHear(t, "/stop")
		assert.Zero(t, time.Since(begun), "of the bubble's clock")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Len(t, s.sender.ended, 1)
		for _, m := range s.sender.edited {
			assert.Equal(t, s.sender.ended[0].Text, m.Text, "nothing is written over the output")
		}
	})
}

func (s *bashWorld) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// A dialog that stays open over night is not looked at every other second.
func TestACommandThatIsNotSeenIsLookedAtSeldom(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  lifecycle.Output
	}{
		{"neither running nor idle", lifecycle.Output{}},
		{"it runs and prints nothing", lifecycle.Output{Runs: true, Lines: []string{"one"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inShell(t, func(t *testing.T, s *bashWorld) {
				s.types("!make test")
				s.shows(s.rows("one"))
				s.shows(tt.now)
				time.Sleep(2 * quietLooks * lookPace)
				synctest.Wait()
				before := s.looked()
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.InDelta(t, 120, s.looked()-before, 1)
				s.records.change(s.r.ID, func(r *session.Record) { r.State = session.Archived })
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Contains(t, s.sender.lastEdit(t).Text.Text, s.word(i18n.OutputStopped))
				s.forgotten()
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
func TestP5_AStoppedCommandTakesNoOutputOfALaterOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // between the stop and the output
		ended bool
	}{
		{"its own, which is read late", -time.Second, true},
		{"of a later one", time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inShell(t, func(t *testing.T, s *bashWorld) {
				s.types("!make test")
				s.shows(s.rows("one"))
				for range idleLooks {
					s.shows(lifecycle.Output{Idle: true})
				}
				s.stop()
				s.reopened(t)
				s.run()
				s.ends(printsAt(s.Now().Add(tt.after), "make test", "all of it"))
				if tt.ended {
					assert.Len(t, s.sender.ended, 1)
					return
				}
				assert.Empty(t, s.sender.ended)
				assert.Equal(t, "all of it", s.sender.answersSent()[1])
			})
		})
	}
}

// The same command again, before the first one is seen to be stopped: the agent was idle when it
// was typed.
func TestP5_TheSameCommandAgainEndsTheFirst(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.types("!make test")
		assert.Equal(t, lines("$ make test", "one", s.word(i18n.OutputStopped)), s.sender.lastEdit(t).Text.Text)
		s.shows(lifecycle.Output{Idle: true}) // it was quick
		s.ends(printsAt(started.Add(time.Second), "make test", "of the second"))
		assert.Empty(t, s.sender.ended)
		assert.Equal(t, "of the second", s.sender.answersSent()[1])
	})
}

// Another session goes on with the conversation, and its transcript has the end.
func TestAnOutputEndsInItsMessageWhereAnotherSessionGoesOn(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		first := s.r
		s.r = s.currentSession(t, "next", session.Running)
		s.r.Cursors = first.Cursors
		s.records.change(s.r.ID, func(r *session.Record) { r.TookOver = first.ID })
		s.records.change(first.ID, func(r *session.Record) { r.State = session.Archived; r.Closed = session.ClosedTransferred })
		s.ends(prints("make test", "all of it"))
		require.Len(t, s.sender.ended, 1)
		assert.Equal(t, []any{1, lines("$ make test", "all of it")}, []any{s.sender.ended[0].ReplyTo, s.sender.ended[0].Text.Text})
		assert.Len(t, s.sender.sent, 1)
	})
}

// People may delete a message that grows. It does not come again.
func TestP5_AGrowingMessageThatPeopleDeleteEndsAsAnAnswer(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		s.types("!make test")
		s.shows(s.rows("one"))
		s.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: outbox.ErrGone} }
		s.shows(s.rows("one", "two"))
		s.shows(s.rows("one", "two", "three"))
		assert.Len(t, s.sender.sent, 1)
		s.ends(prints("make test", "all of it"))
		assert.Equal(t, "all of it", s.sender.answersSent()[1])
		assert.Len(t, s.sender.sent, 2)
	})
}

func TestACardThatIsRefusedIsNotTriedAgain(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		tries := 0
		s.sender.send = func(_ context.Context, m outbox.Message) error {
			if m.Rank != outbox.Card {
				return nil
			}
			tries++
			return &outbox.Refused{Err: errors.New("no")}
		}
		s.types("!make test")
		s.shows(s.rows("one"))
		s.shows(s.rows("one", "two"))
		assert.Equal(t, 1, tries)
		s.ends(prints("make test", "all of it"))
		assert.Equal(t, []string{"all of it"}, s.sender.answersSent())
	})
}
