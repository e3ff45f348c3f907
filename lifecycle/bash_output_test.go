package lifecycle

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
)

// runsIt lets an agent run what was entered, as Claude Code's bash mode does.
func runsIt(a *agent) {
	a.running, a.status = a.said[len(a.said)-1], presence.Busy
}

// The transcript has nothing of a bash mode command before its end: that it runs is the proof,
// however long it takes.
func TestP4_LongCommandIsProven(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = runsIt })
		w.held(r, "k", "!make test")
		w.pass(time.Second)
		_, err := w.prompts.Prompt("k")
		require.ErrorIs(t, err, fs.ErrNotExist, "finished")
		w.pass(10 * time.Minute)
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		assert.Zero(t, toldOf[news.Unproven](w.news))
		assert.Equal(t, []string{"make test"}, a.heard())
	})
}

// After a restart the running command is also the proof: the person is not asked whether to repeat
// it.
func TestP4_RunningCommandIsProvenAfterRestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = runsIt })
		w.crash("entered", func() {
			w.run()
			w.held(r, "k", "!make test")
			w.pass(time.Second)
		})
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		assert.Zero(t, toldOf[news.Unproven](w.news))
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		assert.Equal(t, []string{"make test"}, a.heard())
	})
}

func TestP4_OtherRunningCommandIsNoProof(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) {
			a.onEnter = func(a *agent) { a.running, a.status = "make all", presence.Busy }
		})
		w.held(r, "k", "!make test")
		w.pass(time.Minute)
		assert.Zero(t, toldOf[news.Delivered](w.news))
		assert.Equal(t, typing.Typing, w.prompts.state("k"), "nobody is asked while the agent works")
		a.set(func(a *agent) { a.running, a.status = "", presence.Idle })
		w.pass(time.Minute)
		assert.Zero(t, toldOf[news.Delivered](w.news))
		assert.Equal(t, typing.Unproven, w.prompts.state("k"))
	})
}

// An interrupted text comes back into the box, where an Enter would run it again: it is removed
// there, and the next prompt is typed.
func TestP4_InterruptedCommandIsNotRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.onEnter = runsIt })
		w.held(r, "k", "!rm -rf build")
		w.pass(200 * time.Millisecond)
		require.NoError(t, interrupted(w, r))
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		a.set(func(a *agent) {
			assert.False(t, a.shell, "the box has left bash mode")
			assert.Empty(t, a.box)
			a.onEnter = works
		})
		w.pass(time.Minute)
		w.held(r, "next", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{"rm -rf build", viewtest.Said}, a.heard())
	})
}

// A command that a person has typed in the terminal is theirs: it stays in the box.
func TestTerminalCommandStaysInBox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.running, a.status = "make mine", presence.Busy })
		require.NoError(t, interrupted(w, r))
		a.set(func(a *agent) { assert.Equal(t, "make mine", a.box) })
		assert.Zero(t, a.cleared)
	})
}

func TestOutputIsWhatTheTerminalShows(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		assert.Equal(t, port.Output{Idle: true}, w.Observer.Output(w.ctx, r, "!make test"))
		a.set(func(a *agent) { a.running, a.status = "make test", presence.Busy })
		assert.Equal(t, port.Output{Runs: true, Lines: []string{"one", "two"}, Above: 3}, w.Observer.Output(w.ctx, r, "!make test"))
		assert.Equal(t, port.Output{}, w.Observer.Output(w.ctx, r, "!make"), "another one")
		a.set(func(a *agent) { a.running = "" })
		assert.Equal(t, port.Output{}, w.Observer.Output(w.ctx, r, "!make test"), "it works on something else")
		a.set(func(a *agent) { a.hidden = true })
		assert.Equal(t, port.Output{}, w.Observer.Output(w.ctx, r, "!make test"))
		w.archive(r)
		assert.Equal(t, port.Output{}, w.Observer.Output(w.ctx, w.get(r.ID), "!make test"))
	})
}
