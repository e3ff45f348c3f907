package tmuxtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestP7_Fake(t *testing.T) {
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

func (p person) OpenShell(*testing.T) tmux.PaneID { return p.AddWindow(tmuxtest.Session, "shell").ID }

func (p person) RunInFront(_ *testing.T, shell tmux.PaneID, argv ...string) {
	program := &tmuxtest.Process{Spec: tmux.Spec{Dir: "/", Argv: argv}}
	launch(program)
	p.Fake.RunInFront(shell, filepath.Base(argv[0]), program.OnInput, nil)
}

func (p person) EndInFront(_ *testing.T, shell tmux.PaneID) { p.Fake.EndInFront(shell) }

func (p person) Attach(t *testing.T, w tmux.WindowID, how tmuxtest.Terminal) string {
	v := tmux.Viewer{Window: w, ReadOnly: how.ReadOnly}
	if how.Grouped {
		v.Session = tmuxtest.Session + "-2"
	}
	attach := p.Fake.Attach
	if how.Control {
		attach = func(v tmux.Viewer) string { return p.AttachControl(v.Window) }
	}
	tty := attach(v)
	t.Cleanup(func() { p.Detach(t, tty) })
	return tty
}

func (p person) Show(_ *testing.T, tty string, w tmux.WindowID) { p.Fake.Show(tty, w) }
func (p person) Press(_ *testing.T, tty string)                 { p.PressAt(tty, time.Now()) }
func (p person) Detach(_ *testing.T, tty string)                { p.Fake.Detach(tty) }

func TestFakeControls(t *testing.T) {
	fake := tmuxtest.NewFake()
	ctx := t.Context()
	p, err := fake.NewWindow(ctx, tmux.Spec{Name: "api", Tag: "t/1", Dir: "/", Argv: []string{"/bin/claude"}})
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
	at := time.Unix(1_700_000_000, 0)
	tty := fake.Attach(tmux.Viewer{Window: foreign.Window})
	fake.PressAt(tty, at.Add(time.Millisecond))
	viewers, err := fake.Viewers(ctx)
	require.NoError(t, err)
	assert.Equal(t, []tmux.Viewer{{Window: foreign.Window, Session: "work", TTY: tty, LastKey: at}}, viewers)
	fake.ClosePaneByHand(foreign.ID)
	_, err = fake.Pane(ctx, foreign.ID)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	viewers, err = fake.Viewers(ctx)
	require.NoError(t, err)
	assert.Empty(t, viewers, "its session has no window left to show")
}

func (p person) Hang(*testing.T) (answers func()) { return p.Fake.Hang() }
