package schedules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/sjson"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// newWorld is a world with a session, in the zone of Berlin.
func newWorld(t *testing.T, w *chattest.World) session.Record {
	t.Helper()
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.TimeZone = "Europe/Berlin" }))
	return w.NewCurrentSession(t, "api", session.Running)
}

// say sends a command of Alice, now.
func say(t *testing.T, w *chattest.World, text string) {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: text, Date: int(w.Chat.Now().Unix())})
	require.NoError(t, w.Handle(t.Context(), key, u))
	w.Work(t)
}

// TestScheduleIsMadeAndRemoved: the answer has the time, the zone, the mode and the text.
func TestScheduleIsMadeAndRemoved(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := newWorld(t, w)
		w.Records.Change(r.ID, func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} })
		say(t, w, "/every weekday 09:00 run the tests\n\nand fix them")
		made := w.ScheduleList(t)
		require.Len(t, made, 1)
		assert.Equal(t, "run the tests\n\nand fix them", made[0].Text)
		said := w.Shows(t, 1).Text.Text
		for _, part := range []string{"Schedule of api: every weekday 09:00\nnext ", "09:00 (Europe/Berlin)", "Bypass", "run the tests\n\nand fix them"} {
			assert.Contains(t, said, part)
		}
		say(t, w, "/schedules")
		assert.Contains(t, w.Shows(t, 2).Text.Text, "1. api: every weekday 09:00, next")
		w.Press(t, chattest.Alice, 2, "1")
		w.Press(t, chattest.Alice, 2, "Remove")
		assert.Contains(t, w.Shows(t, 2).Text.Text, "The schedule of api was removed: every weekday 09:00\n\nrun the tests")
		assert.Empty(t, w.ScheduleList(t))
		w.Press(t, chattest.Alice, 1, "Remove")
		assert.Contains(t, w.Shows(t, 1).Text.Text, "no longer exists")
		say(t, w, "/schedules")
		assert.Contains(t, w.Shows(t, 3).Text.Text, "There are no schedules")
	})
}

// TestP6_UnreachableMachineKeepsSchedules: the schedules of a machine that does not answer are not
// gone.
func TestP6_UnreachableMachineKeepsSchedules(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		newWorld(t, w)
		say(t, w, "/every weekday 09:00 run the tests")
		say(t, w, "/schedules")
		w.Link.Set(wire.Faults{Unreachable: true})
		w.Press(t, chattest.Alice, 2, "1")
		assert.Contains(t, w.Shows(t, 2).Text.Text, w.Word(i18n.MachineUnreachable))
		say(t, w, "/schedules")
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.MachineUnreachable))
		w.Link.Set(wire.Faults{})
		w.Press(t, chattest.Alice, 2, "Refresh")
		assert.Contains(t, w.Shows(t, 2).Text.Text, "every weekday 09:00")
	})
}

// TestZoneOfChatReachesSchedules: the machine of a schedule is told the zone that its chat has now,
// also one that did not answer when it changed.
func TestZoneOfChatReachesSchedules(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		newWorld(t, w)
		say(t, w, "/every day 09:00 run the tests")
		zone := func() string { return w.ScheduleList(t)[0].Zone }
		assert.Equal(t, "Europe/Berlin", zone())
		choose := func(name string) {
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.TimeZone = name }))
			w.Work(t)
		}
		choose("Asia/Tokyo")
		assert.Equal(t, "Asia/Tokyo", zone())
		w.Link.Set(wire.Faults{Unreachable: true})
		choose("America/New_York")
		w.Link.Set(wire.Faults{})
		assert.Equal(t, "Asia/Tokyo", zone())
		w.Later(time.Minute)
		assert.Equal(t, "America/New_York", zone())
	})
}

// TestP4_UnclearScheduleKeepsText: whatever is missing is asked for, and the text stays.
func TestP4_UnclearScheduleKeepsText(t *testing.T) {
	for _, tt := range []struct {
		name, command, says, reply, when string
	}{
		{"no time", "/at run the tests", "No clear time was found in this text", "tomorrow 9", "at tomorrow 9"},
		{"no time again", "/every run the tests", "No clear time was found", "weekday 9", "every weekday 9"},
		{"it has passed", "/at 1999-01-31 08:00 run the tests", "has passed", "2h", "at 2h"},
		{"it never comes", "/every 0 0 31 2 * run the tests", "never comes", "day 9", "every day 9"},
		{"too often", "/every 10s run the tests", "one minute", "10m", "every 10m"},
		{"no text", "/at 08:00", "What should api get then (at 08:00)?", "run the tests", "at 08:00"},
		{"nothing", "/every", "reply to this message with a time and the text", "mon 9 run the tests", "every mon 9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				newWorld(t, w)
				say(t, w, tt.command)
				assert.Contains(t, w.Shows(t, 1).Text.Text, tt.says)
				if tt.name == "nothing" {
					w.Answer(t, 1, tt.reply)
					w.Work(t)
					assert.Equal(t, "run the tests", w.ScheduleList(t)[0].Text)
					return
				}
				w.Answer(t, 1, "hm")
				w.Work(t)
				if tt.name == "no text" { // it is the text
					assert.Equal(t, "hm", w.ScheduleList(t)[0].Text)
					return
				}
				assert.Empty(t, w.ScheduleList(t))
				w.Restart(t)
				w.Answer(t, 2, tt.reply)
				w.Work(t)
				made := w.ScheduleList(t)
				require.Len(t, made, 1)
				assert.Equal(t, "run the tests", made[0].Text)
				assert.Equal(t, tt.when, made[0].When)
				assert.Contains(t, w.Shows(t, 3).Text.Text, "Schedule of api: "+tt.when)
			})
		})
	}
}

// TestP4_ReplyCountsFromItsSending: ccbot was off while the reply with the time arrived.
func TestP4_ReplyCountsFromItsSending(t *testing.T) {
	for _, tt := range []struct{ command, reply string }{{"/at run the tests", "2h"}, {"/at", "2h run the tests"}, {"/at 2h", "run the tests"}} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			newWorld(t, w)
			say(t, w, tt.command)
			sent := w.Chat.Now().Add(-time.Hour).Truncate(time.Second)
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: tt.reply, Date: int(sent.Unix()),
				ReplyToMessage: &models.Message{ID: 1}})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
			made := w.ScheduleList(t)
			require.Len(t, made, 1)
			assert.Equal(t, "run the tests", made[0].Text)
			assert.WithinDuration(t, sent.Add(2*time.Hour), made[0].Next, time.Second, tt.command)
		})
	}
}

// TestScheduleTakesAnsweredPrompt: the text of a person's own message, as /loop does.
func TestScheduleTakesAnsweredPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		newWorld(t, w)
		m := &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/at 08:00", Date: int(w.Chat.Now().Unix()),
			ReplyToMessage: &models.Message{ID: 900, From: &models.User{ID: chattest.Alice}, Text: "fix the parser"}}
		key, u := w.Accept(t, m)
		for range 2 { // a crash repeats it
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
		}
		made := w.ScheduleList(t)
		require.Len(t, made, 1)
		assert.Equal(t, [2]string{"at 08:00", "fix the parser"}, [2]string{made[0].When, made[0].Text})
	})
}

func TestScheduleNeedsSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		say(t, w, "/at 08:00 run")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "/new")
		r := newWorld(t, w)
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Completed })
		say(t, w, "/at 08:00 run")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "api")
		assert.Empty(t, w.ScheduleList(t))
	})
}

// TestListOfSchedulesHasPages, the next one first.
func TestListOfSchedulesHasPages(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		newWorld(t, w)
		for i := range 10 {
			say(t, w, fmt.Sprintf("/every %dh text %d", 20-i, i))
		}
		say(t, w, "/schedules")
		list := w.Shows(t, 11)
		assert.Contains(t, list.Text.Text, "1. api: every 11h")
		assert.Contains(t, list.Text.Text, "text 9")
		assert.NotContains(t, list.Text.Text, "every 20h")
		assert.Contains(t, list.Text.Text, "1–8 of 10")
	})
}

// TestRunsAreReportedCalmly: one message each, with a sound only if a person has to bring the
// session back, and never in quiet hours.
func TestRunsAreReportedCalmly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		report port.ScheduleReport
		says   string
		sounds bool
	}{
		{"sent", port.ScheduleReport{}, "Scheduled prompt for api: run", false},
		{"late", port.ScheduleReport{Late: 3 * time.Hour, Left: 2}, "3 h late: run\n2 earlier times", false},
		{"missed", port.ScheduleReport{Reason: port.SkipMissed}, "was skipped. The machine was off", false},
		{"busy", port.ScheduleReport{Reason: port.SkipBusy}, "not finished", false},
		{"not resumed", port.ScheduleReport{Reason: port.SkipNotResumed, Detail: "The folder is gone."}, "could not be resumed: The folder is gone.", true},
		{"not started", port.ScheduleReport{Reason: port.SkipNotStarted}, "Three attempts", true},
		{"ended", port.ScheduleReport{Reason: port.SkipEnded}, "The schedule of api has ended: every 2h.", false},
		{"the clock went back", port.ScheduleReport{Reason: port.SkipClockBack}, "The clock of the machine went back", false},
	} {
		for _, quiet := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, quiet %t", tt.name, quiet), func(t *testing.T) {
				chattest.Runs(t, func(t *testing.T, w *chattest.World) {
					r := newWorld(t, w)
					now := w.Chat.Now()
					if quiet {
						require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
							s.QuietFor = &conversation.Span{From: now.Add(-time.Hour), Until: now.Add(time.Hour)}
						}))
					}
					tt.report.At = now
					require.NoError(t, w.SessionNews(t.Context(), r, news.Scheduled{Schedule: port.Schedule{Session: r.ID, When: "every 2h", Text: "run"}, Report: tt.report}))
					w.Work(t)
					said := w.Telegram.Last(t)
					assert.Contains(t, said.Text.Text, tt.says)
					assert.Equal(t, tt.sounds && !quiet, said.Sounds)
					assert.Equal(t, tt.sounds, said.Rank < outbox.Answer, "replies to people pass what needs nobody")
				})
			})
		}
	}
}

// TestP9_GroupSeesNoPrivatePrompt: a group lists a session of a private chat without its text.
func TestP9_GroupSeesNoPrivatePrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		newWorld(t, w)
		say(t, w, "/every 2h secret words")
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours), Text: "/schedules", Date: int(w.Chat.Now().Unix())})
		require.NoError(t, w.Handle(t.Context(), key, u))
		w.Work(t)
		said := w.Telegram.Last(t).Text.Text
		assert.Contains(t, said, "1. api: every 2h")
		assert.NotContains(t, said, "secret")
		for _, button := range []string{"1", "Remove"} {
			w.TapAt(t, chattest.Alice, chattest.GroupChat(chattest.Ours), 2, chattest.DataBehind(t, w.Shows(t, 2), button))
			said = w.Shows(t, 2).Text.Text
			assert.Contains(t, said, "every 2h")
			assert.NotContains(t, said, "secret")
		}
		assert.Empty(t, w.ScheduleList(t))
	})
}

// TestRowOfSkippedRunsHasOneMessage: /schedules counts them.
func TestRowOfSkippedRunsHasOneMessage(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := newWorld(t, w)
		say(t, w, "/every 1m run the tests")
		made := w.ScheduleList(t)[0]
		for row := range 3 {
			skipped := port.ScheduleReport{Reason: port.SkipLooped, At: w.Now().Add(time.Duration(row) * time.Minute), Row: row}
			if row > 0 {
				skipped.Mentioned = w.Now()
			}
			made.Last = &skipped
			require.NoError(t, w.SessionNews(t.Context(), r, news.Scheduled{Schedule: made, Report: skipped}))
		}
		w.Work(t)
		assert.Equal(t, 1, strings.Count(strings.Join(w.Telegram.Texts(), "\n"), "was skipped"))
		path := filepath.Join(w.Dir, "schedules", made.ID.String()+".json")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		data, err = sjson.SetBytes(data, "last", made.Last)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		w.ReadSchedules(t)
		say(t, w, "/schedules")
		list := w.Telegram.LastID()
		w.Press(t, chattest.Alice, list, "1")
		assert.Contains(t, w.Shows(t, list).Text.Text, "3 times in a row")
	})
}
