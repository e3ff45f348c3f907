package lifecycle

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// behindDraft returns a session with a person's draft in its box, and a waiting prompt.
func (w *world) behindDraft(text string) (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	a.set(func(a *agent) { a.box = text })
	w.held(r, "k", viewtest.Said)
	w.pass(2*time.Second + time.Second)
	require.Equal(w.t, 1, w.news.held(news.HeldDraft))
	require.Empty(w.t, w.tmux.Inputs(a.pane))
	return r, a
}

// keys returns the changes of boxes and the reports of drafts.
func (o *order) keys() []string {
	return slices.DeleteFunc(o.all(), func(s string) bool {
		word, _, _ := strings.Cut(s, " ")
		return !slices.Contains([]string{"press", "paste", "enter"}, word) && s != "tell news.DraftCleared"
	})
}

func TestP7_SendAnywayReportsThenClearsDraft(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("half a thought")
		require.NoError(t, w.SendAnyway(w.ctx, r.ID, "k"))
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "the draft was neither sent nor merged")
		assert.Equal(t, []string{"tell news.DraftCleared", "press C-u", "paste " + viewtest.Said, "enter"}, w.order.keys())
		told, n := lastHeard[news.DraftCleared](w.news)
		assert.Equal(t, "half a thought", n.Draft)
		assert.Equal(t, r.ID, told.ID)
		assert.Equal(t, 1, toldOf[news.DraftCleared](w.news))
	})
}

// The person has taken the draft out in between.
func TestSendAnywayWithoutDraftTypes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("half a thought")
		a.set(func(a *agent) { a.box = "" })
		require.NoError(t, w.SendAnyway(w.ctx, r.ID, "k"))
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Zero(t, toldOf[news.DraftCleared](w.news))
		assert.NotContains(t, w.order.keys(), "press C-u")
	})
}

// TestP7_LeaveViewTypesAfterTheProof leaves a scrolled view. No key goes to the mode; the prompt is
// typed as always.
func TestP7_LeaveViewTypesAfterTheProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		require.Equal(t, 1, w.news.held(news.HeldScroll), "at once")
		require.Empty(t, w.tmux.Inputs(a.pane))
		require.NoError(t, w.LeaveView(w.ctx, r.ID, "k"))
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, []string{"paste " + viewtest.Said, "enter"}, w.order.keys())
		assert.ErrorIs(t, w.LeaveView(w.ctx, r.ID, "k"), fs.ErrNotExist, "it is typed")
	})
}

// The dialog opens while the window is scrolled back; another program gets no key either.
func TestP7_LeaveViewSparesDialog(t *testing.T) {
	for name, spoil := range map[string]func(w *world, a *agent) error{
		"a dialog": func(_ *world, a *agent) error {
			a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
			return nil
		},
		"another program": func(w *world, a *agent) error {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Command = "vim" })
			return typing.ErrBoxBusy
		},
		"a mode that stays": func(w *world, _ *agent) error {
			w.tmux.Fail("LeaveView", tmux.ErrGuard)
			return typing.ErrBoxBusy
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				want := spoil(w, a)
				assert.ErrorIs(t, w.LeaveView(w.ctx, r.ID, "k"), want)
				w.pass(time.Minute)
				assert.Empty(t, w.tmux.Inputs(a.pane))
				assert.Equal(t, typing.Held, w.prompts.state("k"))
			})
		})
	}
}

func TestP7_SendAnywayRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, r session.Record, a *agent)
		want  error
	}{
		{"a dialog", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.dialog, a.status = true, presence.Waiting })
		}, typing.ErrBoxBusy},
		{"a dialog that presence does not tell yet", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.dialog = true })
		}, typing.ErrBoxBusy},
		{"a turn", func(_ *world, _ session.Record, a *agent) { a.set(works) }, typing.ErrBoxBusy},
		{"bash mode", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.shell, a.box = true, "rm -r x" })
		}, typing.ErrBoxBusy},
		{"bash mode without a command", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.shell, a.box = true, "" })
		}, typing.ErrBoxBusy},
		{"an unknown screen", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.hidden = true }) }, typing.ErrBoxBusy},
		{"an unreadable presence file", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		}, typing.ErrBoxBusy},
		{"somebody scrolls", func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.InMode = true })
		}, typing.ErrBoxBusy},
		{"another program in front", func(w *world, _ session.Record, a *agent) {
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Command = "vim" })
		}, typing.ErrBoxBusy},
		{"tmux does not answer", func(w *world, _ session.Record, _ *agent) { w.tmux.Fail("Server", tmux.ErrLost) }, view.ErrSilent},
		{"a folded draft", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.folded = true }) }, typing.ErrDraftHidden},
		{"not ready yet", func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.State = session.Starting })
		}, typing.ErrBoxBusy},
		{"finished meanwhile", func(w *world, _ session.Record, _ *agent) { _ = w.prompts.FinishPrompt("k") }, fs.ErrNotExist},
		{"typed meanwhile", func(w *world, _ session.Record, _ *agent) {
			w.prompts.put(typing.Prompt{Key: "k", Text: viewtest.Said, State: typing.Typing, Mark: &talk.Mark{At: time.Now()}})
		}, fs.ErrNotExist},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.behindDraft("half a thought")
				w.stop() // no step in between
				tc.spoil(w, r, a)
				assert.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), tc.want)
				assert.Empty(t, w.tmux.Inputs(a.pane))
				assert.Zero(t, toldOf[news.DraftCleared](w.news), "told of a draft that stays")
			})
		})
	}
}

// The button is for one prompt: not for the next one, nor for another day.
func TestSendAnywayNeedsFirstPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("half a thought")
		w.held(r, "second", "another")
		for _, key := range []string{"second", "gone", ""} {
			assert.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, key), fs.ErrNotExist, key)
		}
		assert.ErrorIs(t, w.SendAnyway(w.ctx, uuid.New(), "k"), session.ErrNotFound)
		assert.Empty(t, w.tmux.Inputs(a.pane))
	})
}

// An unreported draft is not cleared.
func TestP7_UnreportedDraftStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("half a thought")
		w.news.set(func(n *heardNews) { n.fail = func(news.News) error { return errors.New("disk full") } })
		assert.Error(t, w.SendAnyway(w.ctx, r.ID, "k"))
		assert.Empty(t, w.tmux.Inputs(a.pane))
		assert.Equal(t, "half a thought", a.box)
	})
}

// The person types on while the draft is reported, so the box no longer has the reported text.
func TestP7_DraftChangedDuringReportStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("half a thought")
		w.news.set(func(n *heardNews) {
			n.fail = func(n news.News) error {
				if _, is := n.(news.DraftCleared); is {
					a.set(func(a *agent) { a.box += " and more" })
				}
				return nil
			}
		})
		assert.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), typing.ErrBoxBusy)
		assert.Empty(t, w.tmux.Inputs(a.pane))
		assert.Equal(t, "half a thought and more", a.box)
	})
}

// The box is proven empty before anything is typed.
func TestP7_FullBoxGetsNoText(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world, a *agent)
	}{
		{"the key does not clear it", func(_ *world, a *agent) { a.set(func(a *agent) { a.stuck = true }) }},
		{"a dialog opens while it is cleared", func(w *world, a *agent) {
			a.set(func(a *agent) { a.onClear = func(a *agent) { a.dialog, a.status = true, presence.Waiting } })
		}},
		{"a turn begins while it is cleared", func(w *world, a *agent) {
			a.set(func(a *agent) { a.onClear = works })
		}},
		{"bash mode begins while it is cleared", func(w *world, a *agent) {
			a.set(func(a *agent) { a.onClear = func(a *agent) { a.shell = true } })
		}},
		{"tmux refuses the key", func(w *world, a *agent) {
			w.tmux.Fail("Press", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.behindDraft("half a thought")
				w.stop()
				tc.spoil(w, a)
				assert.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), typing.ErrBoxBusy)
				assert.NotContains(t, w.order.keys(), "paste "+viewtest.Said)
				assert.NotContains(t, w.order.keys(), "enter")
				assert.Equal(t, typing.Held, w.prompts.state("k"))
				assert.LessOrEqual(t, a.cleared, 2)
			})
		})
	}
}
