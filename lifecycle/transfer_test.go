package lifecycle

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// crashed has a running session whose agent and window have gone while ccbot was
// away. The Service does not run.
func (w *world) crashed() session.Record {
	w.t.Helper()
	r, a := w.started()
	w.write(r, userLine("earlier"))
	w.restart()
	w.processes.Exit(a.id.PID)
	w.tmux.ClosePaneByHand(a.pane)
	return w.get(r.ID)
}

// wentOn is such a session with whose conversation a person continues by hand.
func (w *world) wentOn() (session.Record, hand) {
	w.t.Helper()
	r := w.crashed()
	h := w.tmux.byHand(resume(r.AgentSessionID)...)
	h.set(func(a *agent) { a.onEnter = func(a *agent) { w.write(r, userLine(a.said[len(a.said)-1])) } })
	return r, h
}

// wait puts held prompts into the queue of a session.
func (w *world) wait(r session.Record, keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		w.held(r, key, "text of "+key)
	}
}

func transferOf(r session.Record, who process.Identity) AdoptRequest {
	return AdoptRequest{Agent: who, AgentSessionID: r.AgentSessionID, From: r.ID, Rule: "resume.test", Why: "it came back"}
}

// transfer is a transfer as recovery requests it.
func (w *world) transfer(r session.Record, who process.Identity) (session.Record, error) {
	return w.Adopt(w.ctx, transferOf(r, who))
}

// The record keeps all that belongs to the session, and loses what belonged to the earlier agent.
// It is written once.
func TestP1_AdoptingBindsTheSameRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		parent, other := uuid.New(), process.Identity{PID: 99, Start: 1, Boot: boot}
		w.write(r, assistantLine) // the chat has yet to show it
		w.edit(r.ID, func(r *session.Record) {
			r.Name, r.Owner, r.Conversation = "mine", 8, session.Conversation{ChatID: -5, ThreadID: 3}
			r.EarlierSessionIDs, r.ForkOf = []uuid.UUID{parent}, parent
			r.Launch = &session.Launch{Command: "claude", Flags: []string{"--model", "x"}, PermissionMode: "ask"}
			r.GitStart, r.GitNow = &git.State{Root: "/a"}, &git.State{Root: "/b"}
			r.Origin, r.NameDue = "u-1", true
			r.ReportsAt, r.HookDigest, r.Phase, r.PhaseWhat = w.Now(), "digest", "working", "Bash"
			r.ModeRequest, r.Interruption = &session.ModeRequest{Model: "x"}, &session.Interruption{At: w.Now()}
			r.Exit, r.Cleanup, r.GrowthReported = &session.Exit{}, &session.CleanupError{Processes: []process.Identity{other}}, true
		})
		w.wait(r, "k1", "k2")
		want := w.get(r.ID)
		w.states.remember(r.ID, func(m *stepState) { m.turn.phase = talk.PhaseWorking })
		saved := 0
		w.order.onPoint(func(point string) {
			if point == "news-saved" {
				saved++
				assert.NotNil(t, w.get(r.ID).Binding, "all is on disk before")
			}
		})
		got, err := w.transfer(r, h.id)
		require.NoError(t, err)
		assert.Equal(t, 1, saved)
		require.Len(t, w.Store.List(), 1)
		assert.Equal(t, got, w.get(r.ID))
		for _, field := range []struct{ want, got any }{
			{want.Name, got.Name}, {want.Dir, got.Dir}, {want.Conversation, got.Conversation}, {want.Owner, got.Owner}, {want.Origin, got.Origin},
			{want.AgentSessionID, got.AgentSessionID}, {want.EarlierSessionIDs, got.EarlierSessionIDs}, {want.ForkOf, got.ForkOf},
			{want.Prompts, got.Prompts}, {want.Launch, got.Launch}, {want.GitStart, got.GitStart}, {want.GitNow, got.GitNow},
			{want.Cursors, got.Cursors}, {want.CreatedAt, got.CreatedAt}, {session.Running, got.State},
		} {
			assert.Equal(t, field.want, field.got)
		}
		assert.True(t, got.ReportsAt.IsZero() && got.HookDigest == "" && got.Phase == "" && got.PhaseWhat == "" && got.ModeRequest == nil &&
			got.Interruption == nil && got.Exit == nil && got.Cleanup == nil && !got.GrowthReported && got.EndedAt.IsZero() && !got.EndedMoment.Valid())
		assert.False(t, got.NameDue, "the window is the person's")
		assert.Equal(t, stepState{agent: h.id}, w.states.recall(r.ID))
		assert.Equal(t, h.id, got.Binding.Agent)
		assert.Equal(t, h.shell.PID, got.Binding.Shell)
		assert.True(t, got.Binding.Adopted && got.SinceMoment.Valid())
		assert.False(t, got.ReadyAt.IsZero() || got.StartedAt.IsZero())
		last := got.History[len(got.History)-1]
		assert.Equal(t, session.Rule("resume.test"), last.Rule)
		assert.Equal(t, "it came back", last.Why)
		told, _ := lastHeard[news.Transferred](w.news)
		assert.Equal(t, r.ID, told.ID)
		assert.Equal(t, 1, toldOf[news.Transferred](w.news))
		assert.Zero(t, toldOf[news.Lost](w.news))
	})
}

// After a crash before or after the news the session is bound to the new agent: no prompt is lost
// or typed twice.
func TestP8_AdoptionCrashLosesNothing(t *testing.T) {
	for _, point := range []string{"news-saved", "news-told"} {
		inWorld(t, func(t *testing.T, w *world) {
			r, h := w.wentOn()
			w.wait(r, "k1", "k2")
			w.crash(point, func() {
				_, err := w.transfer(r, h.id)
				assert.Error(t, err)
			})
			assert.Equal(t, h.id, w.get(r.ID).Binding.Agent)
			w.wait(r, "k3")
			w.comeBack()
			w.pass(time.Minute)
			assert.Equal(t, []string{"text of k1", "text of k2", "text of k3"}, h.heard())
			assert.Equal(t, 1, toldOf[news.Transferred](w.news))
			assert.Zero(t, w.news.ghosts()+w.news.seconds()+toldOf[news.Lost](w.news))
		})
	}
}

// An adoption that the chat does not take is made, and reported later.
func TestP8_UnreportedAdoptionIsReportedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		full := errors.New("disk full")
		w.news.set(func(n *heardNews) { n.fail = func(news.News) error { return full } })
		_, err := w.transfer(r, h.id)
		require.ErrorIs(t, err, full, "other news are not stored")
		assert.Equal(t, h.id, w.get(r.ID).Binding.Agent)
		w.news.set(func(n *heardNews) { n.fail = nil })
		w.run()
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.Transferred](w.news))
	})
}

// A session that moves again and again keeps its record.
func TestTransferredSessionMovesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		for range 3 {
			got, err := w.transfer(w.get(r.ID), h.id)
			require.NoError(t, err)
			assert.Equal(t, r.ID, got.ID)
			w.tmux.quit(h)
			w.tmux.ClosePaneByHand(h.pane)
			h = w.tmux.byHand(resume(r.AgentSessionID)...)
		}
		assert.Len(t, w.Store.List(), 1)
	})
}

// Its window holds nothing but the end of its agent. It stays until the new binding is on disk.
func TestTransferClosesSourcesDeadPane(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.restart()
		w.tmux.die(a, tmuxtest.Exit{Status: 1})
		h := w.tmux.byHand(resume(r.AgentSessionID)...)
		w.order.onPoint(func(point string) {
			if point == "news-saved" {
				_, err := w.tmux.Fake.Pane(w.ctx, a.pane)
				require.NoError(t, err)
			}
		})
		_, err := w.transfer(r, h.id)
		require.NoError(t, err)
		_, err = w.tmux.Fake.Pane(w.ctx, a.pane)
		require.ErrorIs(t, err, tmux.ErrNoPane)
		_, err = w.tmux.Fake.Pane(w.ctx, h.pane)
		assert.NoError(t, err)
	})
}

// The prompts that waited are typed where the session is now, in their order, and
// each once.
func TestP4_HeldPromptsMoveWithTheirSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "k1", "k2", "k3")
		require.NoError(t, w.prompts.FinishPrompt("k2"))
		got, err := w.transfer(r, h.id)
		require.NoError(t, err)
		w.run()
		w.pass(time.Minute)
		assert.Equal(t, []string{"text of k1", "text of k3"}, h.heard())
		assert.Empty(t, w.get(got.ID).Prompts)
	})
}

// A prompt being typed at the agent's end is settled first: the next agent's screen proves nothing
// for it.
func TestP4_TransferSettlesPromptFirst(t *testing.T) {
	for name, has := range map[string]bool{"received": true, "not received": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Typing, Mark: &talk.Mark{At: time.Now(), Enters: 1}})
				w.edit(r.ID, func(r *session.Record) { r.Prompts = []string{"k"} })
				if has {
					w.write(r, userLine(viewtest.Said))
				}
				_, err := w.transfer(r, h.id)
				require.NoError(t, err)
				w.run()
				w.pass(time.Hour)
				assert.Empty(t, h.heard(), "it is never typed again unasked")
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

// An answer that the chat has not shown is shown; a shown one is not repeated.
func TestP5_TransferContinuesAtCursor(t *testing.T) {
	for name, shown := range map[string]bool{"all of it was shown": true, "an answer was not shown yet": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				w.write(r, assistantLine)
				path := w.transcript(r.AgentSessionID)
				end, err := jsonl.End(path)
				require.NoError(t, err)
				if shown {
					require.NoError(t, w.Advance(w.ctx, r.ID, end))
				}
				got, err := w.transfer(r, h.id)
				require.NoError(t, err)
				want := talk.Cursor{Path: path}
				if shown {
					want = end
				}
				assert.Equal(t, []talk.Cursor{want}, got.Cursors)
			})
		})
	}
}

// The chat has more of a transcript than the file now holds: the cursor stays beyond the end, where
// the chat's reader finds that the file was replaced, reports it and continues at the end. A cursor
// that moved back to the end would hide it, and the next start would take the later one again.
func TestP5_TransferMovesNoCursorBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.write(r, assistantLine)
		path := w.transcript(r.AgentSessionID)
		shown, err := jsonl.End(path)
		require.NoError(t, err)
		require.NoError(t, w.Advance(w.ctx, r.ID, shown))
		require.NoError(t, os.Truncate(path, shown.Offset-int64(len(assistantLine))-1))
		got, err := w.transfer(r, h.id)
		require.NoError(t, err)
		assert.Equal(t, []talk.Cursor{shown}, got.Cursors)
	})
}

func TestP1_TransferableSessions(t *testing.T) {
	gone := func(*world, session.Record) {}
	tests := []struct {
		name         string
		state        session.State
		spoil        func(w *world, r session.Record)
		asked, alone bool // whether it works with and without a person's decision
	}{
		{"running, its agent is gone", session.Running, gone, true, true},
		{"running, bound to nothing", session.Running, func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding = nil })
		}, true, true},
		{"running, nobody knows of its agent", session.Running, func(w *world, r session.Record) {
			w.processes.Hide(r.Binding.Agent.PID, errors.New("permission denied"))
		}, false, false},
		{"running, its agent lives", session.Running, func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Agent = w.processes.StartNow(777, []string{"claude"}) })
		}, false, false},
		{"lost", session.Lost, gone, true, true},
		{"failed", session.Failed, gone, true, true},
		{"abandoned", session.Abandoned, gone, true, true},
		{"archived", session.Archived, gone, true, false},
		{"completed", session.Completed, gone, true, false},
		{"cleanup failed", session.CleanupFailed, gone, false, false},
		{"starting", session.Starting, gone, false, false},
		{"restoring", session.Restoring, gone, false, false},
		{"stopping", session.Stopping, gone, false, false},
	}
	for _, tc := range tests {
		for name, asked := range map[string]bool{"asked": true, "unasked": false} {
			t.Run(tc.name+", "+name, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r, h := w.wentOn()
					tc.spoil(w, r)
					w.edit(r.ID, func(r *session.Record) { r.State = tc.state })
					q := transferOf(r, h.id)
					q.Confirmed = asked
					got, err := w.Adopt(w.ctx, q)
					if asked && tc.asked || !asked && tc.alone {
						require.NoError(t, err)
						assert.Equal(t, r.ID, got.ID)
						assert.Equal(t, asked, lastOf[news.Transferred](w.news).ByPerson)
						return
					}
					var wrong *StateError
					require.ErrorAs(t, err, &wrong)
					assert.Equal(t, tc.state, wrong.State)
					assert.Len(t, w.Store.List(), 1)
				})
			})
		}
	}
}

// Without a tap only proven and unreported writers are moved.
func TestP1_TransfersNeedingDecision(t *testing.T) {
	told := (*WriterError)(nil)
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, h hand) AdoptRequest
		want  any
	}{
		{"who was told as a second writer", func(w *world, r session.Record, h hand) AdoptRequest {
			w.edit(r.ID, func(r *session.Record) { r.SecondWriters = []process.Identity{h.id} })
			return transferOf(r, h.id)
		}, &told},
		{"whom only its command line proves", func(_ *world, r session.Record, h hand) AdoptRequest {
			h.set(func(a *agent) { a.silent = true })
			return transferOf(r, h.id)
		}, ErrChanged},
		{"another conversation than the session's", func(_ *world, r session.Record, h hand) AdoptRequest {
			q := transferOf(r, h.id)
			q.AgentSessionID = uuid.New()
			h.set(func(a *agent) { a.session = q.AgentSessionID })
			return q
		}, ErrChanged},
		{"one that the session had earlier", func(w *world, r session.Record, h hand) AdoptRequest {
			w.edit(r.ID, func(r *session.Record) {
				r.EarlierSessionIDs, r.AgentSessionID = []uuid.UUID{r.AgentSessionID}, uuid.New()
			})
			return transferOf(r, h.id)
		}, ErrChanged},
		{"a window of another ccbot", func(w *world, r session.Record, h hand) AdoptRequest {
			w.tmux.Change(h.pane, tagged("other/"+uuid.NewString()))
			return transferOf(r, h.id)
		}, ErrNoTerminal},
		{"beside another writer", func(w *world, r session.Record, h hand) AdoptRequest {
			w.tmux.byHand(resume(r.AgentSessionID)...)
			return transferOf(r, h.id)
		}, &told},
		{"beside an open session of the conversation", func(w *world, r session.Record, h hand) AdoptRequest {
			other, _ := w.starting()
			w.edit(other.ID, func(o *session.Record) { o.AgentSessionID = r.AgentSessionID })
			return transferOf(r, h.id)
		}, &told},
		{"while the evidence cannot be read", func(w *world, r session.Record, h hand) AdoptRequest {
			w.presences.fail(errors.New("permission denied"))
			return transferOf(r, h.id)
		}, evidence.ErrUnreadable},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, h := w.wentOn()
				q := tc.spoil(w, r, h)
				before := w.Store.List()
				_, err := w.Adopt(w.ctx, q)
				if want, ok := tc.want.(error); ok {
					require.ErrorIs(t, err, want)
				} else {
					require.ErrorAs(t, err, tc.want)
				}
				assert.Equal(t, before, w.Store.List(), "nothing has changed, and nobody counts as told")
				assert.Zero(t, toldOf[news.Transferred](w.news))
			})
		})
	}
}

// ---- at once

func TestP1_ConcurrentTransfersHaveOneWinner(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		w.wait(r, "k")
		ids := make([]uuid.UUID, 12)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				q := transferOf(r, h.id)
				q.Confirmed = rand.IntN(2) == 0
				got, err := w.Adopt(w.ctx, q)
				assert.NoError(t, err)
				ids[i] = got.ID
			})
		}
		wg.Wait()
		require.Len(t, w.Store.List(), 1)
		for _, id := range ids {
			assert.Equal(t, r.ID, id)
		}
		assert.Equal(t, 1, toldOf[news.Transferred](w.news))
		again, err := w.transfer(w.get(ids[0]), h.id)
		require.NoError(t, err, "it is that session's agent already")
		assert.Equal(t, ids[0], again.ID)
	})
}

func TestP1_TransferAndRestoreMakeOneWriter(t *testing.T) {
	for range 8 {
		inWorld(t, func(t *testing.T, w *world) {
			r, h := w.wentOn()
			w.edit(r.ID, func(r *session.Record) { r.State = session.Lost })
			var adopted session.Record
			var wg sync.WaitGroup
			var failed [2]error
			wg.Go(func() { adopted, failed[0] = w.adoptIt(r, h.id) })
			wg.Go(func() { _, failed[1] = w.restoreIt(r.ID) })
			wg.Wait()
			require.NoError(t, failed[0], "a restore beside a writer is refused, whoever is first")
			assert.Error(t, failed[1])
			assert.Equal(t, []process.Identity{h.id}, w.writing(r.AgentSessionID))
			assert.Equal(t, h.id, adopted.Binding.Agent)
			assert.Empty(t, w.tmux.windows()[1:])
		})
	}
}

func TestP8_WaitForBusyWorkerHasTimeout(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.wentOn()
		q := transferOf(r, h.id)
		q.Timeout = 5 * time.Second
		hold := func(during func()) {
			require.NoError(t, w.Store.Do(w.ctx, r.ID, func(*session.Record, func() error) error { during(); return nil }))
		}
		hold(func() {
			_, err := w.Adopt(w.ctx, q)
			require.ErrorIs(t, err, ErrBusy)
			ended, cancel := context.WithTimeout(w.ctx, time.Second)
			defer cancel()
			_, err = w.Adopt(ended, q)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, ErrBusy, "it is the caller who ended the wait")
		})
		release, err := w.agenda.holdConversation(w.ctx, r.AgentSessionID)
		require.NoError(t, err)
		_, err = w.Adopt(w.ctx, q)
		require.ErrorIs(t, err, ErrBusy)
		release()
		_, err = w.Adopt(w.ctx, q)
		assert.NoError(t, err)
	})
}

func tagged(tag string) func(*tmux.Pane) { return func(p *tmux.Pane) { p.Tag = tag } }
