package claudeflags

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func launchOf(mode string, flags ...string) Launch {
	return Launch{Command: "claude", Flags: flags, PermissionMode: mode}
}

func TestRelaunch(t *testing.T) {
	ask := func(flags ...string) Launch { return launchOf("ask", flags...) }
	bypass := func(flags ...string) Launch {
		return launchOf("bypass", append(flags, "--dangerously-skip-permissions")...)
	}
	named := func(set bool) map[string]string {
		if set {
			return map[string]string{"ANTHROPIC_MODEL": "claude-y"}
		}
		return nil
	}
	seen := func(mode, model string) Seen {
		return Seen{Mode: mode, Model: model}
	}
	no := Seen{}
	tests := []struct {
		name     string
		recorded *Launch
		present  Launch
		seen     Seen
		env      bool // ANTHROPIC_MODEL is set
		want     Launch
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

		{"all edits were allowed to the agent that has ended", new(ask()), ask(), seen("acceptEdits", ""), false, ask("--permission-mode", "default"), true},
		{"unless it was started so", new(ask("--permission-mode", "acceptEdits")), ask(), seen("acceptEdits", ""), false, ask("--permission-mode", "acceptEdits"), true},
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
			var before Launch
			if tc.recorded != nil {
				before = *tc.recorded
				before.Flags = slices.Clone(before.Flags)
			}
			tc.seen.Env, tc.seen.Resumes = named(tc.env), tc.resumes
			got := Relaunch(tc.recorded, tc.present, tc.seen)
			assert.Equal(t, tc.want, got)
			if tc.recorded != nil {
				assert.Equal(t, before.Flags, tc.recorded.Flags, "what is noted stays as it is")
			}
			assert.Equal(t, got, Relaunch(&got, tc.present, tc.seen), "and the next time is the same")
		})
	}
}

// A restored agent may do no more than a new session, regardless of how it was started and
// switched.
func TestRestoreIsNoLooserThanConfiguration(t *testing.T) {
	words := []string{"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--permission-mode", "--permission-mode=auto",
		"--permission-mode=bypassPermissions", "--permission-mode=plan", "auto", "bypassPermissions", "plan", "default", "--allowedTools", "--allowed-tools=Bash",
		"--add-dir", "--disallowedTools", "Bash", "/", "--resume", "-p", "--effort", "--debug-file", "--chrome", "--model", "--model=opus", "-d", "--", "--append-system-prompt", "text"}
	flags := rapid.SliceOfN(rapid.SampledFrom(words), 0, 6)
	mode := rapid.SampledFrom([]string{"", "ask", "bypass"})
	rapid.Check(t, func(t *rapid.T) {
		present := launchOf(mode.Draw(t, "present mode"), flags.Draw(t, "present flags")...)
		recorded := launchOf(mode.Draw(t, "recorded mode"), flags.Draw(t, "recorded flags")...)
		seen := Seen{Env: map[string]string{"ANTHROPIC_MODEL": rapid.SampledFrom([]string{"", "claude-y"}).Draw(t, "env")}, Resumes: rapid.Bool().Draw(t, "resumes"), Model: rapid.SampledFrom([]string{"", "claude-x"}).Draw(t, "model"),
			Mode: rapid.SampledFrom([]string{"", "default", "plan", "acceptEdits", "dontAsk", "auto", "bypassPermissions", "later"}).Draw(t, "mode")}
		got := Relaunch(&recorded, present, seen)

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

// Which words belong together is unknown: Claude Code has more options than are known here.
func TestRelaunchKeepsOrderOfWords(t *testing.T) {
	words := rapid.SampledFrom([]string{"--effort", "high", "--debug-file", "f", "--debug", "-d", "--new", "--new=x", "text", "-", "--model", "--model=opus",
		"opusplan", "--permission-mode", "plan", "--disallowedTools", "--allowed-tools=Bash", "--add-dir", "Bash", "--mcp-config", "-n", "-nx", "--"})
	rapid.Check(t, func(t *rapid.T) {
		flags := rapid.SliceOfN(words, 0, 8).Draw(t, "flags")
		recorded := launchOf("ask", flags...)
		o := parse(flags)
		assert.Equal(t, flags, append([]string{}, o.words()...))
		if mode := o.value(optMode); mode == "" || mode == "plan" {
			same := Relaunch(&recorded, recorded, Seen{})
			assert.Equal(t, flags, append([]string{}, same.Flags...), "nothing is to change")
		}

		got := Relaunch(&recorded, recorded, Seen{Mode: "plan", Model: "claude-x", Env: map[string]string{"ANTHROPIC_MODEL": "claude-y"}})
		others := func(flags []string) []string {
			return append([]string{}, parse(flags).without(optModel, optMode).words()...)
		}
		assert.Equal(t, others(flags), others(got.Flags))
		assert.Equal(t, "plan", parse(got.Flags).value(optMode))
	})
}

func TestOptions(t *testing.T) {
	flags := []string{"--model", "--x", "-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}
	o := parse(flags)
	assert.Equal(t, "--x", o.value("--model"))
	assert.Equal(t, "a b", o.value("--add-dir"))
	assert.Equal(t, "A", o.value("--tools"))
	assert.True(t, o.has("-d"))
	assert.Equal(t, []string{"-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}, o.without("--model").words())
	assert.Equal(t, flags, []string{"--model", "--x", "-d", "--add-dir", "a", "b", "--name", "--", "--tools=A", "B", "--", "--model", "y"}, "it is left as it is")
	assert.Empty(t, parse(nil).words())
	assert.Equal(t, "", parse([]string{"--model"}).value("--model"), "its value is missing")
}
