package lifecycle

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestAgentEndIsNoticedAndReported(t *testing.T) {
	tests := []struct {
		name    string
		exit    tmuxtest.Exit
		crashed bool
	}{
		{"clean", tmuxtest.Exit{}, false},
		{"status", tmuxtest.Exit{Status: 7}, true},
		{"signal", tmuxtest.Exit{Signal: 9}, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tmux.die(a, tc.exit)
				w.pass(time.Second)
				got := w.get(r.ID)
				assert.Equal(t, session.Completed, got.State)
				require.NotNil(t, got.Exit)
				assert.True(t, got.Exit.Known)
				assert.Equal(t, tc.exit.Status, got.Exit.Status)
				assert.Equal(t, tc.exit.Signal, got.Exit.Signal)
				assert.Equal(t, tc.crashed, got.Exit.Crashed())
				assert.Contains(t, got.Exit.Screen, "hello")
				assert.Nil(t, got.Binding)
				change := got.History[len(got.History)-2]
				assert.Equal(t, []any{session.Stopping, ruleEnded, tc.exit.Status, tc.exit.Signal},
					[]any{change.To, change.Rule, change.Status, change.Signal}, "no end was asked for")
				assert.Equal(t, 1, toldOf[news.Ended](w.news))
				assert.Equal(t, got.Exit, lastSession[news.Ended](w.news).Exit)
				assert.Empty(t, w.tmux.windows(), "the dead pane is closed")
				assert.Empty(t, w.processes.Signalled())
			})
		})
	}
}

// tmux learns of a signal a little after the death.
func TestEndWithoutStatusIsCheckedTwice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		r, a := w.starting()
		w.tmux.die(a, tmuxtest.Exit{})
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.DeadStatus = -1 })
		_, err := w.step(w.ctx, r.ID)
		require.NoError(t, err)
		got := w.get(r.ID)
		assert.Equal(t, session.Failed, got.State)
		assert.False(t, got.Exit.Known, "what nobody saw is not made up")
		assert.False(t, got.Exit.Crashed())
	})
}

func TestLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.ClosePaneByHand(a.pane)
		w.WakeAll()
		w.pass(time.Minute)
		assert.Equal(t, session.Running, w.get(r.ID).State, "its process lives")
		w.processes.Exit(a.id.PID)
		w.pass(time.Minute)
		got := w.get(r.ID)
		assert.Equal(t, session.Lost, got.State)
		assert.Nil(t, got.Binding)
		assert.Equal(t, 1, toldOf[news.Lost](w.news))
	})
}

func TestLostWithItsServer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		lost := 0
		w.deps.Callbacks.Lost = func() { lost++ }
		w.tmux.StopServer()
		w.processes.Exit(a.id.PID)
		w.pass(time.Minute)
		got := w.get(r.ID)
		assert.Equal(t, session.Lost, got.State)
		assert.Equal(t, session.ClosedTmux, got.ClosedReason)
		assert.True(t, got.Unreported)
		assert.Equal(t, 1, lost)
		assert.Zero(t, toldOf[news.Lost](w.news), "all that were lost are told at once")
	})
}

func TestP6_UnknownIsNotLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.processes.HideLiveness(true)
		w.tmux.ClosePaneByHand(a.pane)
		w.WakeAll()
		w.pass(time.Hour)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Zero(t, toldOf[news.Lost](w.news)+toldOf[news.Ended](w.news))
	})
}

// The agent's end decides about a prompt that was being typed.
func TestP4_EndSettlesPromptBeingTyped(t *testing.T) {
	for name, has := range map[string]bool{"received": true, "not received": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.held(r, "k", viewtest.Said)
				w.pass(20 * time.Millisecond)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				if has {
					w.write(r, userLine(viewtest.Said))
				}
				w.tmux.die(a, tmuxtest.Exit{Signal: 9})
				w.pass(time.Minute)
				assert.Equal(t, session.Completed, w.get(r.ID).State)
				if has {
					assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
					return
				}
				assert.Equal(t, typing.Unproven, w.prompts.state("k"))
				assert.Equal(t, 1, toldOf[news.Unproven](w.news))
			})
		})
	}
}

// ---- after a crash

func TestP4_CrashAfterEnterRepeatsNothing(t *testing.T) {
	tests := []struct {
		name  string
		line  string
		state typing.PromptState
		cause string
	}{
		{"the transcript has it", userLine(viewtest.Said), "finished", ""},
		{"the transcript has it queued", `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-04T12:00:00.000Z","content":"` + viewtest.Said + `"}`, "finished", ""},
		{"the transcript has something else", userLine("hello"), typing.Unproven, "another prompt or a compaction came after it"},
		{"nothing", "", typing.Unproven, "no proof came"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine(viewtest.Said)) // long before: proves nothing
				w.held(r, "k", viewtest.Said)
				w.pass(20 * time.Millisecond)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				w.held(r, "next", "another")
				if tc.line != "" {
					w.write(r, tc.line)
				}
				w.restart()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k", "next"}))
				settled := w.get(r.ID)
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k", "next"}))
				assert.Equal(t, settled.Prompts, w.get(r.ID).Prompts, "once more changes nothing")

				w.run()
				w.WakeAll()
				w.pass(time.Hour)
				assert.Equal(t, tc.state, w.prompts.state("k"))
				assert.Equal(t, []string{viewtest.Said, "another"}, a.heard(), "it was typed once and is not typed again")
				if tc.cause != "" {
					assert.Contains(t, w.logged(), tc.cause)
				}
			})
		})
	}
}

// Claude Code writes a line some time after what it records: under load, the line of an earlier
// prompt comes after the next text was pasted.
func TestP4_EarlierPromptsLateLineIsIgnored(t *testing.T) {
	for name, earlier := range map[string]string{"another text": "hello", "the same text": viewtest.Said} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.write(r, userLine("long before"))
				line := datedLine(w.Now(), earlier)
				w.pass(time.Second)
				a.set(func(a *agent) { a.slow = true })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				require.Equal(t, typing.Typing, w.prompts.state("k"))
				w.write(r, line)
				w.pass(3 * time.Second)
				assert.Equal(t, typing.Typing, w.prompts.state("k"))
				assert.Zero(t, toldOf[news.Unproven](w.news))
				a.set(func(a *agent) { a.slow = false })
				w.pass(time.Minute)
				assert.Equal(t, []string{viewtest.Said}, a.heard())
			})
		})
	}
}

func TestP8_SettleQueuesUnrecordedPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Held}) // the crash came before Queue
		require.NoError(t, w.Store.Do(w.ctx, r.ID, func(r *session.Record, save func() error) error {
			r.Prompts = []string{"finished long ago"}
			return save()
		}))
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, []string{"k"}, w.get(r.ID).Prompts)
	})
}

func TestReattachWatchesAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart()
		w.run()
		require.NoError(t, w.Reattach(r.ID))
		w.pass(time.Minute)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		w.tmux.die(a, tmuxtest.Exit{})
		w.pass(time.Second)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
		assert.Error(t, w.Reattach(uuid.New()))
	})
}

// unbound starts a session and forgets its binding, as a crash between the two
// would.
func (w *world) unbound() (session.Record, *agent, tmux.Pane) {
	w.t.Helper()
	r, a := w.starting()
	require.NoError(w.t, w.Store.Do(w.ctx, r.ID, func(r *session.Record, save func() error) error {
		r.Binding = nil
		return save()
	}))
	p, err := w.tmux.Fake.Pane(w.ctx, a.pane)
	require.NoError(w.t, err)
	return w.get(r.ID), a, p
}

func TestP8_BindFindsWindowAfterCrash(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		r, a, _ := w.unbound()
		require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
		got := w.get(r.ID)
		require.NotNil(t, got.Binding)
		assert.Equal(t, a.id, got.Binding.Agent)
		require.ErrorIs(t, w.Settle(w.ctx, r.ID, testRule), ErrChanged, "bound once")
		w.run()
		w.report(got)
		w.pass(time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// The window of an unbound launch has ended, so that its process cannot be seen. A start reads its
// exit. A step waits, because the window may be of an earlier launch.
func TestP1_StepBindsNoUnseenLaunch(t *testing.T) {
	for _, start := range []bool{false, true} {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, a, _ := w.unbound()
				w.tmux.die(a, tmuxtest.Exit{Status: 7})
				if start {
					require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
					assert.NotNil(t, w.get(r.ID).Binding)
				}
				w.run()
				w.WakeAll()
				w.pass(5 * time.Second)
				assert.Nil(t, w.get(r.ID).Binding)
				w.pass(time.Minute)
				got := w.get(r.ID)
				assert.Equal(t, session.Failed, got.State)
				assert.Equal(t, start, got.Exit != nil && got.Exit.Status == 7)
			})
		})
	}
}

// The tag is the window's. After the agent's pane was closed, a person's split
// pane still has it.
func TestP2_BindRefusesOtherProcess(t *testing.T) {
	retag := func(tag func(string) string) func(*world, *agent) {
		return func(w *world, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Tag = tag(p.Tag) })
		}
	}
	tests := []struct {
		name  string
		spoil func(w *world, a *agent)
	}{
		{"another session's tag", retag(func(string) string { return "4f0c/" + uuid.NewString() })},
		{"another instance's tag", retag(func(tag string) string { return "x" + tag })},
		{"a shell in a split pane", func(w *world, a *agent) {
			p, err := w.tmux.Fake.Pane(w.ctx, w.tmux.Split(a.pane))
			require.NoError(w.t, err)
			w.processes.Start(p.PID, []string{"bash"})
			w.processes.Exit(a.id.PID)
			w.tmux.ClosePaneByHand(a.pane)
		}},
		{"an agent of another conversation", func(w *world, a *agent) {
			w.processes.Exit(a.id.PID)
			w.processes.StartNow(a.id.PID, []string{"claude", "--resume", uuid.NewString()})
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.restart()
				r, a, _ := w.unbound()
				w.edit(r.ID, func(r *session.Record) { r.State, r.StartedAt = session.Restoring, time.Now().Add(-time.Hour) })
				tc.spoil(w, a)
				require.NoError(t, w.Settle(w.ctx, r.ID, testRule))
				assert.Nil(t, w.get(r.ID).Binding)
				assert.Equal(t, session.Failed, w.get(r.ID).State)
				assert.Len(t, w.tmux.windows(), 1, "it stays")
			})
		})
	}
}

func TestSettleLostAndFailed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		starting, a := w.starting()
		w.processes.Exit(a.id.PID)
		w.tmux.ClosePaneByHand(a.pane)
		require.NoError(t, w.Settle(w.ctx, starting.ID, testRule))
		assert.Equal(t, session.Failed, w.get(starting.ID).State, "what was never ready has failed")
		assert.Zero(t, toldOf[news.Failed](w.news), "recovery tells of all of them at once")
		assert.True(t, w.get(starting.ID).Unreported)

		interrupted, b := w.starting()
		for _, state := range []session.State{session.Starting, session.Restoring, session.Running} {
			w.edit(interrupted.ID, func(r *session.Record) { r.State = state })
			require.ErrorIs(t, w.Settle(w.ctx, interrupted.ID, testRule), ErrChanged)
			assert.Equal(t, state, w.get(interrupted.ID).State, "it has a window")
			assert.True(t, w.processes.Alive(b.id))
		}
		assert.Zero(t, toldOf[news.Failed](w.news))

		w.processes.Exit(b.id.PID)
		w.tmux.ClosePaneByHand(b.pane)
		w.edit(interrupted.ID, func(r *session.Record) {
			r.State, r.Binding, r.StartedAt = session.Restoring, nil, time.Now().Add(-time.Hour)
		})
		require.NoError(t, w.Settle(w.ctx, interrupted.ID, testRule))
		assert.Equal(t, session.Failed, w.get(interrupted.ID).State)
		assert.Equal(t, 1, toldOf[news.Failed](w.news))

		w.edit(interrupted.ID, func(r *session.Record) { r.State = session.Starting })
		settings := filepath.Join(w.base, interrupted.ID.String()+".settings")
		require.FileExists(t, settings)
		require.NoError(t, w.Settle(w.ctx, interrupted.ID, testRule))
		_, ok := w.Store.Get(interrupted.ID)
		assert.False(t, ok, "its command comes again")
		assert.NoFileExists(t, settings)
	})
}

// While the bot runs, a start that looks as if it came to nothing may be under way.
func TestP8_RecoveryDuringStartRemovesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		r, _ := w.starting()
		binding := w.get(r.ID).Binding
		w.edit(r.ID, func(r *session.Record) { r.Binding = nil })
		settings := filepath.Join(w.base, r.ID.String()+".settings")
		underWay, bound, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() { // the start holds the record's worker until its window is made
			done <- w.Store.Do(w.ctx, r.ID, func(r *session.Record, save func() error) error {
				close(underWay)
				<-bound
				r.Binding = binding
				return save()
			})
		}()
		<-underWay
		removed := make(chan error, 1)
		go func() { removed <- w.core.discard(w.ctx, r.ID) }()
		synctest.Wait()
		close(bound)
		require.NoError(t, <-done)
		require.ErrorIs(t, <-removed, ErrChanged)
		assert.FileExists(t, settings)
		w.edit(r.ID, func(r *session.Record) { r.State, r.Binding = session.Running, nil })
		require.ErrorIs(t, w.core.discard(w.ctx, r.ID), ErrChanged, "it is ready")
		w.edit(r.ID, func(r *session.Record) { r.State = session.Starting })
		require.NoError(t, w.core.discard(w.ctx, r.ID))
		assert.NoFileExists(t, settings)
		_, ok := w.Store.Get(r.ID)
		assert.False(t, ok)
	})
}

// News that the chat does not take are on disk with their change, and a step delivers them.
func TestP8_UntakenNewsStay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.restart()
		r, a := w.starting()
		w.news.fail = func(news.News) error { return errors.New("disk full") }
		w.tmux.die(a, tmuxtest.Exit{Status: 1})
		_, err := w.step(w.ctx, r.ID)
		require.Error(t, err, "other news are not stored")
		assert.Equal(t, session.Failed, w.get(r.ID).State)
		w.restart()
		_, err = w.step(w.ctx, r.ID)
		require.Error(t, err)
		w.news.fail = nil
		_, err = w.step(w.ctx, r.ID)
		require.NoError(t, err)
		assert.Equal(t, session.Failed, w.get(r.ID).State)
		assert.Empty(t, w.get(r.ID).News)
		assert.Equal(t, 1, toldOf[news.Failed](w.news))
	})
}

// A quiet session costs nothing: no timer, no check.
func TestIdleSessionIsNotPolled(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.started()
		w.pass(time.Minute)
		before := len(w.tmux.Calls())
		w.pass(24 * time.Hour)
		assert.Len(t, w.tmux.Calls(), before)
	})
}

// An error of one step is tried again, slowly.
func TestFailedStepIsRetried(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.news.fail = func(n news.News) error {
			if _, is := n.(news.Ready); is {
				return errors.New("disk full")
			}
			return nil
		}
		r, _ := w.starting()
		w.report(r)
		w.pass(time.Minute)
		assert.Len(t, w.get(r.ID).News, 1)
		w.news.mu.Lock()
		w.news.fail = nil
		w.news.mu.Unlock()
		w.pass(5 * time.Minute) // the pause grows
		assert.Empty(t, w.get(r.ID).News)
		assert.Equal(t, 1, toldOf[news.Ready](w.news))
	})
}
