package tmuxtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestFake(t *testing.T) {
	tmuxtest.Conformance(t, func(t *testing.T) tmuxtest.World {
		fake := tmuxtest.NewFake()
		fake.Env = map[string]string{tmuxtest.KeptVariable: "kept", tmuxtest.SecretVariable: "s"}
		fake.Launch = launch
		run(t, fake)
		return tmuxtest.World{Tmux: fake, Person: person{fake}, Binary: "/fake/recorder"}
	})
}

func run(t *testing.T, fake *tmuxtest.Fake) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = fake.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// launch plays the suite's programs.
func launch(p *tmuxtest.Process) {
	argv := p.Spec.Argv
	if argv[0] == "/bin/sh" {
		p.Exit = map[string]*tmuxtest.Exit{
			"exit 0": {}, "exit 3": {Status: 3}, "exit 7": {Status: 7}, "kill -9 $$": {Signal: 9},
		}[argv[2]]
		return
	}
	report := tmuxtest.Report{Args: argv[3:], Dir: p.Spec.Dir}
	for name, value := range p.Env {
		report.Env = append(report.Env, name+"="+value)
	}
	data, _ := json.Marshal(report)
	in, err := os.Create(argv[2] + ".in")
	if err != nil {
		panic(err)
	}
	p.Screen = "recording\n"
	p.OnInput = func(data string) { _, _ = in.WriteString(data) }
	_ = os.WriteFile(argv[2], data, 0o600)
}

type person struct{ *tmuxtest.Fake }

func (p person) Split(_ *testing.T, id tmux.PaneID) tmux.PaneID { return p.Fake.Split(id) }
func (p person) CopyMode(_ *testing.T, id tmux.PaneID) {
	p.Change(id, func(pane *tmux.Pane) { pane.InMode = true })
}
func (p person) InputOff(_ *testing.T, id tmux.PaneID)    { p.Fake.InputOff(id) }
func (p person) Synchronize(_ *testing.T, id tmux.PaneID) { p.Fake.Synchronize(id) }
func (p person) StopServer(*testing.T)                    { p.Fake.StopServer() }

func TestFakeControls(t *testing.T) {
	fake := tmuxtest.NewFake()
	ctx := t.Context()
	p, err := fake.NewWindow(ctx, tmux.Spec{Key: "u-1", Dir: "/", Argv: []string{"/bin/claude"}})
	require.NoError(t, err)
	g := tmux.Guard{Pane: p.ID, PID: p.PID, Command: "claude"}

	lost := errors.New("gone")
	fake.Fail("Enter", lost)
	assert.ErrorIs(t, fake.Enter(ctx, g), lost)
	require.NoError(t, fake.Enter(ctx, g), "a failure is used once")
	require.NoError(t, fake.Paste(ctx, g, "text"))
	assert.Equal(t, []tmuxtest.Input{{Key: "Enter"}, {Paste: "text"}}, fake.Inputs(p.ID))
	assert.Equal(t, []string{"NewWindow", "Enter", "Enter", "Paste"}, fake.Calls())

	fake.End(p.ID, tmuxtest.Exit{Signal: 15})
	dead, err := fake.Pane(ctx, p.ID)
	require.NoError(t, err)
	assert.True(t, dead.Dead)
	assert.Equal(t, 15, dead.DeadSignal)

	foreign := fake.AddWindow("work", "vim")
	assert.NotEqual(t, p.Window, foreign.Window)
	fake.ClosePaneByHand(foreign.ID)
	_, err = fake.Pane(ctx, foreign.ID)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
}
