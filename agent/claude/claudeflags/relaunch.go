package claudeflags

import (
	"slices"
	"strings"

	"ccbot/agent"
)

type (
	// Launch records how an agent is started.
	Launch = agent.Launch
	// Seen holds the known facts about the conversation that a launch continues.
	Seen = agent.Seen
)

// The options that a relaunch handles specially, and permission modes of Claude Code.
const (
	optModel     = "--model"
	optMode      = "--permission-mode"
	Bypass       = "--dangerously-skip-permissions"
	optMayBypass = "--allow-dangerously-skip-permissions"
	ModeBypass   = "bypassPermissions"
	modeDefault  = "default"
	modeEdits    = "acceptEdits"
)

// granted lists the options that grant or forbid actions and folders. Their configured values
// always replace the recorded ones.
var granted = []string{"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--add-dir"}

// launching is a launch with its flags split into options.
type launching struct {
	Launch
	flags options
}

func takeApart(l Launch) launching { return launching{l, parse(l.Flags)} }

// Bypasses reports whether an agent that is started with this launch may act without asking.
func Bypasses(l Launch) bool { return takeApart(l).bypasses() }

func (l launching) bypasses() bool {
	return l.PermissionMode == "bypass" || l.flags.has(Bypass, optMayBypass) || l.flags.value(optMode) == ModeBypass
}

// WithModel is the launch with another model.
func WithModel(l Launch, model string) Launch {
	l.Flags = parse(l.Flags).withValue(optModel, model).words()
	return l
}

// Relaunch decides how an agent is started again: with the recorded flags (nil: no flags were
// recorded), with the model and the permission mode of its last run, and with no more permissions
// than a new session would get. The command is the configured one, because the recorded command may
// be what gave more permissions.
func Relaunch(recorded *Launch, configured Launch, seen Seen) Launch {
	present := takeApart(configured)
	l := present
	if recorded != nil {
		l = takeApart(*recorded)
		l.Command = configured.Command
		l.flags = l.flags.drop(func(o option) bool { _, isOwn := ownName(o.name, o.words[0]); return isOwn })
		// The granted options take all texts that follow them, so they are inserted after the texts
		// in front.
		if now := present.flags.only(granted...); !slices.Equal(l.flags.only(granted...).words(), now.words()) {
			l.flags = l.flags.without(granted...)
			l.flags = slices.Insert(l.flags, l.flags.texts(), now...)
		}
	}
	if l.bypasses() && !present.bypasses() {
		l.PermissionMode, l.flags = present.PermissionMode, l.flags.without(Bypass, optMayBypass)
		if l.flags.value(optMode) == ModeBypass {
			l.flags = l.flags.without(optMode)
		}
	}
	l.setMode(present, seen)
	l.setModel(seen)
	l.Flags = l.flags.words()
	return l.Launch
}

// setMode makes the agent start in its last mode, but all edits are allowed to one agent only: a
// resume asks again. Claude Code continues in that mode by itself, with two exceptions: 2.1.197 does
// not continue in plan mode, and a flag overrides it. A mode that is not known to ask is replaced
// rather than left to Claude Code: "auto", which never asks, would otherwise return regardless of the
// settings of the launch.
func (l *launching) setMode(present launching, seen Seen) {
	want, flag := seen.Mode, l.flags.value(optMode)
	if want == "" {
		want = flag
	}
	if seen.Resumes && !seen.Chosen && want == modeEdits && flag != modeEdits { // a tap allowed all edits to the agent that has ended
		want = modeDefault
	}
	// Neither the conversation nor a flag names a mode: in a resumed conversation the settings do
	// not count, and with a configured bypass they name none.
	unsaid := want == "" && !l.bypasses() && (seen.Resumes || present.bypasses())
	if unsaid || !l.mayBe(want, present) {
		want = modeDefault
	}
	if want == "" || want == ModeBypass {
		return
	}
	if l.bypasses() { // its flags would win over the mode: bypass stays one key away
		l.flags = l.flags.with(option{name: optMayBypass, words: []string{optMayBypass}}, Bypass, optMayBypass)
	}
	l.flags = l.flags.withValue(optMode, want)
}

// mayBe reports whether a mode may be kept.
func (l *launching) mayBe(mode string, present launching) bool {
	switch mode {
	case "", "plan", modeEdits, "dontAsk", "manual", modeDefault:
		return true
	}
	return l.bypasses() || mode != ModeBypass && mode == present.flags.value(optMode)
}

// setModel prevents a flag or a variable from overriding the model that was last in use; without
// either, Claude Code continues with that model by itself. "opusplan" is not a model but a choice
// between two, and stays.
func (l *launching) setModel(seen Seen) {
	flag := l.flags.value(optModel)
	if seen.Model == "" || strings.HasPrefix(seen.Model, "-") || flag == "opusplan" || flag == "" && seen.Env["ANTHROPIC_MODEL"] == "" {
		return
	}
	l.flags = l.flags.withValue(optModel, seen.Model)
}
