package lifecycle

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// configured is how a new session is started.
func (k *kit) configured() *session.Launch {
	return &session.Launch{Command: k.Command, Flags: slices.Clone(k.Flags), PermissionMode: k.PermissionMode}
}

// lastSeen is what is known of the conversation that a launch goes on with: its
// model and its permission mode were perhaps changed at the desk.
func (w *work) lastSeen(conversation []string) transcript.Progress {
	if w.r.ForkOf == uuid.Nil || w.r.Progress.Path != "" || !slices.Contains(conversation, w.r.ForkOf.String()) {
		return w.r.Progress
	}
	path, err := transcript.Find(w.Observer.ProjectsDir, w.r.ForkOf)
	if err != nil {
		return transcript.Progress{}
	}
	p, err := transcript.Progress{}.Advance(path)
	if err != nil {
		w.Log.Debug("transcript_unreadable", "session_id", w.r.ID.String(), "error", err.Error())
	}
	return p
}

// The options of Claude Code that a restore has an opinion on.
const (
	optModel     = "--model"
	optMode      = "--permission-mode"
	optBypass    = "--dangerously-skip-permissions"
	optMayBypass = "--allow-dangerously-skip-permissions"
	modeBypass   = "bypassPermissions"
	modeDefault  = "default"
)

// granted are the options that say what may be done unasked, and where. They are
// the operator's present word.
var granted = []string{"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools", "--add-dir"}

// launching is a launch with its flags taken apart.
type launching struct {
	session.Launch
	flags options
}

func takeApart(l session.Launch) launching { return launching{Launch: l, flags: parseOptions(l.Flags)} }

// bypasses says whether an agent that is started so may act unasked.
func (l launching) bypasses() bool {
	return l.PermissionMode == "bypass" || l.flags.has(optBypass) || l.flags.has(optMayBypass) || l.flags.value(optMode) == modeBypass
}

// ContinuesAlone says whether a session may go on by itself after its interruption: the agent was
// seen at work and not waiting for a person, it asks before it acts, and it does not end again and
// again.
func ContinuesAlone(r session.Record) bool {
	i := r.Unfinished()
	if i == nil || i.Waited || i.Unseen || i.Again || r.Progress.PermissionMode == modeBypass {
		return false
	}
	return r.Launch != nil && !Bypasses(*r.Launch)
}

// Bypasses says whether an agent that is started so may act unasked.
func Bypasses(l session.Launch) bool { return takeApart(l).bypasses() }

// circumstances are what else decides how an agent is started.
type circumstances struct {
	modelSet bool // the environment names a model
	resumes  bool // it goes on with a conversation, and with the mode that it had
}

// relaunch decides how an agent is started again: with the flags of before (nil:
// nobody noted them), with the model and the permission mode that it was last seen
// in, and with no more allowed than a new session would be. The command is the
// configured one: that of before may be what allowed more. It is pure.
func relaunch(recorded *session.Launch, configured session.Launch, seen transcript.Progress, c circumstances) session.Launch {
	present := takeApart(configured)
	l := present
	if recorded != nil {
		l = takeApart(*recorded)
		l.Command = configured.Command
		l.flags = l.flags.drop(option.own)
		l.regrant(present)
	}
	if l.bypasses() && !present.bypasses() {
		l.PermissionMode, l.flags = present.PermissionMode, l.flags.without(optBypass, optMayBypass)
		if l.flags.value(optMode) == modeBypass {
			l.flags = l.flags.without(optMode)
		}
	}
	l.setMode(present, seen.PermissionMode, c.resumes)
	l.setModel(seen.Requested, c.modelSet)
	l.Flags = l.flags.words()
	return l.Launch
}

// regrant replaces what the recorded flags grant by what the present ones do. These
// take all texts that follow, so they stand behind those in front.
func (l *launching) regrant(present launching) {
	now := present.flags.only(granted...)
	if !slices.Equal(l.flags.only(granted...).words(), now.words()) {
		l.flags = l.flags.without(granted...)
		l.flags = slices.Insert(l.flags, l.flags.texts(), now...)
	}
}

// setMode has the agent start in the mode that it was seen in. Claude Code goes
// on in it by itself, but 2.1.197 not in plan mode, a flag overrules it, and
// "auto", which asks nobody, would come back whatever the settings of the launch
// say: a mode that is not known to ask is not taken over, and none is left to it.
func (l *launching) setMode(present launching, seen string, resumes bool) {
	want := seen
	if want == "" {
		want = l.flags.value(optMode)
	}
	unsaid := want == "" && !l.bypasses() && (resumes || present.bypasses()) // then the settings do not count, or name none
	if unsaid || !l.mayBe(want, present) {
		want = modeDefault
	}
	if want == "" || want == modeBypass {
		return
	}
	if l.bypasses() { // its flags would win over the mode
		l.allowBypass()
	}
	l.flags = l.flags.with(optMode, want)
}

// allowBypass leaves bypass one key away.
func (l *launching) allowBypass() {
	may := option{name: optMayBypass, words: []string{optMayBypass}}
	if l.flags.has(optBypass) || l.flags.has(optMayBypass) {
		l.flags = l.flags.replaced(may, optBypass, optMayBypass)
		return
	}
	l.flags = append(options{may}, l.flags...)
}

// mayBe says whether a mode may be taken over.
func (l *launching) mayBe(mode string, present launching) bool {
	switch mode {
	case "", "plan", "acceptEdits", "dontAsk", "manual", modeDefault:
		return true
	}
	return l.bypasses() || mode != modeBypass && mode == present.flags.value(optMode)
}

// setModel keeps a flag or a variable from overruling the model that was last
// asked; without either Claude Code goes on with that by itself. "opusplan" is no
// model but a choice between two, and stays.
func (l *launching) setModel(seen string, modelSet bool) {
	flag := l.flags.value(optModel)
	if seen == "" || strings.HasPrefix(seen, "-") || flag == "opusplan" || flag == "" && !modelSet {
		return
	}
	l.flags = l.flags.with(optModel, seen)
}
