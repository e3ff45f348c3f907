package tmuxtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
)

func checkServer(t *testing.T, w World) {
	server, err := w.Tmux.Server(t.Context())
	require.NoError(t, err)
	assert.Positive(t, server.PID)
	assert.NotZero(t, server.Start)
	assert.NotEmpty(t, server.Socket)
	require.NoError(t, w.Tmux.Ensure(t.Context()), "once more changes nothing")
	panes, err := w.Tmux.Panes(t.Context())
	require.NoError(t, err)
	mains := 0
	for _, p := range panes {
		if p.Session == Session && p.WindowName == "__main__" {
			mains++
			assert.False(t, p.Dead)
		}
	}
	assert.Equal(t, 1, mains)
}

func checkNewWindow(t *testing.T, w World) {
	args := []string{"", "two words", `a"b'c`, "tail;", ";", `\`, "$HOME", "$x", "#{pid}", "#(touch x)", "~", "{", "-n", "ünï", "line\nline", "\xff", "%1", "#"}
	parent := realDir(t)
	dir := filepath.Join(parent, "a#(touch x)b #{pid} ##;")
	require.NoError(t, os.Mkdir(dir, 0o700))
	name := "#(touch x) #{pid} ## ; ' \" ünï"
	var s tmux.Spec
	r := startRecorder(t, w, func(spec *tmux.Spec) {
		spec.Dir, spec.Name = dir, name
		s = *spec
	}, args...)
	assert.Equal(t, dir, r.Start.Dir)
	assert.Equal(t, dir, r.Path)
	assert.Equal(t, name, r.WindowName)
	assert.Equal(t, s.Tag, r.Tag)
	assert.Equal(t, Session, r.Session)
	assert.Equal(t, 1, r.WindowPanes)
	assert.True(t, r.Active)
	assert.True(t, r.Window.Valid())
	assert.False(t, r.Dead)
	assert.False(t, r.InMode)
	assert.Equal(t, 0, r.Attached)
	assertArgs(t, args, r.Start.Args)
	w.nothingRan(t, dir, parent)

	panes, err := w.Tmux.Panes(t.Context())
	require.NoError(t, err)
	assert.Contains(t, panes, r.Pane)
	for _, p := range panes {
		assert.False(t, p.Session == Session && p.WindowIndex == r.WindowIndex && p.Window != r.Window, "%s has the index of %s", p.Window, r.Window)
	}
}

// assertArgs compares bytes: JSON has replaced what is not UTF-8.
func assertArgs(t *testing.T, want, got []string) {
	t.Helper()
	clean := make([]string, len(want))
	for i, arg := range want {
		clean[i] = strings.ToValidUTF8(arg, "\ufffd")
	}
	assert.Equal(t, clean, got)
}

func checkEnvironment(t *testing.T, w World) {
	const value = `a'b"c;$x #{pid} \ ;`
	r := startRecorder(t, w, func(s *tmux.Spec) {
		s.Env = map[string]string{"CCBOT_TEST_ADDED": value, "CCBOT_TEST_EMPTY": "", "CCBOT_TEST_BOTH": "x"}
		s.Unset = []string{SecretVariable, "CCBOT_TEST_BOTH", "CCBOT_TEST_UNKNOWN"}
	})
	got, _ := variable(r.Start.Env, "CCBOT_TEST_ADDED")
	assert.Equal(t, value, got)
	got, ok := variable(r.Start.Env, "CCBOT_TEST_EMPTY")
	assert.True(t, ok && got == "")
	got, _ = variable(r.Start.Env, KeptVariable)
	assert.Equal(t, "kept", got)
	for _, name := range []string{SecretVariable, "CCBOT_TEST_BOTH"} {
		_, ok := variable(r.Start.Env, name)
		assert.False(t, ok, name)
	}
}

func checkServerEnvironment(t *testing.T, w World) {
	env, err := w.Tmux.Environment(t.Context(), []string{"CCBOT_TEST_UNKNOWN", KeptVariable, "LD_PRELOAD"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{KeptVariable: "kept"}, env)
	env, err = w.Tmux.Environment(t.Context(), nil)
	assert.True(t, err == nil && len(env) == 0)
}

func checkBadSpec(t *testing.T, w World) {
	before, err := w.Tmux.Panes(t.Context())
	require.NoError(t, err)
	for _, bad := range []struct {
		name   string
		change func(*tmux.Spec)
	}{
		{"no argv", func(s *tmux.Spec) { s.Argv = nil }},
		{"relative command", func(s *tmux.Spec) { s.Argv = []string{"sh"} }},
		{"relative dir", func(s *tmux.Spec) { s.Dir = "." }},
		{"no dir", func(s *tmux.Spec) { s.Dir = "" }},
		{"variable in place of a command", func(s *tmux.Spec) { s.Argv = []string{"/a=b/sh"} }},
		{"NUL", func(s *tmux.Spec) { s.Argv = []string{"/bin/sh", "a\x00b"} }},
		{"bad variable", func(s *tmux.Spec) { s.Env = map[string]string{"": "x"} }},
		{"bad variable to unset", func(s *tmux.Spec) { s.Unset = []string{"A=B"} }},
		{"no name", func(s *tmux.Spec) { s.Name = "" }},
		{"no tag", func(s *tmux.Spec) { s.Tag = "" }},
	} {
		t.Run(bad.name, func(t *testing.T) {
			s := spec(t, "/bin/sh")
			bad.change(&s)
			_, err := w.Tmux.NewWindow(t.Context(), s)
			assert.Error(t, err)
		})
	}
	after, err := w.Tmux.Panes(t.Context())
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}

// dead waits until the pane's process has ended and tmux knows how.
func dead(t *testing.T, w World, s tmux.Spec) tmux.Pane {
	t.Helper()
	made, err := w.Tmux.NewWindow(t.Context(), s)
	require.NoError(t, err)
	closeAfter(t, w, made)
	p := made
	eventually(t, func() bool {
		p, err = w.Tmux.Pane(t.Context(), made.ID)
		return err == nil && p.Dead && (p.DeadStatus >= 0 || p.DeadSignal != 0)
	}, "the pane did not die")
	assert.Equal(t, made.PID, p.PID)
	assert.Equal(t, s.Tag, p.Tag)
	return p
}

func checkExitStatus(t *testing.T, w World) {
	p := dead(t, w, spec(t, "/bin/sh", "-c", "exit 7"))
	assert.Equal(t, 7, p.DeadStatus)
	assert.Zero(t, p.DeadSignal)
	p = dead(t, w, spec(t, "/bin/sh", "-c", "exit 0"))
	assert.Zero(t, p.DeadStatus)
	assert.Zero(t, p.DeadSignal)
	now, _, shown, err := w.Tmux.PaneAndScreen(t.Context(), p.ID)
	require.NoError(t, err)
	assert.True(t, shown)
	assert.Equal(t, p.Dead, now.Dead)
	assert.Equal(t, p.DeadStatus, now.DeadStatus)
}

func checkSignal(t *testing.T, w World) {
	if w.NoSignals {
		t.Skip("SKIPPED: this tmux does not tell signals")
	}
	p := dead(t, w, spec(t, "/bin/sh", "-c", "kill -9 $$"))
	assert.Equal(t, -1, p.DeadStatus)
	assert.Equal(t, 9, p.DeadSignal)
}

func checkPasteExact(t *testing.T, w World) {
	for _, text := range []struct{ name, text string }{
		{"plain", "hello"},
		{"lines", "one\n\n\ttwo\n  three\n"},
		{"newline only", "\n"},
		{"semicolon", "say abc;"},
		{"backslash", `say abc\`},
		{"leading dash", "-p -d --"},
		{"quotes", `"double" 'single' ` + "`tick`"},
		{"formats", "#{pid} #(touch x) ## $HOME ~ %H {} \\033 \\n"},
		{"unicode", "ünï ☃ 日本語 👩‍👩‍👧 e\u0301"},
		{"big", strings.Repeat("0123456789 ünï;\n", 100_000/18)},
	} {
		t.Run(text.name, func(t *testing.T) {
			r := startRecorder(t, w, nil)
			require.NoError(t, w.Tmux.Paste(t.Context(), r.guard(), text.text))
			require.NoError(t, w.Tmux.Enter(t.Context(), r.guard()))
			r.requireInput(t, text.text+"\r")
			w.nothingRan(t, r.Path)
		})
	}
	r := startRecorder(t, w, nil)
	assert.Error(t, w.Tmux.Paste(t.Context(), r.guard(), ""))
	assert.Error(t, w.Tmux.Paste(t.Context(), r.guard(), "a\xff"))
	r.requireInput(t, "")
}

func checkKeys(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	g := r.guard()
	for _, key := range []tmux.Key{tmux.KeyEscape, tmux.KeyClear, "1", tmux.KeyDown, tmux.KeyTab, tmux.KeyBackTab, tmux.KeyModels, tmux.KeySession, "C-s"} {
		require.NoError(t, w.Tmux.Press(t.Context(), g, key))
	}
	r.requireInput(t, "\x1b\x151\x1b[B\t\x1b[Z\x1bps\x13")
	for _, key := range []tmux.Key{"", "Enter", "C-d", "C-z", "C-m", "C-", "12", "a", "-l"} {
		assert.Error(t, w.Tmux.Press(t.Context(), g, key), "%q", key)
	}
	g.Command = ""
	require.NoError(t, w.Tmux.Enter(t.Context(), g), "an empty command is not compared")
	r.requireInput(t, "\x1b\x151\x1b[B\t\x1b[Z\x1bps\x13\r")
}

// requireRefused tries all that types and wants each refused.
func requireRefused(t *testing.T, w World, g tmux.Guard, also error) {
	t.Helper()
	for name, err := range map[string]error{
		"paste": w.Tmux.Paste(t.Context(), g, "must not arrive"),
		"enter": w.Tmux.Enter(t.Context(), g),
		"press": w.Tmux.Press(t.Context(), g, tmux.KeyEscape),
	} {
		assert.ErrorIs(t, err, tmux.ErrGuard, name)
		if also != nil {
			assert.ErrorIs(t, err, also, name)
		} else {
			assert.False(t, errors.Is(err, tmux.ErrNoPane), name)
		}
	}
}

func checkGuard(t *testing.T, w World) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, g *tmux.Guard)
	}{
		{"wrong pid", func(_ *testing.T, g *tmux.Guard) { g.PID++ }},
		{"wrong command", func(_ *testing.T, g *tmux.Guard) { g.Command = "claude" }},
		{"hostile command", func(_ *testing.T, g *tmux.Guard) { g.Command = "x,}#{==:1,1}" }},
		{"copy mode", func(t *testing.T, g *tmux.Guard) { w.Person.CopyMode(t, g.Pane) }},
		{"input off", func(t *testing.T, g *tmux.Guard) { w.Person.InputOff(t, g.Pane) }},
		{"synchronized", func(t *testing.T, g *tmux.Guard) { w.Person.Synchronize(t, g.Pane) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := startRecorder(t, w, nil)
			g := r.guard()
			require.NoError(t, w.Tmux.Paste(t.Context(), g, "before"))
			r.requireInput(t, "before")
			c.change(t, &g)
			requireRefused(t, w, g, nil)
			r.requireInput(t, "before")
		})
	}
	t.Run("missing pane", func(t *testing.T) {
		r := startRecorder(t, w, nil)
		g := r.guard()
		g.Pane = paneID(t, "%99999")
		requireRefused(t, w, g, tmux.ErrNoPane)
		require.NoError(t, w.Tmux.Enter(t.Context(), r.guard()))
		r.requireInput(t, "\r")
	})
}

func checkGuardDead(t *testing.T, w World) {
	p := dead(t, w, spec(t, "/bin/sh", "-c", "exit 0"))
	requireRefused(t, w, tmux.Guard{Pane: p.ID, PID: p.PID}, nil)
}

func paneID(t *testing.T, s string) tmux.PaneID {
	t.Helper()
	id, err := tmux.ParsePaneID(s)
	require.NoError(t, err)
	return id
}

func checkClose(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	assert.ErrorIs(t, w.Tmux.ClosePane(t.Context(), tmux.Guard{Pane: r.ID, PID: r.PID + 1}), tmux.ErrGuard)
	_, err := w.Tmux.Pane(t.Context(), r.ID)
	require.NoError(t, err)
	require.NoError(t, w.Tmux.ClosePane(t.Context(), tmux.Guard{Pane: r.ID, PID: r.PID, Command: "not compared"}))
	_, err = w.Tmux.Pane(t.Context(), r.ID)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	err = w.Tmux.ClosePane(t.Context(), r.guard())
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	assert.ErrorIs(t, err, tmux.ErrGuard)

	p := dead(t, w, spec(t, "/bin/sh", "-c", "exit 3"))
	require.NoError(t, w.Tmux.ClosePane(t.Context(), tmux.Guard{Pane: p.ID, PID: p.PID}))
	_, err = w.Tmux.Pane(t.Context(), p.ID)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
}

func checkCloseSpares(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	beside := w.Person.Split(t, r.ID)
	other, err := w.Tmux.Pane(t.Context(), beside)
	require.NoError(t, err)
	assert.Equal(t, 2, other.WindowPanes)
	assert.Equal(t, r.Window, other.Window)
	require.NoError(t, w.Tmux.ClosePane(t.Context(), r.guard()))
	other, err = w.Tmux.Pane(t.Context(), beside)
	require.NoError(t, err)
	assert.False(t, other.Dead)
	assert.Equal(t, 1, other.WindowPanes)
	closeAfter(t, w, other)
}

func checkCapture(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	for _, lines := range []int{0, 100} {
		eventually(t, func() bool {
			screen, err := w.Tmux.Capture(t.Context(), r.ID, lines)
			return err == nil && strings.Contains(screen, greeting)
		}, "the greeting is not on the screen")
	}
	pane, screen, shown, err := w.Tmux.PaneAndScreen(t.Context(), r.ID)
	require.NoError(t, err)
	assert.True(t, shown)
	assert.Equal(t, r.PID, pane.PID)
	captured, err := w.Tmux.Capture(t.Context(), r.ID, 0)
	require.NoError(t, err)
	assert.Equal(t, captured, screen)
}

func checkRename(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	for _, name := range []string{"plain", "#(touch x)#{pid}##", "-n", "=x:y.z;", "ünï ☃ 日本語"} {
		require.NoError(t, w.Tmux.Rename(t.Context(), r.guard(), r.Tag, name))
		p, err := w.Tmux.Pane(t.Context(), r.ID)
		require.NoError(t, err)
		assert.Equal(t, name, p.WindowName)
		assert.Equal(t, r.Tag, p.Tag)
	}
	assert.Error(t, w.Tmux.Rename(t.Context(), r.guard(), r.Tag, ""))
	for _, other := range []struct {
		guard tmux.Guard
		tag   string
	}{{tmux.Guard{Pane: r.ID, PID: r.PID + 1}, r.Tag}, {r.guard(), "another/tag"}} {
		assert.ErrorIs(t, w.Tmux.Rename(t.Context(), other.guard, other.tag, "not ours"), tmux.ErrGuard)
	}
	p, err := w.Tmux.Pane(t.Context(), r.ID)
	require.NoError(t, err)
	assert.Equal(t, "ünï ☃ 日本語", p.WindowName)
	w.nothingRan(t, r.Path)
}

func checkMissing(t *testing.T, w World) {
	missing := paneID(t, "%99999")
	_, err := w.Tmux.Pane(t.Context(), missing)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	_, err = w.Tmux.Capture(t.Context(), missing, 0)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	_, _, shown, err := w.Tmux.PaneAndScreen(t.Context(), missing)
	assert.ErrorIs(t, err, tmux.ErrNoPane)
	assert.False(t, shown)
	assert.ErrorIs(t, w.Tmux.Rename(t.Context(), tmux.Guard{Pane: missing, PID: 1}, "tag", "x"), tmux.ErrNoPane)
}

func checkNoTarget(t *testing.T, w World) {
	ctx := t.Context()
	r := startRecorder(t, w, nil)
	_, err := w.Tmux.Pane(ctx, tmux.PaneID{})
	assert.ErrorIs(t, err, tmux.ErrNoTarget)
	_, err = w.Tmux.Capture(ctx, tmux.PaneID{}, 0)
	assert.ErrorIs(t, err, tmux.ErrNoTarget)
	assert.ErrorIs(t, w.Tmux.Rename(ctx, tmux.Guard{}, "tag", "x"), tmux.ErrNoTarget)
	for _, g := range []tmux.Guard{{}, {PID: r.PID}, {Pane: r.ID}, {Pane: r.ID, PID: -1}} {
		assert.ErrorIs(t, w.Tmux.Paste(ctx, g, "x"), tmux.ErrNoTarget)
		assert.ErrorIs(t, w.Tmux.Enter(ctx, g), tmux.ErrNoTarget)
		assert.ErrorIs(t, w.Tmux.Press(ctx, g, tmux.KeyEscape), tmux.ErrNoTarget)
		assert.ErrorIs(t, w.Tmux.ClosePane(ctx, g), tmux.ErrNoTarget)
	}
}

func checkOnChange(t *testing.T, w World) {
	var reported atomic.Int64
	w.Tmux.OnChange(func() { reported.Add(1) })
	r := startRecorder(t, w, nil)
	eventually(t, func() bool { return reported.Load() > 0 }, "window made")
	reported.Store(0)
	require.NoError(t, w.Tmux.ClosePane(t.Context(), r.guard()))
	eventually(t, func() bool { return reported.Load() > 0 }, "window closed")
}

func checkSilence(t *testing.T, w World) {
	ctx := t.Context()
	r := startRecorder(t, w, nil)
	before, err := w.Tmux.Server(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Tmux.Answers(ctx))
	var reported atomic.Int64
	w.Tmux.OnChange(func() { reported.Add(1) })
	answers := w.Person.Hang(t)
	require.ErrorIs(t, w.Tmux.Answers(ctx), tmux.ErrSilent) // the only call that is sent
	for name, call := range map[string]func() error{
		"ensure":  func() error { return w.Tmux.Ensure(ctx) },
		"panes":   func() error { _, err := w.Tmux.Panes(ctx); return err },
		"pane":    func() error { _, err := w.Tmux.Pane(ctx, r.ID); return err },
		"look":    func() error { _, _, _, err := w.Tmux.PaneAndScreen(ctx, r.ID); return err },
		"capture": func() error { _, err := w.Tmux.Capture(ctx, r.ID, 0); return err },
		"viewers": func() error { _, err := w.Tmux.Viewers(ctx); return err },
		"new":     func() error { _, err := w.Tmux.NewWindow(ctx, spec(t, "/bin/true")); return err },
		"enter":   func() error { return w.Tmux.Enter(ctx, r.guard()) },
		"close":   func() error { return w.Tmux.ClosePane(ctx, r.guard()) },
	} {
		err := call()
		require.ErrorIs(t, err, tmux.ErrSilent, name)
		require.False(t, errors.Is(err, tmux.ErrNoPane) || errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrGuard), "%s: %v", name, err)
	}
	reported.Store(0)
	answers()
	eventually(t, func() bool { return reported.Load() > 0 }, "the return is told")
	after, err := w.Tmux.Server(ctx)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	require.NoError(t, w.Tmux.Enter(ctx, r.guard()))
}

func checkNoServer(t *testing.T, w World) {
	ctx := t.Context()
	before, err := w.Tmux.Server(ctx)
	require.NoError(t, err)
	r := startRecorder(t, w, nil)
	w.Person.StopServer(t)
	eventually(t, func() bool { // a command that was under way has an unknown outcome
		_, err = w.Tmux.Panes(ctx)
		return !errors.Is(err, tmux.ErrLost)
	}, "tmux is known to be gone")
	assert.ErrorIs(t, err, tmux.ErrNoServer)
	_, err = w.Tmux.Viewers(ctx)
	assert.ErrorIs(t, err, tmux.ErrNoServer)
	_, err = w.Tmux.Pane(ctx, r.ID)
	assert.ErrorIs(t, err, tmux.ErrNoServer)
	assert.False(t, errors.Is(err, tmux.ErrNoPane), "no server is no answer about a pane")
	err = w.Tmux.Enter(ctx, r.guard())
	assert.ErrorIs(t, err, tmux.ErrNoServer)
	assert.False(t, errors.Is(err, tmux.ErrGuard))

	require.NoError(t, w.Tmux.Ensure(ctx))
	after, err := w.Tmux.Server(ctx)
	require.NoError(t, err)
	assert.NotEqual(t, before, after, "ids of the server before mean nothing now")
	panes, err := w.Tmux.Panes(ctx)
	require.NoError(t, err)
	for _, p := range panes {
		assert.Equal(t, "__main__", p.WindowName)
	}
}
