package loops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/recovery"
)

const outside = "outside the agent's permissions and sandbox"

// open opens the page of /loop, and replies to it.
func open(t *testing.T, w *chattest.World, replies ...string) {
	t.Helper()
	w.MustHear(t, "/loop")
	w.Work(t)
	for i, reply := range replies {
		w.Answer(t, i+1, reply)
		w.Work(t)
	}
}

// TestLoopIsAskedForStepByStep: task, check, bounds; nothing starts before [Start].
func TestLoopIsAskedForStepByStep(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.MustHear(t, "/loop")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "reply to this message with the task")

		w.Answer(t, 1, "/clear")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 2).Text.Text, "not a command", "a command is no task")

		w.Answer(t, 2, "make the tests pass")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 3).Text.Text, "reply with the check")
		w.Answer(t, 3, "make test")
		w.Work(t)
		ask := w.Shows(t, 4)
		for _, part := range []string{"make the tests pass", "make test", "20 turns, $10.00", outside} {
			assert.Contains(t, ask.Text.Text, part)
		}
		assert.NotContains(t, ask.Text.Text, "asks for no permissions")
		w.Press(t, chattest.Alice, 4, "50 turns")
		w.Press(t, chattest.Alice, 4, "4 h")
		w.Press(t, chattest.Alice, 4, "✓ $10")
		assert.Contains(t, w.Shows(t, 4).Text.Text, "50 turns, 4 h")
		w.Press(t, chattest.Alice, 4, "New worktree")
		assert.Contains(t, w.Shows(t, 4).Text.Text, "in a session of its own")
		assert.Contains(t, chattest.Words(w.Shows(t, 4)), "✓ New worktree")
		assert.Empty(t, w.Looping.Requests())

		w.Press(t, chattest.Bob, 4, "Start")
		assert.Empty(t, w.Looping.Requests(), "only the person who asked may start it")
		w.Press(t, chattest.Alice, 4, "Start")
		all := w.Looping.Requests()
		require.Len(t, all, 1)
		assert.NotEqual(t, uuid.Nil, all[0].Key)
		all[0].Key = uuid.Nil
		assert.Equal(t, port.LoopRequest{Session: r.ID, Task: "make the tests pass", Check: "make test", Bounds: port.LoopBounds{Turns: 50, Minutes: 240}, Worktree: true, By: chattest.Alice}, all[0])
		assert.Empty(t, chattest.Words(w.Shows(t, 4)))
	})
}

// TestBoundsAreTyped instead of chosen; without a bound nothing starts.
func TestBoundsAreTyped(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(w.Current(chattest.AtAlice), func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} })
		open(t, w, "fix it", "true")
		assert.Contains(t, w.Shows(t, 3).Text.Text, "api asks for no permissions")
		w.Answer(t, 3, "7 90m")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 4).Text.Text, "7 turns, $10.00, 90 min", "what is not typed stays")
		w.Answer(t, 4, "soon")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 5).Text.Text, "not clear")
		assert.Contains(t, w.Shows(t, 5).Text.Text, "7 turns, $10.00, 90 min")
	})
}

// TestEndTimeIsInZoneOfChat: the person means clocks of the chat's time zone, not the machine's.
func TestEndTimeIsInZoneOfChat(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.TimeZone = "Pacific/Kiritimati" }))
		open(t, w, "fix it", "true")
		w.Answer(t, 3, "08:17")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 4).Text.Text, "08:17")
		w.Press(t, chattest.Alice, 4, "Start")
		zone, err := time.LoadLocation("Pacific/Kiritimati")
		require.NoError(t, err)
		require.Len(t, w.Looping.Requests(), 1)
		assert.Equal(t, "08:17", w.Looping.Requests()[0].Bounds.Until.In(zone).Format("15:04"))
	})
}

// TestLoopTakesAnsweredPrompt: the text of a person's own message is the task, that of a forwarded
// one is not.
func TestLoopTakesAnsweredPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		answer := func(to *models.Message) {
			to.ID = 900
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/loop", ReplyToMessage: to})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
		}
		answer(&models.Message{From: &models.User{ID: chattest.Alice}, Text: "fix the parser"})
		assert.Contains(t, w.Shows(t, 1).Text.Text, "fix the parser")
		assert.Contains(t, w.Shows(t, 1).Text.Text, "reply with the check")
		answer(&models.Message{From: &models.User{ID: chattest.Alice}, Text: "from elsewhere", ForwardOrigin: &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser,
			MessageOriginHiddenUser: &models.MessageOriginHiddenUser{SenderUserName: "Eve"}}})
		assert.NotContains(t, w.Shows(t, 2).Text.Text, "from elsewhere")
		answer(&models.Message{From: &models.User{ID: 666}, Text: "from a stranger"})
		assert.NotContains(t, w.Shows(t, 3).Text.Text, "from a stranger")
	})
}

// TestChoiceKeepsAnsweredPrompt: of two sessions with the name the person chooses one.
func TestChoiceKeepsAnsweredPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		w.Session(t, "api", session.Running)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/loop api",
			ReplyToMessage: &models.Message{ID: 900, From: &models.User{ID: chattest.Alice}, Text: "fix the parser"}})
		require.NoError(t, w.Handle(t.Context(), key, u))
		w.Work(t)
		w.Press(t, chattest.Alice, 1, "api, ~/api")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 2).Text.Text, "fix the parser")
		assert.Contains(t, w.Shows(t, 2).Text.Text, "reply with the check")
	})
}

// TestRefusedLoopNamesHolder, and the page stays.
func TestRefusedLoopNamesHolder(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		open(t, w, "fix it", "true")
		w.Looping.Held = &refusal.Error{Code: refusal.LoopHeld, Reason: "web"}
		w.Press(t, chattest.Alice, 3, "Start")
		assert.Contains(t, w.Telegram.Texts()[len(w.Telegram.Texts())-1], "The loop of “web”")
		assert.Contains(t, chattest.Words(w.Shows(t, 3)), "Start")
	})
}

// running is a loop in its third turn.
func running(r session.Record) port.Loop {
	return port.Loop{ID: uuid.New(), Session: r.ID, Task: "fix it", Check: "make test", Bounds: port.LoopBounds{Turns: 20, Cost: 10}, State: port.LoopRunning, Step: port.LoopTurn,
		Iteration: 3, Attempt: 1, Used: port.LoopUsed{Turns: 3, Tokens: 120_000, Cost: 1.5}, CreatedAt: chattest.Started,
		Last: &port.CheckResult{Iteration: 2, Exit: 2, Tail: "FAIL: TestX\n", At: chattest.Started}}
}

// TestLoopHasOneCard: it is edited at the pace of cards, also after a restart, and has the state,
// the use, the changes and the last check.
func TestP8_LoopHasOneCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Git.OnMark = func() { t.Error("the work tree is remembered when the loop begins, not when its card is drawn") }
		w.Git.Since = map[folders.Since]folders.Changes{"a moment": {Of: "a moment", Files: []folders.ChangedFile{{Path: "a.go", Added: 12, Deleted: 3}}}}
		l := running(r)
		l.Iteration, l.Used.Turns, l.Last, l.Baseline = 1, 1, nil, "a moment"
		w.Loops(t, r, l, true)
		w.Loops(t, r, l, true) // a crash repeats it
		assert.Contains(t, w.Shows(t, 1).Text.Text, "Loop of api: the agent works\nturn 1 of 20, 120k tokens, $1.50 of $10.00")
		assert.False(t, w.Shows(t, 1).Sounds)

		next := running(r)
		next.ID, next.Baseline = l.ID, l.Baseline
		w.Loops(t, r, next, false)
		w.Later(time.Minute)
		w.Work(t)
		for _, part := range []string{"turn 3 of 20", "1 file, +12 −3", "Check: make test", "check failed (exit code 2)", "FAIL: TestX"} {
			assert.Contains(t, w.Shows(t, 1).Text.Text, part)
		}
		assert.Equal(t, []string{"Pause", "Stop the loop", "Changes", "+5 turns"}, chattest.Words(w.Shows(t, 1)))

		w.Restart(t)
		next.Step, next.Used.Turns = port.LoopCheck, 4
		w.Loops(t, r, next, false)
		w.Later(time.Minute)
		w.Work(t)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "Loop of api: the check runs\nturn 4 of 20")
		assert.Len(t, w.Telegram.Sent, 1, "one card")

		w.Press(t, chattest.Bob, 1, "Pause")
		w.Press(t, chattest.Alice, 1, "+5 turns")
		w.Press(t, chattest.Alice, 1, "Stop the loop")
		assert.Equal(t, []port.LoopChange{{Loop: l.ID, Session: l.Session, Do: port.LoopPause, By: chattest.Bob},
			{Loop: l.ID, Session: l.Session, Do: port.LoopRaise, More: port.LoopBounds{Turns: 5}, By: chattest.Alice},
			{Loop: l.ID, Session: l.Session, Do: port.LoopStop, By: chattest.Alice}}, w.Looping.Changes())
	})
}

// TestLoopReportsPauseAndEnd in one message below, once.
func TestLoopReportsPauseAndEnd(t *testing.T) {
	tests := []struct {
		name   string
		change func(l *port.Loop)
		says   []string
		words  []string
		sounds bool
	}{
		{"no progress", func(l *port.Loop) { l.State, l.Reason = port.LoopPaused, port.WhyNoProgress }, []string{"paused", "no progress", "tap Go on"}, []string{"Go on", "Stop the loop", "Changes", "+5 turns"}, true},
		{"a dialog, which has its own message", func(l *port.Loop) { l.State, l.Reason = port.LoopPaused, port.WhyDialog }, []string{"Answer it, then tap Go on"}, []string{"Go on", "Stop the loop", "Changes", "+5 turns"}, false},
		{"a person's prompt", func(l *port.Loop) { l.State, l.Reason = port.LoopPaused, port.WhyPersonActed }, []string{"A person used the session"}, []string{"Go on", "Stop the loop", "Changes", "+5 turns"}, false},
		{"done", func(l *port.Loop) { l.State = port.LoopDone }, []string{"done, the check passed", "turn 3 of 20"}, []string{"Changes"}, true},
		{"a bound", func(l *port.Loop) { l.State, l.Reason = port.LoopExhausted, port.BoundTurns }, []string{"The limit of turns is reached."}, []string{"Continue with +10 turns", "Changes"}, true},
		{"a price", func(l *port.Loop) {
			l.State, l.Reason, l.Used.Unpriced = port.LoopExhausted, port.BoundCost, true
		}, []string{"a price is unknown"}, []string{"Ignore the price", "Changes"}, true},
		{"a request", func(l *port.Loop) {
			l.State, l.Reason, l.Detail = port.LoopPaused, port.WhyAPIError, "API Error: 529 Overloaded."
		}, []string{"“529 Overloaded”"}, []string{"Go on", "Stop the loop", "Changes", "+5 turns"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := w.NewCurrentSession(t, "api", session.Running)
				l := running(r)
				w.Loops(t, r, l, true)
				tt.change(&l)
				for range 2 {
					w.Loops(t, r, l, true)
				}
				require.Len(t, w.Telegram.Sent, 2)
				m := w.Shows(t, 2)
				for _, part := range tt.says {
					assert.Contains(t, m.Text.Text, part)
				}
				assert.Equal(t, tt.words, chattest.Words(m))
				assert.Equal(t, tt.sounds, m.Sounds)
				assert.Equal(t, 1, m.ReplyTo)
				assert.Equal(t, tt.words, chattest.Words(w.Shows(t, 1)), "the card has the same")
			})
		})
	}
}

// TestCardOfRemovedLoopIsClosed: a purge keeps what has ended, and a live loop went with its
// session.
func TestCardOfRemovedLoopIsClosed(t *testing.T) {
	for state, want := range map[port.LoopState]string{port.LoopDone: "done, the check passed", port.LoopPaused: "This loop no longer exists."} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			l := running(r)
			w.Loops(t, r, l, true)
			l.State, l.Reason = state, port.WhyNoProgress
			w.Loops(t, r, l, true)
			require.NotEmpty(t, chattest.Words(w.Shows(t, 1)))
			w.Looping.Remove(l.ID)
			w.Bot.Loops.Wake()
			w.Later(time.Minute)
			w.Work(t)
			for n := range 2 {
				assert.Empty(t, chattest.Words(w.Shows(t, n+1)), state)
			}
			assert.Contains(t, w.Shows(t, 1).Text.Text, want)
		})
	}
}

// TestP6_UnreachableMachineKeepsLoops: the loops of a machine that does not answer are not gone.
func TestP6_UnreachableMachineKeepsLoops(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		w.Loops(t, r, l, true)
		l.State, l.Reason = port.LoopPaused, port.WhyNoProgress
		w.Loops(t, r, l, true)
		before := w.Shows(t, 1)
		w.Link.Set(wire.Faults{Unreachable: true})
		w.Bot.Loops.Wake()
		w.Later(time.Minute)
		w.Work(t)
		assert.Equal(t, before.Text, w.Shows(t, 1).Text)
		assert.Equal(t, chattest.Words(before), chattest.Words(w.Shows(t, 1)))
		assert.NotEmpty(t, chattest.Words(w.Shows(t, 2)))
		w.Press(t, chattest.Alice, 1, chattest.Words(before)[0])
		assert.NotContains(t, strings.Join(w.Telegram.Done(), ""), w.Word(i18n.LoopGone))
		w.MustHear(t, "/loops")
		w.Work(t)
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.MachineUnreachable))
	})
}

// TestPauseOnRequestIsOnlyOnCard: the person who tapped [Pause] sees it there.
func TestPauseOnRequestIsOnlyOnCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		w.Loops(t, r, l, true)
		l.State, l.Reason = port.LoopPaused, port.WhyPerson
		w.Loops(t, r, l, true)
		assert.Len(t, w.Telegram.Sent, 1)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "Loop of api: paused")
	})
}

// TestReportOfEarlierPauseLosesButtons when the loop goes on.
func TestReportOfEarlierPauseLosesButtons(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		w.Loops(t, r, l, true)
		l.State, l.Reason = port.LoopPaused, port.WhyNoProgress
		w.Loops(t, r, l, true)
		w.Press(t, chattest.Alice, 2, "Go on")
		assert.Equal(t, []port.LoopChange{{Loop: l.ID, Session: l.Session, Do: port.LoopResume, By: chattest.Alice}}, w.Looping.Changes())
		l.State, l.Reason = port.LoopRunning, ""
		w.Loops(t, r, l, false)
		w.Later(time.Minute)
		w.Work(t)
		assert.Empty(t, chattest.Words(w.Shows(t, 2)))
		assert.Equal(t, []string{"Pause", "Stop the loop", "Changes", "+5 turns"}, chattest.Words(w.Shows(t, 1)))
	})
}

// TestQuietHoursSilenceLoops: also the end makes no sound.
func TestQuietHoursSilenceLoops(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		const day = 24 * 60
		minute := w.Now().Local().Hour()*60 + w.Now().Local().Minute()
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
			s.Quiet = &conversation.Hours{From: (minute + day - 60) % day, Until: (minute + 60) % day}
		}))
		l := running(r)
		w.Loops(t, r, l, true)
		l.State = port.LoopDone
		w.Loops(t, r, l, true)
		assert.False(t, w.Shows(t, 2).Sounds)
	})
}

// TestLoopsAreListed: the live ones first, each with its actions and the way back.
func TestLoopsAreListed(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.MustHear(t, "/loops")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "There are no loops")
		r, other := w.NewCurrentSession(t, "api", session.Running), w.Session(t, "web", session.Running)
		live, done := running(r), running(other)
		done.State = port.LoopDone
		w.Loops(t, r, live, false)
		w.Loops(t, other, done, false)
		w.MustHear(t, "/loops")
		w.Work(t)
		n := len(w.Telegram.Sent)
		assert.Equal(t, "Loops\n1. api: 3 of 20, last check failed\n2. web: done, the check passed, 3 of 20", w.Shows(t, n).Text.Text)
		w.Press(t, chattest.Alice, n, "1")
		assert.Contains(t, w.Shows(t, n).Text.Text, "Loop of api: the agent works")
		w.Press(t, chattest.Alice, n, "Pause")
		assert.Equal(t, []port.LoopChange{{Loop: live.ID, Session: live.Session, Do: port.LoopPause, By: chattest.Alice}}, w.Looping.Changes())
		w.Press(t, chattest.Alice, n, w.Word(i18n.ButtonBack))
		assert.Contains(t, w.Shows(t, n).Text.Text, "2. web")
	})
}

// TestLoopOfSessionIsShown: /loop in a session with a live loop shows that one.
func TestLoopOfSessionIsShown(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Loops(t, r, running(r), false)
		w.MustHear(t, "/loop")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "Loop of api: the agent works")
	})
}

// TestLoopIsLineElsewhere: /list, /status, /why and the report of a start.
func TestLoopIsLineElsewhere(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		l.State, l.Reason = port.LoopPaused, port.WhyNoProgress
		w.Loops(t, r, l, false)
		const line = "Loop: paused, 3 of 20, "
		said := ""
		for _, command := range []string{"/list", "/status", "/why"} {
			w.MustHear(t, command)
			w.Work(t)
			all := w.Telegram.Texts()
			said = all[len(all)-1]
			assert.Contains(t, said, line, command)
		}
		assert.Contains(t, said, "there is no progress")
		w.Lost(t, "web", session.ClosedTmux)
		require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
		w.Work(t)
		all := w.Telegram.Texts()
		assert.Contains(t, all[len(all)-1], "api: "+line)
	})
}

// TestTurnsOfLoopAreSilent, except after a pause: then a person waits for the answer.
func TestTurnsOfLoopAreSilent(t *testing.T) {
	for _, state := range []port.LoopState{port.LoopRunning, port.LoopPaused} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		l.State = state
		w.Loops(t, r, l, false)
		s := port.Session{ID: r.ID, Conversation: r.Conversation} // as it was before the loop
		for _, o := range []chat.Occasion{chat.TurnDone, chat.AgentAsks} {
			assert.Equal(t, state != port.LoopRunning || o == chat.AgentAsks, w.Deps.Chat.Sounds(o, s), "%s, %s", state, o)
		}
	}
}

// TestP7_TwoSlashesReachAgent: //loop is the agent's own command.
func TestP7_TwoSlashesReachAgent(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		key := w.MustHear(t, "//loop 5m check it")
		w.Work(t)
		e, err := w.Inbox.Load(key)
		require.NoError(t, err)
		assert.Equal(t, "/loop 5m check it", e.Text)
		assert.Empty(t, w.Telegram.Sent)
	})
}

// TestP9_BypassIsWarnedOf however the agent came to it: by its launch, by a flag, or in the
// terminal.
func TestP9_BypassIsWarnedOf(t *testing.T) {
	asks := session.Launch{PermissionMode: "ask"}
	for name, tt := range map[string]struct {
		change func(r *session.Record)
		warns  bool
	}{
		"it asks":    {func(r *session.Record) { r.Launch, r.Progress.PermissionMode = &asks, "default" }, false},
		"its launch": {func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} }, true},
		"a flag": {func(r *session.Record) {
			r.Launch = &session.Launch{PermissionMode: "ask", Flags: []string{"--dangerously-skip-permissions"}}
		}, true},
		"its mode":     {func(r *session.Record) { r.Launch, r.Progress.PermissionMode = &asks, "bypassPermissions" }, true},
		"adopted":      {func(r *session.Record) { r.Progress.PermissionMode = "bypassPermissions" }, true},
		"adopted asks": {func(r *session.Record) { r.Progress.PermissionMode = "plan" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := w.NewCurrentSession(t, "api", session.Running)
				w.Records.Change(r.ID, tt.change)
				open(t, w, "fix it", "true")
				assert.Equal(t, tt.warns, strings.Contains(w.Shows(t, 3).Text.Text, "api asks for no permissions"))
			})
		})
	}
}

// TestP9_GroupSeesNoPrivateLoop: a group lists a loop of a private chat without its check, and
// without what the check or the agent has written.
func TestP9_GroupSeesNoPrivateLoop(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := running(r)
		l.State, l.Reason, l.Detail = port.LoopPaused, port.WhyAPIError, "secret failure"
		l.Check, l.Last = "secret check", &port.CheckResult{Iteration: 1, Exit: 1, Tail: "secret output", At: w.Now()}
		l.Worktree = &port.LoopWorktree{Dir: "/secret/api-2"}
		w.Loops(t, r, l, false)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours), Text: "/loops"})
		require.NoError(t, w.Handle(t.Context(), key, u))
		w.Work(t)
		at := w.Telegram.LastID()
		for _, button := range []string{"", "1"} {
			if button != "" {
				w.TapAt(t, chattest.Alice, chattest.GroupChat(chattest.Ours), at, chattest.DataBehind(t, w.Shows(t, at), button))
			}
			assert.Contains(t, w.Shows(t, at).Text.Text, "api")
			assert.NotContains(t, w.Shows(t, at).Text.Text, "secret")
		}
	})
}

// TestP4_EndTimeCountsFromSending: ccbot was off while the reply arrived.
func TestP4_EndTimeCountsFromSending(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		open(t, w, "fix it", "true")
		clock := func(d time.Duration) string { return w.Chat.In(chattest.AtAlice).Now().Add(d).Format("15:04") }
		reply := func(to int, text string, ago time.Duration) string {
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: text,
				Date: int(w.Now().Add(-ago).Unix()), ReplyToMessage: &models.Message{ID: to}})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
			return w.Shows(t, w.Telegram.LastID()).Text.Text
		}
		assert.Contains(t, reply(3, clock(-time.Hour), 2*time.Hour), "has passed")
		assert.Contains(t, reply(w.Telegram.LastID(), clock(time.Hour), 2*time.Hour), clock(time.Hour))
	})
}

// TestRunningCheckIsNotLastCheck: the line of a loop tells the check that runs from the one before.
func TestRunningCheckIsNotLastCheck(t *testing.T) {
	for lang, want := range map[string]string{"en": "checking, last check failed", "ru": "идёт проверка, последняя проверка не пройдена",
		"de": "wird geprüft, letzte Prüfung nicht bestanden", "zh": "正在检查，上次检查未通过"} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			w.Bot.Chat.Lang = lang
			r := w.NewCurrentSession(t, "api", session.Running)
			l := running(r)
			l.Phase, l.Step, l.Last = port.PhaseFix, port.LoopCheck, &port.CheckResult{Iteration: 2, Exit: 1, At: w.Now()}
			w.Loops(t, r, l, false)
			w.MustHear(t, "/loops")
			w.Work(t)
			assert.Contains(t, w.Shows(t, w.Telegram.LastID()).Text.Text, want)
		})
	}
}
