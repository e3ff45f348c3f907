package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux/tmuxtest"
)

// The record that comes with news of an end has ended, also while other news of the session are
// sent at once.
func TestP5_NewsComeAfterTheirRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.order.onPoint(func(point string) {
			if point != "news-saved" {
				return
			}
			for _, r := range w.Store.List() {
				for _, n := range r.News {
					told, err := news.Decode(n.Kind, n.Body)
					require.NoError(t, err)
					if _, ready := told.(news.Ready); ready {
						assert.Equal(t, session.Running, r.State)
					}
				}
			}
		})
		r, a := w.started()
		w.tmux.die(a, tmuxtest.Exit{})
		w.pass(time.Minute)
		s, _ := lastHeard[news.Ended](w.news)
		assert.Equal(t, session.Completed, s.State)
		assert.False(t, s.EndedAt.IsZero())

		_, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(w.get(r.ID))
		w.pass(time.Second)
		w.archive(w.get(r.ID))
		s, _ = lastHeard[ending.Receipt](w.news)
		assert.Equal(t, session.Archived, s.State)
		assert.Empty(t, w.get(r.ID).News)
	})
}

// News that the chat takes late have the session as it was when they were stored, also after a
// restart: a session that was brought back meanwhile is still reported to have ended. What people
// call it, and where it is shown, is as it is now.
func TestP5_LateNewsShowTheirMoment(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.started()
			take := w.refuseKept()
			w.tmux.die(a, tmuxtest.Exit{Status: 3})
			w.pass(time.Minute)
			ended := w.get(r.ID)
			require.Equal(t, session.Completed, ended.State)
			_, err := w.restoreIt(r.ID)
			require.NoError(t, err)
			w.edit(r.ID, func(r *session.Record) { r.Name, r.Conversation.ThreadID = "called otherwise", 77 })
			if restarts {
				w.restart()
				w.comeBack()
			}
			take()
			w.pass(6 * time.Minute)
			s, _ := lastHeard[news.Ended](w.news)
			assert.Equal(t, session.Completed, s.State)
			require.NotNil(t, s.Exit)
			assert.Equal(t, 3, s.Exit.Status)
			assert.Equal(t, ended.EndedAt, s.EndedAt)
			assert.Equal(t, ended.LastNews, s.LastNews)
			assert.Equal(t, "called otherwise", s.Name)
			assert.EqualValues(t, 77, s.Conversation.ThreadID)
			assert.True(t, w.get(r.ID).State.Live())
		})
	}
}

// A record without views, or with the view of another program, still delivers its news.
func TestP8_NewsOfOtherProgramsAreDelivered(t *testing.T) {
	for _, view := range []string{"", "{", `{"State":5}`} {
		inWorld(t, func(t *testing.T, w *world) {
			r, _ := w.started()
			w.edit(r.ID, func(r *session.Record) {
				require.NoError(t, r.AddNews("Switched", "{}", w.Now()))
				r.News[len(r.News)-1].View = view
			})
			w.restart()
			w.comeBack()
			w.pass(6 * time.Minute)
			s, _ := lastHeard[news.Switched](w.news)
			assert.Equal(t, w.get(r.ID).LastNews, s.LastNews)
			assert.Equal(t, session.Running, s.State)
			assert.Empty(t, w.get(r.ID).News)
		})
	}
}

// A kill between any two steps of news repeats them and loses none; a chat that knows their number
// shows each once, in order.
func TestP8_NewsComeOnceInOrderOverCrashes(t *testing.T) {
	base := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		inWorldAt(t, fmt.Sprintf("%s/%d", base, runs), func(t *testing.T, w *world) {
			r, _ := w.starting()
			w.report(r)
			w.pass(time.Second)
			want, done := []string{"news.Ready"}, false
			for range rapid.IntRange(1, 6).Draw(rt, "acts") {
				point := rapid.SampledFrom([]string{"", "", "news-saved", "news-told", "news-acknowledged", "stop-recorded", "end-recorded", "ended"}).Draw(rt, "dies at")
				w.order.onPoint(func(name string) {
					if name == point {
						panic("killed at " + point)
					}
				})
				refuses := point == "" && rapid.Bool().Draw(rt, "the chat refuses")
				w.news.set(func(n *heardNews) {
					n.fail = func(told news.News) error {
						if refuses && news.IsKept(told) {
							return errors.New("disk full")
						}
						return nil
					}
				})
				switch {
				case done:
					_, _ = w.restoreIt(r.ID)
					w.report(w.get(r.ID))
					w.pass(time.Second)
					want = append(want, "news.Ready")
				case rapid.Bool().Draw(rt, "by itself"):
					w.tmux.die(w.tmux.agentOf(w.get(r.ID)), tmuxtest.Exit{})
					w.pass(time.Second)
					want = append(want, "news.Ended")
				default:
					_ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})
					want = append(want, "ending.Receipt")
				}
				done = !done
				if point != "" { // the process is another one from here on
					w.restart()
				}
				w.order.onPoint(nil)
				w.news.set(func(n *heardNews) { n.fail = nil })
				if point != "" {
					w.comeBack()
				}
				w.pass(6 * time.Minute)
			}
			var got []string
			for _, h := range w.news.all() {
				if kind := fmt.Sprintf("%T", h.news); slices.Contains([]string{"news.Ready", "news.Ended", "ending.Receipt"}, kind) {
					got = append(got, kind)
				}
			}
			assert.Equal(t, want, got)
			w.stop()
			require.NoError(t, w.Store.SaveKept(w.ctx))
			w.restart()
			assert.Empty(t, w.get(r.ID).News, "the chat has all")
		})
	})
}

// An end that a fault cuts short is reported by the step that finishes it.
func TestP5_EndCutShortIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("ClosePane", errors.New("busy"))
		w.tmux.die(a, tmuxtest.Exit{})
		w.pass(time.Minute)
		require.Equal(t, session.Completed, w.get(r.ID).State)
		assert.Equal(t, 1, toldOf[news.Ended](w.news))
		assert.Empty(t, w.get(r.ID).News)
	})
}

// refuseKept makes the chat take no kept news until the returned function is called.
func (w *world) refuseKept() (take func()) {
	w.news.set(func(n *heardNews) {
		n.fail = func(told news.News) error {
			if _, receipt := told.(ending.Receipt); receipt || news.IsKept(told) {
				return errors.New("the chat cannot be reached")
			}
			return nil
		}
	})
	return func() { w.news.set(func(n *heardNews) { n.fail = nil }) }
}

// While the chat takes no news, an agent that has survived its archive is still ended.
func TestP3_CleanupDoesNotWaitForChat(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		take := w.refuseKept()
		r, a := w.survived()
		w.processes.YieldsTo(a.id.PID, process.HowKill)
		w.pass(time.Hour)
		assert.Equal(t, session.Completed, w.get(r.ID).State)
		assert.Len(t, w.get(r.ID).News, 3, "ready, and two receipts")
		take()
		w.pass(6 * time.Minute)
		assert.Equal(t, 2, toldOf[ending.Receipt](w.news))
		assert.Empty(t, w.get(r.ID).News)
	})
}

// A session with as many news as a record holds is still archived: its processes end, and the
// record says so as soon as the chat takes news.
func TestP3_FullNewsHoldNoEndForever(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		take := w.refuseKept()
		w.edit(r.ID, func(r *session.Record) {
			for r.AddNews("Ready", "{}", w.Now()) == nil {
			}
		})
		_ = w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"})
		assert.Equal(t, process.Gone, w.processes.Liveness(a.id))
		w.pass(time.Minute)
		require.Equal(t, session.Stopping, w.get(r.ID).State)
		take()
		w.pass(6 * time.Minute)
		assert.Equal(t, session.Archived, w.get(r.ID).State)
		assert.Equal(t, 1, toldOf[ending.Receipt](w.news))
		assert.Empty(t, w.get(r.ID).News)
	})
}
