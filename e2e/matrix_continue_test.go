package e2e

import (
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// goingOnText is the prompt that continues an interrupted agent.
const goingOnText = "say going on"

// goingOn kills the bot between the tap on [Continue] and the proof of the prompt. Each row kills
// one more agent during its work; in the last one the machine goes down, and the start continues
// alone.
func goingOn() life {
	row := func(name, point, when, disk, fresh string, dead, after func(*stage)) crash {
		return crash{step: "continue", point: point, when: when, disk: disk, fresh: fresh, also: "one prompt",
			do: func(s *stage) {
				b := s.open1(name).Binding
				s.typed = append(s.typed, "slow 3600")
				s.tmux("send-keys", "-t", b.Pane, "-l", "slow 3600")
				s.tmux("send-keys", "-t", b.Pane, "Enter")
				s.until("it works", func() bool { return s.record(name).Phase == "working" })
				require.NoError(s.t, syscall.Kill(b.Agent.PID, syscall.SIGKILL))
				s.typed, s.answers["going on"] = append(s.typed, goingOnText), s.answers["going on"]+2
				told := s.hear(s.mark, name+" was ended by signal 9")
				s.until("the record has the end, too", func() bool { return s.record(name).State == session.Completed })
				s.tap(told, "Continue")
			},
			dead: dead,
			after: func(s *stage) {
				s.t.Helper()
				after(s)
				s.until("it goes on", func() bool {
					r := s.record(name)
					return len(s.received()) == len(s.typed) && r.Interruption != nil && r.Unfinished() == nil
				})
			}}
	}
	taps := func(s *stage) {
		m := s.hear(s.mark, "was ended by signal 9")
		s.tap(m, "Continue")
	}
	alone := func(*stage) {}
	waits := func(name string, state session.State, queued int) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			assert.Equal(s.t, state, s.record(name).State)
			assert.Len(s.t, s.record(name).Prompts, queued)
			held, err := filepath.Glob(filepath.Join(s.state, "inbox", "p-*.json"))
			require.NoError(s.t, err)
			assert.Len(s.t, held, 1)
		}
	}
	const again = "keeps the prompt; the next tap resumes the session"
	const comes = "continues the restore and types the prompt"
	names := []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot"}
	rows := []crash{
		row("alpha", "continue-held", "the prompt is in no queue", "a held prompt; an interrupted `completed` record", again,
			waits("alpha", session.Completed, 0), taps),
		row("bravo", "prompt-saved", "the record has the prompt, nothing is resumed", "a held prompt; a `completed` record that names it", again,
			waits("bravo", session.Completed, 1), taps),
		row("charlie", "restore-recorded", "no window yet, the prompt waits", "a held prompt; a `restoring` record without a window", comes,
			waits("charlie", session.Restoring, 1), alone),
		row("delta", "bound", "the agent starts, the prompt waits", "a held prompt; a `restoring` record with pane and process", comes,
			waits("delta", session.Restoring, 1), alone),
		row("echo", "pasted", "the prompt is in the box of the resumed agent", "a `typing` prompt; a `running` record", "presses Enter",
			waits("echo", session.Running, 1), alone),
		{step: "continue", point: "continue-held", when: "an automatic continuation after a reboot", disk: "a held prompt; an unreported `lost` record",
			fresh: "reports it again, resumes the session and types the prompt", also: "one prompt; the other sessions only resume",
			prepare: func(s *stage) {
				s.edit("foxtrot", func(r recordFile) {
					r.set("phase", "working")
					r.set("phase_at", time.Now().UTC())
				})
				s.endTmux()
				s.otherBoot()
				s.typed, s.answers["going on"] = append(s.typed, goingOnText), s.answers["going on"]+2
			},
			dead: waits("foxtrot", session.Lost, 0),
			after: func(s *stage) {
				s.t.Helper()
				s.until("all are back", func() bool {
					return !slices.ContainsFunc(names, func(name string) bool { return s.record(name).State != session.Running })
				})
				s.until("it goes on", func() bool { return len(s.received()) == len(s.typed) && s.record("foxtrot").Phase == "idle" })
				assert.LessOrEqual(s.t, s.told("Going on without your word: foxtrot"), 2)
			}},
	}
	return life{name: "continue", env: []string{"CCBOT_RESUME_ON_START=continue", "CCBOT_CONTINUE_TEXT=" + goingOnText, "ORPHAN_GRACE=5m"},
		setup: func(s *stage) {
			for _, name := range names {
				s.open(name, s.dir)
				s.prompt("say hello from " + name)
				s.answered("hello from " + name)
			}
		}, rows: rows}
}
