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
	"pgregory.net/rapid"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/tmux/tmuxtest"
)

func launchOf(mode string, flags ...string) session.Launch {
	return session.Launch{Command: "claude", Flags: flags, PermissionMode: mode}
}

func TestRelaunch(t *testing.T) {
	ask := func(flags ...string) session.Launch { return launchOf("ask", flags...) }
	bypass := func(flags ...string) session.Launch {
		return launchOf("bypass", append(flags, "--dangerously-skip-permissions")...)
	}
	seen := func(mode, model string) transcript.Progress {
		return transcript.Progress{PermissionMode: mode, Requested: model}
	}
	no := transcript.Progress{}
	tests := []struct {
		name     string
		recorded *session.Launch
		present  session.Launch
		seen     transcript.Progress
		env      bool // ANTHROPIC_MODEL is set
		want     session.Launch
		resumes  bool
	}{
		{"a new session", nil, ask("--verbose"), no, false, ask("--verbose"), false},
		{"as it was, whatever is configured now", new(ask("--verbose")), ask("--debug"), no, false, ask("--verbose"), false},
		{"by a program that noted nothing", nil, ask("--debug"), seen("", ""), false, ask("--debug"), false},

		{"in plan mode", new(ask()), ask(), seen("plan", ""), false, ask("--permission-mode", "plan"), false},
		{"in the mode that accepts edits", new(ask()), ask(), seen("acceptEdits", ""), false, ask("--permission-mode", "acceptEdits"), false},
		{"in the default mode, which a flag would overrule", new(ask("--permission-mode", "plan", "-d")), ask(), seen("default", ""), false,
			ask("--permission-mode", "default", "-d"), false},
		{"however the flag is written", new(ask("-d", "--permission-mode=plan")), ask(), seen("default", ""), false, ask("-d", "--permission-mode", "default"), false},
		{"a flag that nothing was seen of stays", new(ask("--permission-mode", "plan")), ask(), no, false, ask("--permission-mode", "plan"), false},
		{"auto mode asks nobody", new(ask()), ask(), seen("auto", ""), false, ask("--permission-mode", "default"), false},
		{"nor does a flag bring it back", new(ask("--permission-mode", "auto")), ask(), no, false, ask("--permission-mode", "default"), false},
		{"unless it is the operator's word", new(ask()), ask("--permission-mode", "auto"), seen("auto", ""), false, ask("--permission-mode", "auto"), false},
		{"a word of a later version", new(ask()), ask(), seen("yolo", ""), false, ask("--permission-mode", "default"), false},
		{"a word that is an option", new(ask()), ask(), seen("--resume", ""), false, ask("--permission-mode", "default"), false},

		{"bypass stays where it is configured", new(bypass()), bypass(), seen("bypassPermissions", ""), false, bypass(), false},
		{"bypass is not brought back", new(bypass("-d")), ask(), seen("bypassPermissions", ""), false, ask("--permission-mode", "default", "-d"), false},
		{"not as a flag of another name", new(ask("--allow-dangerously-skip-permissions")), ask(), no, false, ask(), false},
		{"nor as a mode", new(ask("--permission-mode", "bypassPermissions")), ask(), no, false, ask(), false},
		{"nor joined", new(ask("--permission-mode=bypassPermissions")), ask(), seen("bypassPermissions", ""), false, ask("--permission-mode", "default"), false},
		{"a session that asks goes on asking", new(ask()), bypass(), no, false, ask("--permission-mode", "default"), false},
		{"also in plan mode", new(ask()), bypass(), seen("plan", ""), false, ask("--permission-mode", "plan"), false},
		{"plan mode where bypass is a key away", new(bypass("-d")), bypass(), seen("plan", ""), false,
			launchOf("bypass", "--permission-mode", "plan", "-d", "--allow-dangerously-skip-permissions"), false},
		{"nor does one that asked take it from the configuration", new(ask("--permission-mode", "auto")), ask("--permission-mode", "bypassPermissions"),
			seen("bypassPermissions", ""), false, ask("--permission-mode", "default"), false},
		{"an old record is started as configured", nil, bypass(), no, false, bypass(), false},

		{"the model is kept by itself", new(ask()), ask(), seen("", "claude-x"), false, ask(), false},
		{"but for a flag", new(ask("--model", "opus", "-d")), ask(), seen("", "claude-x[1m]"), false, ask("--model", "claude-x[1m]", "-d"), false},
		{"joined", new(ask("-d", "--model=opus")), ask(), seen("", "claude-x"), false, ask("-d", "--model", "claude-x"), false},
		{"or a variable", new(ask()), ask(), seen("", "claude-x"), true, ask("--model", "claude-x"), false},
		{"a flag that nothing was seen of", new(ask("--model", "opus")), ask(), no, true, ask("--model", "opus"), false},
		{"a choice of models stays one", new(ask("--model", "opusplan")), ask(), seen("", "claude-x"), false, ask("--model", "opusplan"), false},
		{"a model that is an option", new(ask("--model", "opus")), ask(), seen("", "--x"), false, ask("--model", "opus"), false},
		{"mode and model", new(ask("--model", "opus")), ask(), seen("plan", "claude-x"), false, ask("--permission-mode", "plan", "--model", "claude-x"), false},

		{"what is granted is the operator's word", new(ask("--allowedTools", "Bash", "Edit", "-d", "--add-dir=/")), ask("--disallowedTools", "WebFetch"), no, false,
			ask("--disallowedTools", "WebFetch", "-d"), false},
		{"the same words stay where they are", new(ask("-d", "--allowedTools", "Bash")), ask("--allowedTools", "Bash", "-x"), no, false,
			ask("-d", "--allowedTools", "Bash"), false},
		{"a text is not taken for an option", new(ask("--append-system-prompt", "--model", "--", "--model")), ask(), seen("", "claude-x"), false,
			ask("--append-system-prompt", "--model", "--", "--model"), false},

		{"a value of an option that is not known stays behind it", new(ask("--effort", "high", "--new", "x", "--debug-file", "f", "--model", "opus", "-d")), ask(),
			seen("plan", "claude-x"), false, ask("--permission-mode", "plan", "--effort", "high", "--new", "x", "--debug-file", "f", "--model", "claude-x", "-d"), false},
		{"a value that looks like an option", new(ask("--debug-file", "--model", "--effort", "--permission-mode")), ask(), seen("", "claude-x"), false,
			ask("--debug-file", "--model", "--effort", "--permission-mode"), false},
		{"each of several", new(ask("--model", "a", "-d", "--model=b")), ask(), seen("", "claude-x"), false, ask("--model", "claude-x", "-d", "--model", "claude-x"), false},
		{"a text is not taken for what is granted", new(ask("hello", "-d", "--add-dir=/", "now")), ask("--allowedTools", "Bash"), seen("plan", ""), false,
			ask("--permission-mode", "plan", "hello", "now", "--allowedTools", "Bash", "-d"), false},
		{"nor for what a flag in front of it takes", new(ask("--disallowedTools", "Bash", "--print", "hello", "--", "x")), ask("--disallowedTools", "Bash"), no, false,
			ask("hello", "--disallowedTools", "Bash", "--", "x"), false},

		{"nothing was seen of a conversation: as a new one", new(ask("-d")), ask("-d"), no, false, ask("--permission-mode", "default", "-d"), true},
		{"its flag is known", new(ask("--permission-mode", "plan")), ask(), no, false, ask("--permission-mode", "plan"), true},
		{"nor was it noted how it was started", nil, ask(), no, false, ask("--permission-mode", "default"), true},
		{"bypass that is not configured any more", new(bypass()), ask(), no, false, ask("--permission-mode", "default"), true},
		{"bypass that is", new(bypass()), bypass(), no, false, bypass(), true},
	}
	for _, words := range [][]string{{"--resume", "x"}, {"--resume"}, {"--resume=x"}, {"-r", "x"}, {"-rx"}, {"--continue"}, {"-c"}, {"--session-id", "--x"}, {"--session-id=x"}, {"--fork-session"}, {"--settings", "x"}, {"--settings=x"}, {"-p"}, {"--print"}, {"-pr", "x"}, {"-pc"}, {"-pcrx"}} {
		tests = append(tests, tests[0])
		last := &tests[len(tests)-1]
		last.name = "never " + strings.Join(words, " ")
		last.recorded = new(ask(slices.Concat([]string{"--effort", "high"}, words, []string{"-d", "plan"})...))
		last.want = ask("--effort", "high", "-d", "plan")
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var before session.Launch
			if tc.recorded != nil {
				before = *tc.recorded
				before.Flags = slices.Clone(before.Flags)
			}
			goesOn := circumstances{modelSet: tc.env, resumes: tc.resumes}
			got := relaunch(tc.recorded, tc.present, tc.seen, goesOn)
			assert.Equal(t, tc.want, got)
			if tc.recorded != nil {
				assert.Equal(t, before.Flags, tc.recorded.Flags, "what is noted stays as it is")
			}
			assert.Equal(t, got, relaunch(&got, tc.present, tc.seen, goesOn), "and the next time is the same")
		})
	}
}

// However an agent was started, and whatever it was switched to since: it comes
// back with no more allowed than a new session has.
func TestARestoreIsNeverLooserThanTheConfiguration(t *testing.T) {
	words := []string{"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--permission-mode", "--permission-mode=auto",
		"--permission-mode=bypassPermissions", "--permission-mode=plan", "auto", "bypassPermissions", "plan", "default", "--allowedTools", "--allowed-tools=Bash",
		"--add-dir", "--disallowedTools", "Bash", "/", "--resume", "-p", "--effort", "--debug-file", "--chrome", "--model", "--model=opus", "-d", "--", "--append-system-prompt", "text"}
	flags := rapid.SliceOfN(rapid.SampledFrom(words), 0, 6)
	mode := rapid.SampledFrom([]string{"", "ask", "bypass"})
	rapid.Check(t, func(t *rapid.T) {
		present := launchOf(mode.Draw(t, "present mode"), flags.Draw(t, "present flags")...)
		recorded := launchOf(mode.Draw(t, "recorded mode"), flags.Draw(t, "recorded flags")...)
		seen := transcript.Progress{Requested: rapid.SampledFrom([]string{"", "claude-x"}).Draw(t, "model"),
			PermissionMode: rapid.SampledFrom([]string{"", "default", "plan", "acceptEdits", "dontAsk", "auto", "bypassPermissions", "later"}).Draw(t, "mode")}
		got := relaunch(&recorded, present, seen, circumstances{modelSet: rapid.Bool().Draw(t, "env"), resumes: rapid.Bool().Draw(t, "resumes")})

		was, is := takeApart(present), takeApart(got)
		if !was.bypasses() {
			assert.False(t, is.bypasses(), "%v", got)
		}
		if !is.bypasses() {
			asks := []string{"", "default", "manual", "plan", "acceptEdits", "dontAsk", was.flags.value(optMode)}
			assert.Contains(t, asks, is.flags.value(optMode))
		}
		assert.Equal(t, was.flags.only(granted...).words(), is.flags.only(granted...).words())
	})
}

// Nobody else knows which words belong together: Claude Code has more options than
// are known here.
func TestARelaunchKeepsTheOrderOfTheWords(t *testing.T) {
	words := rapid.SampledFrom([]string{"--effort", "high", "--debug-file", "f", "--debug", "-d", "--new", "--new=x", "text", "-", "--model", "--model=opus",
		"opusplan", "--permission-mode", "plan", "--disallowedTools", "--allowed-tools=Bash", "--add-dir", "Bash", "--mcp-config", "-n", "-nx", "--"})
	rapid.Check(t, func(t *rapid.T) {
		flags := rapid.SliceOfN(words, 0, 8).Draw(t, "flags")
		recorded := launchOf("ask", flags...)
		o := parseOptions(flags)
		assert.Equal(t, flags, append([]string{}, o.words()...))
		if mode := o.value(optMode); mode == "" || mode == "plan" {
			same := relaunch(&recorded, recorded, transcript.Progress{}, circumstances{})
			assert.Equal(t, flags, append([]string{}, same.Flags...), "nothing is to change")
		}

		got := relaunch(&recorded, recorded, transcript.Progress{PermissionMode: "plan", Requested: "claude-x"}, circumstances{modelSet: true})
		others := func(flags []string) []string {
			return append([]string{}, parseOptions(flags).without(optModel, optMode).words()...)
		}
		assert.Equal(t, others(flags), others(got.Flags))
		assert.Equal(t, "plan", parseOptions(got.Flags).value(optMode))
	})
}

func TestOptions(t *testing.T) {
	flags := []string{"--model", "--x", "-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}
	o := parseOptions(flags)
	assert.Equal(t, "--x", o.value("--model"))
	assert.Equal(t, "a b", o.value("--add-dir"))
	assert.Equal(t, "A", o.value("--tools"))
	assert.True(t, o.has("-d"))
	assert.Equal(t, []string{"-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}, o.without("--model").words())
	assert.Equal(t, flags, []string{"--model", "--x", "-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}, "it is left as it is")
	assert.Empty(t, parseOptions(nil).words())
	assert.Equal(t, "", parseOptions([]string{"--model"}).value("--model"), "its value is missing")
}

// ---- with a world around it

const seenLine = `{"type":"assistant","requestedModel":"claude-x[1m]","message":{"id":"m","model":"claude-x","content":[],"usage":{"output_tokens":1}}}`

func TestALaunchIsNoted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.Flags, w.PermissionMode = []string{"--verbose"}, "ask"
		r, _ := w.starting()
		assert.Equal(t, &session.Launch{Command: w.Command, Flags: []string{"--verbose"}, PermissionMode: "ask"}, r.Launch)
		assert.Equal(t, []string{"--session-id", r.ClaudeSessionID.String(), "--verbose"}, w.argvOf(r))
	})
}

// The intent to start says how, so that a crash in between forgets nothing.
func TestP8_ALaunchIsNotedBeforeItsWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.Flags, w.PermissionMode = []string{"--verbose"}, "ask"
		var onDisk []session.Record
		w.tmux.onLaunch = func(*agent, *tmuxtest.Process) { onDisk = w.Store.List() }
		w.starting()
		require.Len(t, onDisk, 1)
		require.NotNil(t, onDisk[0].Launch)
		assert.Equal(t, []string{"--verbose"}, onDisk[0].Launch.Flags)
	})
}

// A restore starts the agent as it was: its flags, and the model and the mode
// that a person has switched it to, also at the desk after the end.
func TestARestoreStartsTheAgentAsItWas(t *testing.T) {
	tests := []struct {
		name string
		life func(w *world, r session.Record) // before the restore
		want func(w *world) []string          // flags
	}{
		{"its flags, not those of now", func(w *world, _ session.Record) { w.Flags = []string{"--debug"} },
			func(*world) []string { return []string{"--permission-mode", "default", "--verbose", "--model", "opus"} }},
		{"its mode and its model", func(w *world, r session.Record) { w.write(r, seenLine); w.write(r, planModeLine) },
			func(*world) []string {
				return []string{"--permission-mode", "plan", "--verbose", "--model", "claude-x[1m]"}
			}},
		{"a record that an older program wrote", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) { r.Launch, r.Progress = nil, transcript.Progress{} })
			w.Flags = []string{"--debug"}
		}, func(*world) []string { return []string{"--permission-mode", "default", "--debug"} }},
		{"of an older program, what the transcript says", func(w *world, r session.Record) {
			w.write(r, planModeLine)
			w.edit(r.ID, func(r *session.Record) { r.Launch, r.Progress = nil, transcript.Progress{} })
		}, func(*world) []string { return []string{"--permission-mode", "plan", "--verbose", "--model", "opus"} }},
		{"not what asks nobody", func(w *world, r session.Record) { w.write(r, `{"type":"permission-mode","permissionMode":"auto"}`) },
			func(*world) []string { return []string{"--permission-mode", "default", "--verbose", "--model", "opus"} }},
		{"not what is not configured any more", func(w *world, r session.Record) {
			w.edit(r.ID, func(r *session.Record) {
				r.Launch.PermissionMode, r.Launch.Flags = "bypass", []string{"--verbose", "--dangerously-skip-permissions"}
			})
		}, func(*world) []string { return []string{"--permission-mode", "default", "--verbose"} }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.Flags, w.PermissionMode = []string{"--verbose", "--model", "opus"}, "ask"
				r := w.archived()
				tc.life(w, r)
				r, err := w.restoreIt(r.ID)
				require.NoError(t, err)
				assert.Equal(t, append([]string{"--resume", r.ClaudeSessionID.String()}, tc.want(w)...), w.argvOf(r))
				assert.Equal(t, &session.Launch{Command: w.Command, Flags: tc.want(w), PermissionMode: "ask"}, r.Launch, "and is noted")
				w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
				w.pass(time.Second)
				assert.Equal(t, session.Running, w.get(r.ID).State)
			})
		})
	}
}

// A restore that is refused notes nothing.
func TestARefusedRestoreKeepsItsLaunch(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.write(r, planModeLine)
		w.processes.startNow(777, resume(r.ClaudeSessionID))
		_, err := w.restoreIt(r.ID)
		require.Error(t, err)
		assert.Equal(t, r.Launch, w.get(r.ID).Launch)
		assert.Equal(t, r.Progress, w.get(r.ID).Progress)
	})
}

// The command of before may be one that asks nobody, and that was replaced for it.
func TestARestoreTakesTheConfiguredCommand(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		w.Command = filepath.Join(w.base, "other")
		require.NoError(t, os.WriteFile(w.Command, []byte("#!/bin/sh\n"), 0o700))
		r, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Equal(t, w.Command, w.tmux.Process(w.tmux.agentOf(r).pane).Spec.Argv[0])
		assert.Equal(t, w.Command, r.Launch.Command)
		w.archive(w.get(r.ID))

		require.NoError(t, os.Remove(w.Command))
		_, err = w.restoreIt(r.ID)
		require.ErrorIs(t, err, ErrNoClaude)
	})
}

// Claude Code begins a copy in the mode of its original, which may be one that
// asks nobody.
func TestAForkIsNoLooserThanANewSession(t *testing.T) {
	for seen, want := range map[string]string{"auto": "default", "plan": "plan"} {
		t.Run(seen, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				original := w.archived()
				w.write(original, `{"type":"permission-mode","permissionMode":"`+seen+`"}`)
				q := w.request()
				q.ForkOf = original.ClaudeSessionID
				r, err := w.Start(w.ctx, q)
				require.NoError(t, err)
				assert.Equal(t, []string{"--permission-mode", want}, w.argvOf(r)[5:])
				assert.Zero(t, r.Progress, "it has said nothing itself")
			})
		})
	}
}

func TestARestoreBeginsANewPhase(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old := w.archived()
		require.Equal(t, string(PhaseIdle), old.Phase)
		r, err := w.restoreIt(old.ID)
		require.NoError(t, err)
		assert.Empty(t, r.Phase)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
		w.pass(time.Minute)
		now := w.get(r.ID)
		assert.Equal(t, string(PhaseIdle), now.Phase)
		assert.False(t, now.PhaseAt.Before(r.StartedAt))
		assert.Equal(t, old.Progress.Turns, now.Progress.Turns)
	})
}

// Right after its window was made the process may still be tmux's own, or env.
func TestABindingSaysWhatTheAgentRuns(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		first, err := w.processes.Inspect(a.id.PID)
		require.NoError(t, err)
		assert.Equal(t, process.ArgvHash(first.Args), r.Binding.Argv)
		w.processes.change(a.id.PID, func(p *process.Process) { p.Exe, p.Args = "/opt/claude", []string{"claude", "--later"} })
		w.report(r)
		w.pass(time.Second)
		r = w.get(r.ID)
		require.Equal(t, session.Running, r.State)
		assert.Equal(t, "/opt/claude", r.Binding.Exe)
		assert.Equal(t, "/opt/claude", r.Exe)
		assert.Equal(t, process.ArgvHash([]string{"claude", "--later"}), r.Binding.Argv)
	})
}
