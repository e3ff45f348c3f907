package claudeflags

import (
	"slices"
	"strings"
)

// Launch is how an agent is started, as a record keeps it.
type Launch struct {
	Command        string   `json:"command"` // as configured: a name on PATH or a path
	Flags          []string `json:"flags,omitempty"`
	PermissionMode string   `json:"permission_mode"` // ccbot's: ask or bypass
}

// Seen is what is known of the conversation that a launch goes on with.
type Seen struct {
	Mode     string // the permission mode that it was last in
	Model    string // the model that was last asked
	ModelSet bool   // the environment names a model
	Resumes  bool   // the agent resumes the conversation, with the mode that it had
}

// The options that a relaunch has an opinion on, and permission modes of Claude Code.
const (
	optModel     = "--model"
	optMode      = "--permission-mode"
	Bypass       = "--dangerously-skip-permissions"
	optMayBypass = "--allow-dangerously-skip-permissions"
	ModeBypass   = "bypassPermissions"
	modeDefault  = "default"
)

// granted are the options that say what may be done unasked, and where. They are the operator's
// present word.
var granted = []string{"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--add-dir"}

// launching is a launch with its flags taken apart.
type launching struct {
	Launch
	flags options
}

func takeApart(l Launch) launching { return launching{l, parse(l.Flags)} }

// Bypasses says whether an agent that is started so may act unasked.
func (l Launch) Bypasses() bool { return takeApart(l).bypasses() }

func (l launching) bypasses() bool {
	return l.PermissionMode == "bypass" || l.flags.has(Bypass, optMayBypass) || l.flags.value(optMode) == ModeBypass
}

// Relaunch decides how an agent is started again: with the recorded flags (nil: no program noted
// them), with the model and the permission mode that it was last seen in, and with no more allowed
// than a new session would be. The command is the configured one: the recorded command may be what
// allowed more.
func Relaunch(recorded *Launch, configured Launch, seen Seen) Launch {
	present := takeApart(configured)
	l := present
	if recorded != nil {
		l = takeApart(*recorded)
		l.Command = configured.Command
		l.flags = l.flags.drop(func(o option) bool { _, isOwn := ownName(o.name, o.words[0]); return isOwn })
		// What is granted takes all texts that follow, so it stands behind the texts in front.
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

// setMode has the agent start in the mode that it was seen in. Claude Code goes on in it by itself,
// but 2.1.197 not in plan mode, a flag overrules it, and "auto", which asks nobody, would come back
// whatever the settings of the launch say: a mode that is not known to ask is not taken over, and
// none is left to Claude Code.
func (l *launching) setMode(present launching, seen Seen) {
	want := seen.Mode
	if want == "" {
		want = l.flags.value(optMode)
	}
	// Without a word about the mode the settings do not count, or name none.
	unsaid := want == "" && !l.bypasses() && (seen.Resumes || present.bypasses())
	if unsaid || !l.mayBe(want, present) {
		want = modeDefault
	}
	if want == "" || want == ModeBypass {
		return
	}
	if l.bypasses() { // its flags would win over the mode: bypass is left one key away
		l.flags = l.flags.with(option{name: optMayBypass, words: []string{optMayBypass}}, Bypass, optMayBypass)
	}
	l.flags = l.flags.withValue(optMode, want)
}

// mayBe says whether a mode may be taken over.
func (l *launching) mayBe(mode string, present launching) bool {
	switch mode {
	case "", "plan", "acceptEdits", "dontAsk", "manual", modeDefault:
		return true
	}
	return l.bypasses() || mode != ModeBypass && mode == present.flags.value(optMode)
}

// setModel keeps a flag or a variable from overruling the model that was last asked; without either
// Claude Code goes on with that model by itself. "opusplan" is no model but a choice between two,
// and stays.
func (l *launching) setModel(seen Seen) {
	flag := l.flags.value(optModel)
	if seen.Model == "" || strings.HasPrefix(seen.Model, "-") || flag == "opusplan" || flag == "" && !seen.ModelSet {
		return
	}
	l.flags = l.flags.withValue(optModel, seen.Model)
}
