package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// sounded are the first words of the messages that made a sound.
func sounded(w *chattest.World) (all []string) {
	for _, m := range append(append([]outbox.Message(nil), w.Telegram.Sent...), w.Telegram.Posted...) {
		if m.Sounds {
			text, _, _ := strings.Cut(m.Text.Text, "\n")
			all = append(all, text)
		}
	}
	for _, f := range w.Telegram.Files {
		if f.Sounds {
			all = append(all, f.Name)
		}
	}
	return all
}

func TestTurnSoundsOnce(t *testing.T) {
	aside := strings.Replace(chattest.Says("aside"), "{", `{"isSidechain":true,`, 1)
	step := chattest.Step(strings.TrimSpace(strings.Repeat("a step ", 500)))
	notice := `{"type":"system","subtype":"informational","level":"warning","content":"Heed"}` + "\n"
	fired := `{"type":"system","subtype":"scheduled_task_fire","prompt":"look"}` + "\n"
	mended := strings.Replace(chattest.APIError, `"content"`, `"stop_reason":"tool_use","content"`, 1)
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"an answer between which tools ran", []string{chattest.PromptLine("go"), chattest.Step("I look."), chattest.ToolUse, chattest.Step("And again."),
			chattest.ToolUse, chattest.Says("All tests pass."), chattest.TurnEnd}, []string{"All tests pass."}},
		{"only tools", []string{chattest.PromptLine("go"), chattest.ToolUse, chattest.TurnEnd}, []string{"api is done."}},
		{"words before the last tool", []string{chattest.Step("I look."), chattest.ToolUse, chattest.TurnEnd}, []string{"api is done."}},
		{"two turns", []string{chattest.Says("one"), chattest.TurnEnd, chattest.ToolUse, chattest.TurnEnd}, []string{"one", "api is done."}},
		{"the turn goes on", []string{chattest.PromptLine("go"), chattest.Step("I look."), chattest.ToolUse}, nil},
		{"an error of Claude's", []string{chattest.PromptLine("go"), chattest.Step("I look."), chattest.APIError},
			[]string{"api stopped with an error from Claude: “529”. Send your message again to continue."}},
		{"a person's own Esc", []string{chattest.PromptLine("go"), chattest.ToolUse, chattest.Interrupt}, nil},
		{"words before a person's own Esc", []string{chattest.PromptLine("go"), chattest.Says("I beg"), chattest.Interrupt}, nil},
		{"an Esc in a later turn", []string{chattest.Says("one"), chattest.TurnEnd, chattest.ToolUse, chattest.Interrupt}, []string{"one"}},
		{"a subagent's words", []string{aside}, nil},
		{"a command of the terminal", []string{chattest.PromptLine("<local-command-stdout>a.go</local-command-stdout>")}, []string{"a.go"}},
		{"a notice that answers a command", []string{notice}, []string{"Heed"}},
		{"a notice during a turn", []string{chattest.PromptLine("go"), notice, chattest.Says("Done."), chattest.TurnEnd}, []string{"Done."}},
		{"an error that Claude Code has mended", []string{chattest.PromptLine("go"), mended, chattest.Says("Done."), chattest.TurnEnd}, []string{"Done."}},
		{"a turn of a schedule of the agent's own", []string{fired, chattest.Says("tick"), chattest.TurnEnd}, nil},
		{"one that says nothing", []string{fired, chattest.ToolUse, chattest.TurnEnd}, nil},
		{"one that fails", []string{fired, chattest.APIError}, []string{"api stopped with an error from Claude: “529”. Send your message again to continue."}},
		{"a person's turn after it", []string{fired, chattest.Says("tick"), chattest.TurnEnd, chattest.PromptLine("go"), chattest.Says("Done."), chattest.TurnEnd}, []string{"Done."}},
		{"a command of bash mode, and what is said of it", []string{chattest.Prints("ls", "a.go"), chattest.Says("One file."), chattest.TurnEnd}, []string{"One file."}},
		{"a command of bash mode that nothing is said of", []string{chattest.Prints("ls", "a.go"), chattest.TurnEnd}, []string{"api is done."}},
		{"a long answer", []string{chattest.Says(chattest.Long(1500)), chattest.TurnEnd}, []string{chattest.Long(1500)[:4095-200]}},
		{"many texts in one file", []string{step, step, step, step, step, step, chattest.Says("the end"), chattest.TurnEnd}, []string{"answers.md"}},
		{"many texts that end no turn", []string{step, step, step, step, step, step}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", tt.lines...))
			w.ReadAll(t)
			got := sounded(w)
			if len(got) == 1 && tt.name == "a long answer" {
				assert.True(t, strings.HasPrefix(got[0], "word00000 "), "its first part")
				return
			}
			assert.Equal(t, tt.want, got)
			sent := len(w.Telegram.AnswersSent())+len(w.Telegram.Texts())+len(w.Telegram.Files) > 0
			assert.Equal(t, tt.name != "a subagent's words", sent)
		})
	}
}

func TestRestartRepeatsNoSounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []string
		after  []string
		want   []string
	}{
		{"between the answer and the end", []string{chattest.PromptLine("go"), chattest.Says("yes")}, []string{chattest.TurnEnd}, []string{"yes"}},
		{"behind the end", []string{chattest.ToolUse, chattest.TurnEnd}, []string{chattest.PromptLine("more")}, []string{"api is done."}},
		{"among the tools", []string{chattest.Step("I look."), chattest.ToolUse}, []string{chattest.ToolUse, chattest.TurnEnd}, []string{"api is done."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", tt.before...))
			w.ReadAll(t)
			chattest.Grow(t, r.Cursors[0], tt.after...)
			w.ReadAll(t)
			w.ReadAll(t)
			assert.Equal(t, tt.want, sounded(w))
		})
	}
}

// TestOnlyLastTurnOfBurstSounds ends a turn while other prompts wait. Only a prompt that is typed
// without a person keeps the turn silent.
func TestOnlyLastTurnOfBurstSounds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		state    inbox.State
		reported []news.Wait
		typed    int64 // offset of the transcript then
		after    []string
		want     []string
	}{
		{"another waits", inbox.Held, []news.Wait{news.Queued}, 0, nil, nil},
		{"another waits, not reported yet", inbox.Held, nil, 0, nil, nil},
		{"another waits for a person", inbox.Held, []news.Wait{news.Queued, news.HeldDraft}, 0, nil, []string{"one"}},
		{"another is being typed", inbox.Typing, nil, 1 << 20, nil, nil},
		{"its own prompt is not proven", inbox.Typing, nil, 0, nil, []string{"one"}},
		{"another is unproven", inbox.Unproven, nil, 0, nil, []string{"one"}},
		{"another is in the transcript", "", nil, 0, []string{chattest.PromptLine("next"), chattest.ToolUse}, nil},
		{"none waits", "", nil, 0, nil, []string{"one"}},
	} {
		for end, lines := range map[string][]string{"with an answer": {chattest.Says("one"), chattest.TurnEnd}, "without": {chattest.ToolUse, chattest.TurnEnd}} {
			t.Run(tt.name+", "+end, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running,
					chattest.TranscriptOf(t, "t.jsonl", slices.Concat([]string{chattest.PromptLine("go")}, lines, tt.after)...))
				if tt.state != "" {
					e := w.Prompt(t, r, "next", tt.state)
					require.NoError(t, w.Inbox.Change(e.Key, func(e *inbox.Entry) error {
						if e.Reported = tt.reported; tt.state != inbox.Held {
							e.Typing = &talk.Mark{Path: r.Cursors[0].Path, Offset: tt.typed}
						}
						return nil
					}))
					w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{e.Key} })
				}
				w.ReadAll(t)
				if len(tt.want) > 0 && end == "without" {
					assert.Equal(t, []string{"api is done."}, sounded(w))
					return
				}
				assert.Equal(t, tt.want, sounded(w))
			})
		}
	}
}

// Requested replies, ccbot's own work and progress make no sound; questions to a person do, for any
// session.
func TestOtherSounds(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	for _, command := range []string{"/list", "/status", "/why", "/help", "/kill", "/resume", "/new web"} {
		w.MustHear(t, command)
	}
	w.ReceiptText(t, w.Session(t, "old", session.Archived), ending.Receipt{})
	assert.Empty(t, sounded(w))

	w.AsksFor(t, w.Session(t, "beside", session.Running), "Bash", chattest.Bash)
	require.Len(t, sounded(w), 1, "a question")
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
	crashed := r
	crashed.State, crashed.Exit = session.Completed, &session.Exit{Known: true, Status: 3}
	assert.True(t, w.Shown(t, crashed, news.Ended{Screen: "x"}).Sounds)
	crashed.Exit = &session.Exit{Known: true}
	assert.False(t, w.Shown(t, crashed, news.Ended{}).Sounds, "it has ended as it should")
}

// Agents that have ended with tmux are reported together, with one sound.
func TestAgentsEndedByTmuxSoundOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, name := range []string{"api", "web", "docs"} {
		w.Lost(t, name, session.ClosedTmux)
	}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Equal(t, 1, trafficOf(w).Sounds)
	w = chattest.NewWorld(t)
	w.Lost(t, "idle", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, sounded(w), "a reboot without work")
}

// Each occasion has its row: a new one needs a decision.
func TestOccasionDecidesWhatSounds(t *testing.T) {
	w, current := inQuietHours(t)
	beside := w.Session(t, "beside", session.Running)
	loud := map[chat.Occasion]string{
		chat.AgentAsks: "always", chat.PromptUndecided: "always", chat.SecondWriter: "always", chat.WorkInterrupted: "always",
		chat.AgentFailed: "always", chat.TmuxEnded: "always", chat.NotSwitched: "always", chat.Fault: "always", chat.LimitUrgent: "always",
		chat.Crashed: "current", chat.TurnDone: "day", chat.LimitNear: "day", chat.Reminder: "day", chat.LoopWaits: "day", "": "never", "unknown": "never",
	}
	sounds := func(o chat.Occasion, r session.Record) bool {
		return w.Deps.Chat.Sounds(o, port.Session{ID: r.ID, Conversation: r.Conversation})
	}
	for o, when := range loud {
		assert.Equal(t, when == "always" || when == "current", sounds(o, current), "%s, current, in quiet hours", o)
		assert.Equal(t, when == "always", sounds(o, beside), "%s, of another session, in quiet hours", o)
	}
	require.NoError(t, w.Chats.NotePrompt(chattest.AtAlice, 0, "", current.ID, w.Now(), chattest.Alice))
	assert.True(t, sounds(chat.TurnDone, current), "a person waits for this answer")
	assert.False(t, sounds(chat.Reminder, current), "the question was left alone")
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Quiet = nil }))
	for o, when := range loud {
		assert.Equal(t, when != "never" && when != "current", sounds(o, beside), "%s, of another session, by day", o)
	}
}

// TestStoppedWordsAreSilent: words that are read after a person's stop, and before the line about
// it, belong to the stopped turn. After a stop that was refused the agent has worked on, and its
// answer sounds.
func TestStoppedWordsAreSilent(t *testing.T) {
	for name, refused := range map[string]error{
		"stopped":              nil,
		"tmux does not answer": refusal.New(refusal.TmuxSilent, ""),
		"a question is open":   typing.ErrAsks,
		"it works on":          typing.ErrStillWorks,
		"it has finished":      typing.ErrIdle,
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return true, refused }
			at := func(line string, after time.Duration) string {
				return strings.Replace(line, "{", `{"timestamp":"`+w.Now().Add(after).UTC().Format(time.RFC3339Nano)+`",`, 1)
			}
			c := chattest.TranscriptOf(t, "t.jsonl", at(chattest.PromptLine("go"), -time.Minute))
			w.NewCurrentSession(t, "api", session.Running, c)
			w.ReadAll(t)
			w.MustHear(t, "/stop")
			w.Telegram.Sent, w.Telegram.Posted = nil, nil // the reply to /stop may make a sound
			chattest.Grow(t, c, at(chattest.Says("I beg"), 0))
			if refused != nil {
				chattest.Grow(t, c, chattest.TurnEnd)
				w.ReadAll(t)
				assert.Equal(t, []string{"I beg"}, sounded(w))
				return
			}
			w.ReadAll(t)
			assert.Empty(t, sounded(w))
			chattest.Grow(t, c, at(chattest.Interrupt, 0), at(chattest.PromptLine("next"), time.Second), at(chattest.Says("done"), 2*time.Second), chattest.TurnEnd)
			w.ReadAll(t)
			assert.Equal(t, []string{"done"}, sounded(w))
		})
	}
}

// TestRefusedStopLeavesTheFormerOne: words that were cut short by a stop stay silent, also if a
// second stop finds nothing to stop.
func TestRefusedStopLeavesTheFormerOne(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/stop")
	w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, typing.ErrIdle }
	w.MustHear(t, "/stop")
	assert.True(t, w.Answers.Stops.HasStopped(r.ID, w.Now().Add(-time.Minute)))
}
