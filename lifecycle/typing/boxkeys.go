package typing

import (
	"context"
	"errors"
	"time"

	"ccbot/agent"
	"ccbot/internal/pause"
	"ccbot/lifecycle/view"
	"ccbot/port/refusal"
	"ccbot/tmux"
)

// agent returns the parts of the session's agent.
func (t *Terminal) agent() agent.Agent { return t.o.Agents.Of(t.r.AgentName) }

// boxKeys reads how the agent's prompt box is operated. The files are read each time, because an
// agent may take a change over at once.
func (t *Terminal) boxKeys() agent.Keys { return t.agent().Keys(t.r.Folder()) }

// rebound makes a fault of the keys a refusal that names the file and the binding.
func rebound(err error) error {
	fault, ok := errors.AsType[*agent.KeyFault](err)
	if !ok {
		return err
	}
	return &refusal.Error{Code: refusal.Rebound, Dir: fault.File, Reason: fault.Binding, Err: fault}
}

// isRebound reports whether a key was not pressed because of the person's own key bindings.
func isRebound(err error) bool { return refusal.Is(err, refusal.Rebound) }

// submit presses the key that submits the text in the box.
func (t *Terminal) submit(ctx context.Context) error {
	key, err := t.boxKeys().Submit()
	if err != nil {
		return rebound(err)
	}
	return t.send(ctx, tmux.Key(key))
}

// promptKeys returns the fault of the keys that a prompt needs: the one that submits it and, if the
// screen shows a visual mode of vim, the one that leaves it.
func (t *Terminal) promptKeys() error {
	keys := t.boxKeys()
	if _, err := keys.Submit(); err != nil || !t.Screen.Visual {
		return err
	}
	return keys.Other(string(tmux.KeyEscape), true)
}

// unsent returns the file and the binding that leave no key which submits a text.
func (t *Terminal) unsent() (file, binding string) {
	if fault, ok := errors.AsType[*agent.KeyFault](t.promptKeys()); ok {
		return fault.File, fault.Binding
	}
	return "", ""
}

// leaveVisual leaves vim's visual mode, in which the key that submits does nothing. It reports
// whether the screen shows another mode.
func (t *Terminal) leaveVisual(ctx context.Context) bool {
	if !t.Screen.Visual {
		return true
	}
	if t.Press(ctx, tmux.KeyEscape) != nil {
		return false
	}
	return pause.Await(ctx, view.PollInterval, effectWait, func() bool {
		t.Refresh(ctx)
		return !t.IsBoxFree() || !t.Screen.Visual
	}) && t.IsBoxFree()
}

// effectWait is how long a terminal may take to draw the effect of a key that must not be repeated
// before its effect is seen.
const effectWait = 5 * time.Second

// cancelKey returns the key that ends the turn that the screen shows.
func (t *Terminal) cancelKey() (tmux.Key, error) {
	key, err := t.boxKeys().Cancel(t.Screen.Editor != "")
	return tmux.Key(key), rebound(err)
}

// clearKey returns the key that clears the prompt box that the screen shows. In screen reader mode
// C-u leaves the removed rows on the screen.
func (t *Terminal) clearKey() (tmux.Key, error) {
	key, err := t.boxKeys().Clear(t.Screen.Editor != "" || t.Screen.Flat)
	return tmux.Key(key), rebound(err)
}

// emptyBox clears the prompt box, and reports whether the box is proven empty.
func (t *Terminal) emptyBox(ctx context.Context) bool {
	key, err := t.clearKey()
	switch {
	case err != nil:
		return false
	case key == tmux.KeyInterrupt:
		return t.emptyAtOnce(ctx)
	}
	return t.emptyByRow(ctx, key)
}

// emptyAtOnce presses C-c, which empties the box in every editor mode but the visual ones. It
// presses the key once: a second C-c would end the agent.
func (t *Terminal) emptyAtOnce(ctx context.Context) bool {
	if !t.leaveVisual(ctx) {
		return false
	}
	pause.Await(ctx, view.PollInterval, effectWait, func() bool {
		t.Refresh(ctx)
		return !t.Screen.Exits
	})
	if !t.IsBoxFree() || t.Screen.Exits || t.Screen.Box.Empty {
		return t.IsBoxFree() && t.Screen.Box.Empty
	}
	if t.send(ctx, tmux.KeyInterrupt) != nil {
		return false
	}
	pause.Await(ctx, view.PollInterval, effectWait, func() bool {
		t.Refresh(ctx)
		return t.IsBoxFree() && t.Screen.Box.Empty || t.DialogOpen()
	})
	return t.IsBoxFree() && t.Screen.Box.Empty
}
