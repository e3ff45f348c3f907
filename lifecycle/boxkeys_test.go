package lifecycle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// userSets writes files of the person's Claude Code settings.
func (w *world) userSets(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		require.NoError(w.t, os.WriteFile(filepath.Join(w.base, name), []byte(text), 0o600))
	}
}

func binds(bindings string) map[string]string {
	return map[string]string{"keybindings.json": `{"bindings":[{"context":"Chat","bindings":{` + bindings + `}}]}`}
}

var usesVim = map[string]string{"settings.json": `{"editorMode":"vim"}`}

// One /stop ends a turn in every mode of vim, also if only the screen shows that vim is in use.
func TestStopEndsTurnInVim(t *testing.T) {
	for name, tt := range map[string]struct {
		mode     string
		settings map[string]string
	}{
		"insert": {"INSERT", usesVim}, "normal": {"NORMAL", usesVim}, "visual": {"VISUAL", usesVim},
		"insert, which only the screen shows": {mode: "INSERT"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.userSets(tt.settings)
				a.set(func(a *agent) { a.vim, a.onEnter = "INSERT", mutes })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
				a.set(func(a *agent) { a.vim, a.onEnter = tt.mode, works })
				require.NoError(t, interrupted(w, r))
				assert.Equal(t, 1, toldOf[news.TakenBack](w.news))
				a.set(func(a *agent) {
					assert.Empty(t, a.box)
					assert.Equal(t, presence.Idle, a.status)
					assert.Zero(t, a.exit, "C-c at an empty box")
				})
				w.held(r, "next", "another")
				w.pass(3 * time.Second)
				assert.Equal(t, []string{viewtest.Said, "another"}, a.heard())
			})
		})
	}
}

// In a visual mode Enter does nothing: Esc leaves it, and only when the screen shows that, Enter
// follows.
func TestTypingLeavesVisualMode(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.vim = "VISUAL LINE" })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
		assert.Equal(t, []string{"paste " + viewtest.Said, "press Escape", "enter"}, w.order.keys())
	})
}

func TestVimNormalModeDraftIsRemoved(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.behindDraft("a draft")
		w.userSets(usesVim)
		a.set(func(a *agent) { a.vim = "NORMAL" })
		require.NoError(t, w.SendAnyway(w.ctx, r.ID, "k"))
		w.pass(time.Second)
		assert.Equal(t, "a draft", lastOf[news.DraftCleared](w.news).Draft)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestReboundKeysOperateBox(t *testing.T) {
	for name, tt := range map[string]struct {
		settings map[string]string
		keys     []string // of a prompt, and of a stop that puts its text back
	}{
		"by default":   {nil, []string{"paste " + viewtest.Said, "enter", "press Escape", "press C-u"}},
		"Esc unbound":  {binds(`"escape":null`), []string{"paste " + viewtest.Said, "enter", "press C-c", "press C-u"}},
		"Enter moved":  {binds(`"enter":"chat:newline","ctrl+s":"chat:submit"`), []string{"paste " + viewtest.Said, "press C-s", "press Escape", "press C-u"}},
		"C-u used":     {binds(`"ctrl+u":"chat:externalEditor"`), []string{"paste " + viewtest.Said, "enter", "press Escape", "press C-c"}},
		"all defaults": {binds(`"enter":"chat:submit","escape":"chat:cancel"`), []string{"paste " + viewtest.Said, "enter", "press Escape", "press C-u"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.userSets(tt.settings)
				a.set(func(a *agent) { a.onEnter = mutes })
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
				require.NoError(t, interrupted(w, r))
				assert.Equal(t, tt.keys, w.order.keys())
				a.set(func(a *agent) { assert.Empty(t, a.box); assert.Zero(t, a.exit) })
			})
		})
	}
}

// A prompt that no key submits is not pasted, and not shown as typed; it is typed when the person
// has changed the binding.
func TestP4_UnsubmittablePromptIsHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.userSets(binds(`"enter":"chat:newline"`))
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, 1, w.news.held(news.HeldKeys))
		told := lastOf[news.Held](w.news)
		assert.Equal(t, []string{"keybindings.json", "Chat: enter → chat:newline"}, []string{filepath.Base(told.File), told.Binding})
		assert.Zero(t, toldOf[news.Typed](w.news))
		assert.Empty(t, w.order.keys())
		w.userSets(binds(`"enter":"chat:newline","ctrl+s":"chat:submit"`))
		w.pass(2 * view.HoldPace)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

// Without Esc a visual mode cannot be left, and no key submits a text there.
func TestP4_VisualModePromptIsHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.userSets(binds(`"escape":null`))
		a.set(func(a *agent) { a.vim = "VISUAL" })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, "Chat: escape → null", lastOf[news.Held](w.news).Binding)
		assert.Empty(t, w.order.keys())
		a.set(func(a *agent) { a.vim = "INSERT" })
		w.pass(2 * view.HoldPace)
		assert.Equal(t, []string{viewtest.Said}, a.heard())
	})
}

func TestUnclearableDraftNamesBinding(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.behindDraft("a draft")
		w.userSets(binds(`"ctrl+u":null,"ctrl+c":null`))
		err := w.SendAnyway(w.ctx, r.ID, "k")
		assert.True(t, refusal.Is(err, refusal.Rebound), "%v", err)
		assert.Equal(t, "Chat: ctrl+u → null", refusal.In(err).Reason)
		assert.Zero(t, toldOf[news.DraftCleared](w.news))
	})
}

// A binding that changes between the paste and the key takes the text out of the box again.
func TestP7_BindingChangedAfterPaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.userSets(nil)
		a.set(func(a *agent) {
			a.onPaste = func(*agent) { w.userSets(binds(`"enter":"chat:externalEditor"`)) }
		})
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.NotContains(t, w.order.keys(), "enter")
		a.set(func(a *agent) { assert.Empty(t, a.box) })
		assert.Equal(t, typing.Held, w.prompts.state("k"))
		assert.Equal(t, 1, w.news.held(news.HeldKeys))
	})
}

func TestStopNamesBindingThatTakesKeys(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.userSets(binds(`"escape":null,"ctrl+c":null`))
		a.set(func(a *agent) { a.onEnter = works })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		err := interrupted(w, r)
		assert.True(t, refusal.Is(err, refusal.Rebound), "%v", err)
		assert.Equal(t, "Chat: escape → null", refusal.In(err).Reason)
		a.set(func(a *agent) { assert.Zero(t, a.escapes) })
	})
}

func TestSecondFailedStopIsNotRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { works(a); a.deaf = true })
		require.ErrorIs(t, interrupted(w, r), typing.ErrStillWorks)
		require.ErrorIs(t, interrupted(w, r), typing.ErrWorksOn)
		require.ErrorIs(t, interrupted(w, r), typing.ErrWorksOn)
		for _, status := range []presence.Status{presence.Idle, presence.Busy} {
			a.set(func(a *agent) { a.status, a.since = status, w.Now() })
			w.Wake(r.ID)
			w.pass(time.Second)
		}
		require.ErrorIs(t, interrupted(w, r), typing.ErrStillWorks, "another turn")
	})
}

// The person's own bindings may give a key of a dialog another meaning: then no key is pressed.
func TestP7_ReboundDialogKeyIsNotPressed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.userSets(map[string]string{"keybindings.json": `{"bindings":[{"context":"Confirmation","bindings":{"down":"confirm:yes"}}]}`})
		a.set(func(a *agent) { a.dialog, a.status, a.waitingFor = true, presence.Waiting, "permission prompt" })
		w.pass(2 * time.Second)
		d, err := w.Dialog(w.ctx, r.ID)
		require.NoError(t, err)
		_, err = w.Press(w.ctx, r.ID, d.Fingerprint, "down")
		assert.True(t, refusal.Is(err, refusal.Rebound), "%v", err)
		assert.False(t, slices.ContainsFunc(w.order.keys(), func(s string) bool { return strings.HasPrefix(s, "press") }))
	})
}

// A text that cannot be removed holds up the next prompt, which is reported.
func TestP4_UnclearedTextIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = mutes })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		a.set(func(a *agent) { a.stuck = true })
		_, err := w.Interrupt(w.ctx, r.ID)
		require.NoError(t, err)
		w.held(r, "next", "another")
		w.pass(2 * time.Minute)
		assert.Equal(t, 1, toldOf[news.Held](w.news))
		a.set(func(a *agent) { assert.Less(t, a.cleared, 60) })
	})
}

// Claude Code leaves a text that a hook has refused in the box. It is removed if the transcript
// proves the refusal, however late the text or the effect of the clearing key is drawn; a text that
// differs is a person's.
func TestRefusedPromptLeavesBox(t *testing.T) {
	for name, tt := range map[string]struct {
		box   string
		after func(w *world, r session.Record, a *agent) // changes of the box after the refusal
		heard []string
	}{
		"its text": {viewtest.Said, nil, []string{"another"}},
		"its text, of a turn that no look has seen": {viewtest.Said, func(w *world, _ session.Record, a *agent) {
			a.onEnter = nil
		}, []string{"another"}},
		"a person's": {viewtest.Said + " and more", nil, nil},
		"its text, which is cleared late": {viewtest.Said, func(_ *world, _ session.Record, a *agent) {
			a.stuck = true
			time.AfterFunc(5*time.Second, func() { a.set(func(a *agent) { a.stuck = false }) })
		}, []string{"another"}},
		"its text, of which a part is cleared late": {viewtest.Said, func(_ *world, _ session.Record, a *agent) {
			a.onClear = func(a *agent) {
				a.onClear, a.stuck, a.box = nil, true, viewtest.Said[:4]
				time.AfterFunc(5*time.Second, func() { a.set(func(a *agent) { a.stuck = false }) })
			}
		}, []string{"another"}},
		"a part of its text, which a person types": {viewtest.Said, func(w *world, _ session.Record, a *agent) {
			a.onClear = func(a *agent) {
				a.onClear = nil
				time.AfterFunc(2*time.Second, func() {
					w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
					a.set(func(a *agent) { a.box = viewtest.Said[:4] })
				})
			}
		}, nil},
		"its text, which comes back": {viewtest.Said, func(_ *world, _ session.Record, a *agent) {
			a.onClear = func(a *agent) {
				a.onClear = nil
				time.AfterFunc(2*time.Second, func() { a.set(func(a *agent) { a.box = viewtest.Said }) })
			}
		}, []string{"another"}},
		"the same text, which a person types again": {viewtest.Said, func(w *world, _ session.Record, a *agent) {
			a.onClear = func(a *agent) {
				a.onClear = nil
				time.AfterFunc(2*time.Second, func() {
					w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
					a.set(func(a *agent) { a.box = viewtest.Said })
				})
			}
		}, nil},
		"the text of a prompt that was queued at first": {viewtest.Said, func(w *world, r session.Record, _ *agent) {
			w.write(r, `{"type":"queue-operation","operation":"enqueue","timestamp":"`+w.Now().Add(time.Millisecond).Format(time.RFC3339Nano)+`","content":"`+viewtest.Said+`"}`)
		}, []string{"another"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.set(func(a *agent) {
					a.onEnter = func(a *agent) {
						if tt.after != nil {
							tt.after(w, r, a)
						}
						w.write(r, `{"type":"system","subtype":"informational","timestamp":"`+w.Now().Add(time.Millisecond).Format(time.RFC3339Nano)+`","content":"UserPromptSubmit operation blocked by hook:\n[x]: no way\n\n\nOriginal prompt: `+viewtest.Said+
							`","promptSubmitEnding":{"ending":{"kind":"blocked_by_hook","reason":"no way"}}}`)
						a.said, a.box = nil, tt.box
						if a.onEnter != nil {
							a.since = w.Now()
						}
						a.onEnter = works
					}
				})
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
				w.pass(10 * time.Second)
				w.held(r, "next", "another")
				w.pass(10 * time.Second)
				assert.Equal(t, tt.heard, a.heard())
			})
		})
	}
}
