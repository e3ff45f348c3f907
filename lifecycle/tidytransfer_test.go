package lifecycle

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/news"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func tagged(tag string) func(*tmux.Pane) { return func(p *tmux.Pane) { p.Tag = tag } }

// ccbot dies at each step of a transfer and finishes it: nothing is lost, nothing
// is doubled, and once more changes nothing.
func TestP8_ACrashInATransferLosesAndDoublesNothing(t *testing.T) {
	finish := map[string]func(w *world, r session.Record, h hand){
		"by recovery": func(w *world, r session.Record, _ hand) {
			to, ok := w.successor(r.ID)
			require.True(w.t, ok)
			require.NoError(w.t, w.TidyTransfer(w.ctx, to.ID))
		},
		"by the next event": func(w *world, r session.Record, h hand) {
			_, err := w.transfer(r, h.id)
			if moved := (*MovedError)(nil); !errors.As(err, &moved) {
				require.NoError(w.t, err)
			}
		},
		"by the next look for writers": func(w *world, _ session.Record, _ hand) { require.NoError(w.t, w.noticeWriters(w.ctx)) },
	}
	for _, point := range []string{"target-recorded", "prompts-moved", "source-closed"} {
		for name, finish := range finish {
			t.Run(point+", "+name, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r, h := w.wentOn()
					w.wait(r, "k1", "k2")
					w.crash(point, func() {
						_, err := w.transfer(r, h.id)
						assert.Error(t, err)
					})
					finish(w, r, h)
					require.Len(t, w.Store.List(), 2)
					to, ok := w.successor(r.ID)
					require.True(t, ok)
					from := w.get(r.ID)
					assert.True(t, from.TransferDone())
					assert.Equal(t, session.Lost, from.State)
					assert.Equal(t, []string{"k1", "k2"}, to.Prompts)
					assert.Equal(t, to.ID, w.prompts.owner("k1"))
					assert.Equal(t, to.ID, w.prompts.owner("k2"))
					assert.Equal(t, 1, toldOf[news.Transferred](w.news))

					before := w.Store.List()
					require.NoError(t, w.TidyTransfer(w.ctx, to.ID))
					require.NoError(t, w.noticeWriters(w.ctx))
					assert.Equal(t, before, w.Store.List())
					w.comeBack()
					w.pass(time.Minute)
					assert.Equal(t, []string{"text of k1", "text of k2"}, h.heard())
					assert.Equal(t, 1, toldOf[news.Transferred](w.news))
					assert.Zero(t, w.news.ghosts()+w.news.seconds()+toldOf[news.Lost](w.news))
				})
			})
		}
	}
}

// A prompt that was accepted for the old record after the crash goes along.
func TestP4_APromptThatTheSuccessorDoesNotKnowGoesAlong(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "k1")
		w.crash("target-recorded", func() { _, _ = w.transfer(r, h.id) })
		w.wait(r, "k2") // it is still running, as far as anybody knows
		to, _ := w.successor(r.ID)
		require.NoError(t, w.TidyTransfer(w.ctx, to.ID))
		assert.Equal(t, []string{"k1", "k2"}, w.get(to.ID).Prompts)
		assert.Equal(t, to.ID, w.prompts.owner("k2"))
	})
}

func TestP4_APromptForAMovedSessionIsItsSuccessors(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		to, err := w.transfer(r, h.id)
		require.NoError(t, err)
		w.wait(r, "late")
		w.prompts.put(Prompt{Key: "found", Text: said, Class: ClassPrompt, State: Held})
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"late", "found", "finished"}))
		assert.Empty(t, w.get(r.ID).Prompts)
		assert.Equal(t, []string{"late", "found"}, w.get(to.ID).Prompts)
		assert.Equal(t, []uuid.UUID{to.ID, to.ID}, []uuid.UUID{w.prompts.owner("late"), w.prompts.owner("found")})

		w.prompts.set(func(p *promptStore) { p.stuck = errors.New("disk full") })
		assert.Error(t, w.Queue(w.ctx, r.ID, "late"))
		assert.Error(t, w.SettlePrompts(w.ctx, r.ID, []string{"late"}))
	})
}

// What an error has cut short is finished by the next look for writers.
func TestP8_ATransferThatFailedHalfwayIsFinished(t *testing.T) {
	tests := []struct {
		name   string
		break_ func(w *world, err error)
	}{
		{"the prompts cannot be moved", func(w *world, err error) { w.prompts.set(func(p *promptStore) { p.stuck = err }) }},
		{"it cannot be told", func(w *world, err error) {
			w.news.set(func(n *heardNews) {
				n.fail = func(n news.News) error {
					if _, is := n.(news.Transferred); is {
						return err
					}
					return nil
				}
			})
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				w.wait(r, "k")
				tc.break_(w, errors.New("disk full"))
				got, err := w.transfer(r, h.id)
				require.Error(t, err)
				assert.Equal(t, h.id, got.Binding.Agent, "the session lives")
				assert.Equal(t, session.Running, w.get(r.ID).State)
				assert.Error(t, w.noticeWriters(w.ctx))
				tc.break_(w, nil)
				require.NoError(t, w.noticeWriters(w.ctx))
				from := w.get(r.ID)
				assert.True(t, from.TransferDone())
				assert.Equal(t, got.ID, w.prompts.owner("k"))
				assert.Equal(t, 1, toldOf[news.Transferred](w.news))
			})
		})
	}
}

// While both records live, each prompt is still the source's: the target types
// nothing, and the source calls nothing lost. Their steps finish the transfer.
func TestP4_AHalfTransferIsFinishedBeforeAnythingElse(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "k1", "k2")
		w.prompts.set(func(p *promptStore) { p.stuck = errors.New("disk full") })
		to, err := w.transfer(r, h.id)
		require.Error(t, err)
		w.run() // not before: a step of the source alone calls it lost
		w.Wake(r.ID)
		w.pass(3 * time.Minute)
		assert.Empty(t, h.heard())
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Zero(t, toldOf[news.Lost](w.news)+toldOf[news.Unproven](w.news)+toldOf[news.Transferred](w.news))

		w.prompts.set(func(p *promptStore) { p.stuck = nil })
		w.pass(10 * time.Minute)
		from := w.get(r.ID)
		assert.True(t, from.TransferDone())
		assert.Equal(t, []string{"text of k1", "text of k2"}, h.heard())
		assert.Equal(t, to.ID, w.get(to.ID).ID)
		assert.Zero(t, toldOf[news.Lost](w.news)+toldOf[news.Unproven](w.news))
		assert.Equal(t, 1, toldOf[news.Transferred](w.news))
	})
}

// The source's step may have waited for its worker while the transfer failed.
func TestP4_AStepThatWaitedBehindAHalfTransferDoesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "k1")
		w.prompts.set(func(p *promptStore) { p.stuck = errors.New("disk full") })
		release, err := w.agenda.holdConversation(w.ctx, r.ClaudeSessionID)
		require.NoError(t, err)
		var failed error
		var wg sync.WaitGroup
		wg.Go(func() { _, failed = w.transfer(r, h.id) })
		synctest.Wait() // it has the worker
		wg.Go(func() {
			again, err := w.step(w.ctx, r.ID)
			assert.NoError(t, err)
			assert.NotZero(t, again)
		})
		synctest.Wait() // it has seen no transfer
		release()
		wg.Wait()
		require.Error(t, failed)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Zero(t, toldOf[news.Lost](w.news))
	})
}

// What cannot be read now must not keep the session in two records.
func TestP4_AnUnreadablePromptDoesNotHoldUpATransfer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "bad", "k")
		w.prompts.set(func(p *promptStore) { p.unreadable = "bad" })
		to, err := w.transfer(r, h.id)
		require.NoError(t, err)
		from := w.get(r.ID)
		assert.True(t, from.TransferDone())
		assert.Equal(t, to.ID, w.prompts.owner("k"))
		assert.Equal(t, []string{"bad", "k"}, w.get(to.ID).Prompts, "it is tried again")
		w.run()
		w.pass(time.Minute)
		assert.Equal(t, []string{"text of k"}, h.heard())
	})
}

// A file that was edited may name itself, or a ring: nobody took over there.
func TestP8_ARingOfTransfersClosesNothing(t *testing.T) {
	for n := 1; n <= 3; n++ {
		inWorld(t, func(t *testing.T, w *world) {
			all := []session.Record{w.crashed()}
			for range n - 1 {
				w.run()
				r, a := w.started()
				w.restart()
				w.processes.exit(a.id.PID)
				w.tmux.ClosePaneByHand(a.pane)
				all = append(all, r)
			}
			for i, r := range all {
				w.edit(r.ID, func(r *session.Record) { r.TookOver = all[(i+1)%n].ID })
				w.wait(r, "k"+r.ID.String())
			}
			require.NoError(t, w.noticeWriters(w.ctx))
			for _, r := range all {
				require.NoError(t, w.TidyTransfer(w.ctx, r.ID))
				_, half := w.halfMoved(w.get(r.ID))
				assert.False(t, half)
				assert.Empty(t, w.get(r.ID).Closed)
			}
			assert.Zero(t, toldOf[news.Transferred](w.news))
		})
	}
}

func TestTidyTransferOfNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		assert.ErrorIs(t, w.TidyTransfer(w.ctx, uuid.New()), session.ErrNotFound)
		r, _ := w.started()
		assert.NoError(t, w.TidyTransfer(w.ctx, r.ID), "it took over from nobody")
		w.edit(r.ID, func(r *session.Record) { r.TookOver = uuid.New() })
		assert.NoError(t, w.TidyTransfer(w.ctx, r.ID), "what it took over from was purged")
	})
}

// A file that was edited may name a session that lives.
func TestP2_TidyTransferClosesNothingThatLives(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		to, _ := w.started()
		w.edit(to.ID, func(t *session.Record) { t.TookOver = r.ID })
		var wrong *StateError
		require.ErrorAs(t, w.TidyTransfer(w.ctx, to.ID), &wrong)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// ---- what is left of the source

func TestP1_AMovedSessionIsNotBroughtBack(t *testing.T) {
	for _, point := range []string{"", "target-recorded"} {
		t.Run("crash at "+point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				if point == "" {
					_, err := w.transfer(r, h.id)
					require.NoError(t, err)
				} else {
					w.crash(point, func() { _, _ = w.transfer(r, h.id) })
				}
				to, _ := w.successor(r.ID)
				_, err := w.restoreIt(r.ID)
				var moved *MovedError
				require.ErrorAs(t, err, &moved)
				assert.Equal(t, to.ID, moved.To)
				q := transferOf(r, process.Identity{PID: 1, Start: 1, Boot: boot})
				q.Asked = true
				_, err = w.Adopt(w.ctx, q)
				require.ErrorAs(t, err, &moved)
				assert.Equal(t, to.ID, moved.To)
			})
		})
	}
}

// It was purged since: what is left says that there was one.
func TestP1_AMovedSessionWithoutItsSuccessorIsNotBroughtBackEither(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		to, err := w.transfer(r, h.id)
		require.NoError(t, err)
		require.NoError(t, w.Store.Remove(to.ID))
		var wrong *StateError
		_, err = w.restoreIt(r.ID)
		require.ErrorAs(t, err, &wrong)
		_, err = w.adoptIt(r, h.id)
		require.ErrorAs(t, err, &wrong)
		_, err = w.EndLeftovers(w.ctx, r.ID, "test")
		require.ErrorAs(t, err, &wrong)
		assert.ErrorIs(t, w.Queue(w.ctx, r.ID, "k"), ErrNoAgent)
		assert.Equal(t, r.Name, w.freeName(r.Name, uuid.Nil), "it keeps no name")
	})
}

// A session that moves again and again is found from each of its records.
func TestATransferredSessionMovesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		ids := []uuid.UUID{r.ID}
		for range 3 {
			got, err := w.transfer(w.get(ids[len(ids)-1]), h.id)
			require.NoError(t, err)
			ids = append(ids, got.ID)
			w.tmux.quit(h)
			w.tmux.ClosePaneByHand(h.pane)
			h = w.tmux.byHand(resume(r.ClaudeSessionID)...)
		}
		for _, id := range ids[:3] {
			to, ok := w.successor(id)
			assert.True(t, ok)
			assert.Equal(t, ids[3], to.ID)
		}
		w.edit(ids[0], func(r *session.Record) { r.TookOver = ids[3] })
		_, ok := w.successor(ids[1])
		assert.True(t, ok, "a ring has an end")
	})
}

// Its window holds nothing but the end of its agent.
func TestATransferClosesTheDeadPaneOfItsSource(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart()
		w.tmux.die(a, tmuxtest.Exit{Status: 1})
		h := w.tmux.byHand(resume(r.ClaudeSessionID)...)
		_, err := w.transfer(r, h.id)
		require.NoError(t, err)
		_, err = w.tmux.Fake.Pane(w.ctx, a.pane)
		require.ErrorIs(t, err, tmux.ErrNoPane)
		_, err = w.tmux.Fake.Pane(w.ctx, h.pane)
		assert.NoError(t, err)
	})
}
