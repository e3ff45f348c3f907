package lifecycle

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/tmux"
)

// windowName returns the name of an agent's window.
func (w *world) windowName(a *agent) string {
	w.t.Helper()
	p, err := w.tmux.Fake.Pane(w.ctx, a.pane)
	require.NoError(w.t, err)
	return p.WindowName
}

func TestRenameReachesTheWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		require.NoError(t, w.Service.Rename(w.ctx, r.ID, "web"))
		w.pass(view.Soon)
		got := w.get(r.ID)
		assert.Equal(t, "web", got.Name)
		assert.Equal(t, []string{r.Name}, got.FormerNames)
		assert.Empty(t, got.NamedBy)
		assert.Equal(t, "web", w.windowName(a))
		assert.False(t, got.NameDue)

		require.NoError(t, w.Service.Rename(w.ctx, r.ID, "web"), "the same again")
		require.NoError(t, w.Service.Rename(w.ctx, r.ID, r.Name), "and back")
		w.pass(view.Soon)
		assert.Equal(t, []string{"web"}, w.get(r.ID).FormerNames)
		assert.Equal(t, r.Name, w.windowName(a))
	})
}

// TestP8_RenameIsFinishedAfterCrash: the name is on disk first, and the window gets it at the
// start.
func TestP8_RenameIsFinishedAfterCrash(t *testing.T) {
	for _, tt := range []struct {
		name string
		dies func(w *world, id uuid.UUID)
	}{
		{"the window has the old name", func(w *world, id uuid.UUID) { require.NoError(w.t, w.Service.Rename(w.ctx, id, "web")) }},
		{"nobody knows that the window has the new one", func(w *world, id uuid.UUID) {
			require.NoError(w.t, w.Service.Rename(w.ctx, id, "web"))
			_, err := w.step(w.ctx, id)
			require.NoError(w.t, err)
			w.edit(id, func(r *session.Record) { r.NameDue = true })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.restart()
				tt.dies(w, r.ID)
				require.True(t, w.get(r.ID).NameDue)
				w.restart()
				w.comeBack()
				w.pass(view.Soon)
				assert.Equal(t, "web", w.get(r.ID).Name)
				assert.Equal(t, "web", w.windowName(a))
				assert.False(t, w.get(r.ID).NameDue)
			})
		})
	}
}

func TestFailedWindowRenameBlocksNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Rename", errors.New("refused"))
		require.NoError(t, w.Service.Rename(w.ctx, r.ID, "web"))
		w.pass(view.Soon)
		assert.Contains(t, w.logged(), "window_not_renamed")
		w.Wake(r.ID)
		w.pass(view.Soon)
		assert.Equal(t, "web", w.windowName(a), "the next step tries again")
	})
}

// TestP2_PersonsWindowKeepsName: an adopted one, and one into which a person has moved the pane.
func TestP2_PersonsWindowKeepsName(t *testing.T) {
	for name, change := range map[string]func(w *world, r session.Record){
		"adopted": func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Binding.Adopted = true })
		},
		"without our tag": func(w *world, r session.Record) { w.tmux.Fail("Rename", &tmux.GuardError{Got: "another"}) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				change(w, r)
				require.NoError(t, w.Service.Rename(w.ctx, r.ID, "web"))
				w.pass(view.Soon / 2)
				assert.Equal(t, "web", w.get(r.ID).Name)
				assert.Equal(t, r.Name, w.windowName(a))
			})
		})
	}
}

func TestFirstPromptMakesName(t *testing.T) {
	for _, tt := range []struct {
		name    string
		asked   string // /new NAME
		prompts []string
		want    string
		by      session.Namer
	}{
		{"the first prompt", "", []string{"Fix the login test", "and now the docs"}, "-fix-login-test", session.NamedByPrompt},
		{"what says nothing is passed over", "", []string{"/compact", "hello", "Fix the login test"}, "-fix-login-test", session.NamedByPrompt},
		{"nothing yet", "", []string{"hello"}, "", session.NamedByFolder},
		{"a person's name stays", "mine", []string{"Fix the login test"}, "mine", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				folder := r.Name
				w.edit(r.ID, func(r *session.Record) {
					r.NamedBy = session.NamedByFolder
					if tt.asked != "" {
						r.Name, r.NamedBy = tt.asked, ""
					}
				})
				for _, prompt := range tt.prompts {
					w.hook(r, hookwire.UserPromptSubmit, prompted(prompt))
				}
				got := w.get(r.ID)
				if tt.asked == "" {
					assert.Equal(t, folder+tt.want, got.Name)
				} else {
					assert.Equal(t, tt.asked, got.Name)
				}
				assert.Equal(t, tt.by, got.NamedBy)
			})
		})
	}
}

func TestUsedNameGetsNumber(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		other, err := w.Service.Start(w.ctx, w.request())
		require.NoError(t, err)
		require.NoError(t, w.Service.Rename(w.ctx, other.ID, r.Name))
		assert.Equal(t, r.Name+"-2", w.get(other.ID).Name)
		assert.Equal(t, r.Name, w.get(r.ID).Name)
	})
}

// Two people who begin or rename a session at the same moment get two names.
func TestConcurrentSessionsGetDifferentNames(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		one, _ := w.started()
		two, err := w.Service.Start(w.ctx, w.request())
		require.NoError(t, err)
		q := w.request()
		q.Name = "web"
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				_, err := w.Service.Start(w.ctx, q)
				assert.NoError(t, err)
			})
		}
		for _, r := range []session.Record{one, two} {
			all.Go(func() { assert.NoError(t, w.Service.Rename(w.ctx, r.ID, "web")) })
		}
		all.Wait()
		names := make(map[string]int)
		for _, r := range w.Store.List() {
			names[r.Name]++
		}
		assert.Len(t, names, 8, "%v", names)
	})
}

func TestNewNameIsNews(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		require.NoError(t, w.Service.Rename(w.ctx, r.ID, "web"))
		assert.Equal(t, 1, w.news.count(func(h heard) bool {
			return h.session.Name == "web" && h.news == news.Renamed{}
		}))
	})
}
