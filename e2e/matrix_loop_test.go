package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/loop"
	"ccbot/port"
)

// looping kills the bot at each step of a loop whose check fails once and then succeeds.
func looping() life {
	var term terminal
	var verb called
	row := func(point, when, disk, fresh string, is func(l loop.Loop) bool) crash {
		said := "loop at " + point
		var left []process.Identity
		return crash{step: "loop", point: point, when: when, disk: disk, fresh: fresh, also: "each prompt once, no process of a check stays",
			do: func(s *stage) {
				check := s.countingCheck(len(s.received()) + 2)
				s.answers[said] = 3 // the second prompt repeats the task
				s.typed = append(s.typed, "say "+said, fmt.Sprintf("The task is not done: the check `%s` exited with 1. The end of its output:\n\nprompts: %d\n\n"+
					"Continue with the task:\n\nsay %s", check, len(s.received())+1, said))
				verb = term.call("ccbot loop start work 'say " + said + "' --check '" + check + "' --max-turns 5")
			},
			dead: func(s *stage) {
				s.t.Helper()
				all := s.loops()
				require.NotEmpty(s.t, all)
				left = all[len(all)-1].Processes
				assert.True(s.t, is(all[len(all)-1]), "what is on disk: %+v", all[len(all)-1])
			},
			after: func(s *stage) {
				s.t.Helper()
				code, _, errs := verb.end()
				assert.Zero(s.t, code, "the verb says: %s", errs)
				l := s.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone && l.Reported == port.LoopDone })
				assert.Equal(s.t, 2, l.Used.Turns)
				for _, id := range left {
					assert.Equal(s.t, process.Gone, s.table.Liveness(id))
				}
			}}
	}
	at := func(step port.LoopStep, iteration int, more ...func(loop.Loop) bool) func(loop.Loop) bool {
		return func(l loop.Loop) bool {
			return l.State == port.LoopRunning && l.Step == step && l.Iteration == iteration && !slices.ContainsFunc(more, func(is func(loop.Loop) bool) bool { return !is(l) })
		}
	}
	begun := func(l loop.Loop) bool { return len(l.Processes) == 1 }
	// phased is a row of a loop with one more phase, the plan or the end, which a template has.
	phased := func(prompt port.LoopPhase, prompts int, when, disk string, is func(l loop.Loop) bool) crash {
		c := row("loop-asking", when, disk, "sends the prompt of that phase", is)
		said := "loop with a phase, " + string(prompt)
		c.do = func(s *stage) {
			head, task := "say the phase "+string(prompt), "say "+said
			path := filepath.Join(s.state, "templates", string(prompt)+".toml")
			require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(s.t, os.WriteFile(path, fmt.Appendf(nil, "task = '%s'\ncheck = '%s'\n[bounds]\nturns = 5\n[phases]\n%s = '%s'\n",
				task, s.countingCheck(len(s.received())+prompts), prompt, head), 0o600))
			s.answers[said] = 3 // the prompt of the phase repeats the task
			texts := []string{head + "\n\nThe task:\n\n" + task, task}
			if prompt == port.PhaseDone {
				slices.Reverse(texts)
			}
			s.typed = append(s.typed, texts...)
			verb = term.call("ccbot loop start work --template " + string(prompt))
		}
		return c
	}
	in := func(phase port.LoopPhase) func(loop.Loop) bool {
		return func(l loop.Loop) bool { return l.Phase == phase }
	}
	checked := func(l loop.Loop) bool {
		return l.Last != nil && l.Last.Iteration == l.Iteration && len(l.Processes) == 0
	}
	return life{name: "loop", setup: func(s *stage) {
		working(s)
		term = s.newTerminal()
	}, rows: []crash{
		row("loop-saved", "it has begun, and nothing is sent", "a `running` loop, step `ask`", "sends the first prompt; the verb has asked again with the same key", at(port.LoopAsk, 1)),
		row("loop-told", "the chat was told, and that is not on disk", "a `running` loop of which the chat was not told; the message in the outbox", "tells it once more, and sends the first prompt",
			at(port.LoopAsk, 1, func(l loop.Loop) bool { return l.Reported == "" })),
		row("loop-asked", "the prompt is queued, and the loop does not know it", "a `running` loop, step `ask`; the prompt in the inbox with the key of the iteration", "finds the prompt by its key", at(port.LoopAsk, 1)),
		row("loop-turn-over", "the turn has ended, the check is due", "a `running` loop, step `check`", "runs the check", at(port.LoopCheck, 1)),
		row("loop-check-begun", "the check is on disk, and waits for its line", "a `running` loop with the identity of the check's first process", "proves that process gone and runs the check", at(port.LoopCheck, 1, begun)),
		row("loop-check-saved", "the result of the check is on disk", "a `running` loop with the result", "begins the next iteration", at(port.LoopCheck, 1, checked)),
		row("loop-asking", "the next iteration is on disk, its prompt nowhere", "a `running` loop, step `ask`, iteration 2", "sends the second prompt", at(port.LoopAsk, 2)),
		phased(port.PhasePlan, 2, "the plan is made, and the next phase is on disk", "a `running` loop, phase `implement`, step `ask`, iteration 1", at(port.LoopAsk, 1, in(port.PhaseImplement))),
		phased(port.PhaseDone, 1, "the check has passed, and the last phase is on disk", "a `running` loop, phase `done`, step `ask`, iteration 2", at(port.LoopAsk, 2, in(port.PhaseDone))),
		row("loop-settled", "the end is on disk, and the chat was not told", "a `done` loop of which the chat was not told", "tells the end",
			func(l loop.Loop) bool { return l.State == port.LoopDone && l.Reported == port.LoopRunning }),
	}}
}

// purgingLoops kills the bot while an old loop is removed.
func purgingLoops() life {
	id := uuid.MustParse("0e1f0000-0000-4000-8000-000000000001")
	path := func(s *stage, folder, ending string) string {
		return filepath.Join(s.state, folder, id.String()+ending)
	}
	return life{name: "purging loops", env: []string{"LOOP_PURGE_AFTER=1h"}, rows: []crash{{step: "purge of a loop", point: "loop-copied",
		when: "its copy is on disk", disk: "the `done` loop, and its copy in `backups/purged/`", fresh: "removes the loop",
		prepare: func(s *stage) {
			s.t.Helper()
			at := time.Now().Add(-2 * time.Hour)
			data, err := json.Marshal(loop.Loop{Version: loop.Version, Reported: port.LoopDone, Loop: port.Loop{ID: id, Session: uuid.New(), Name: "old", Task: "fix it",
				State: port.LoopDone, Step: port.LoopCheck, CreatedAt: at, UpdatedAt: at}})
			require.NoError(s.t, err)
			require.NoError(s.t, os.MkdirAll(filepath.Join(s.state, "loops"), 0o700))
			require.NoError(s.t, os.WriteFile(path(s, "loops", ".json"), data, 0o600))
		},
		dead: func(s *stage) {
			s.t.Helper()
			assert.FileExists(s.t, path(s, "loops", ".json"))
			assert.FileExists(s.t, path(s, "backups/purged", ".loop"))
		},
		after: func(s *stage) {
			s.t.Helper()
			s.until("the loop is gone", func() bool { _, err := os.Stat(path(s, "loops", ".json")); return os.IsNotExist(err) })
			assert.FileExists(s.t, path(s, "backups/purged", ".loop"))
		}}}}
}
