package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/hooks"
	"ccbot/internal/claudeui"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const said = "please fix the build"

// free is a view in which a text may be typed.
func free(change ...func(*view.View)) view.View {
	v := view.View{Now: noon, Agent: process.Alive, Fate: view.PaneOurs, Captured: true,
		Pane:  tmux.Pane{PID: 9, Command: "claude", Tag: "4f0c/x", Width: 120, Height: 40},
		State: view.AgentState{Known: view.StateWritten, Phase: talk.PhaseIdle}, Screen: claudeui.Screen{Box: claudeui.Box{Present: true, Empty: true}}}
	for _, c := range change {
		c(&v)
	}
	return v
}

func in(state session.State, change ...func(*session.Record)) session.Record {
	r := session.Record{ID: uuid.New(), State: state, Run: session.Run{StartedAt: noon.Add(-time.Minute), ReportsAt: noon.Add(-50 * time.Second), Binding: &session.Binding{Command: "claude"}}, Launch: &session.Launch{PermissionMode: hooks.ModeAsk}}
	for _, c := range change {
		c(&r)
	}
	return r
}

func heldPrompt() *Prompt {
	return &Prompt{Key: "k", Text: said, Class: talk.ClassPlain, State: Held, Since: noon.Add(-time.Hour)}
}

func typing(age time.Duration, change ...func(*Prompt)) *Prompt {
	p := &Prompt{Key: "k", Text: said, Class: talk.ClassPlain, State: Typing, Mark: &talk.Mark{At: noon.Add(-age), Enters: 1}}
	for _, c := range change {
		c(p)
	}
	return p
}

func wanting(r *session.Record) { r.Wish = &session.Wish{Mode: "plan"} }

func command(p *Prompt)                         { p.Text, p.Class = "/compact", talk.ClassCommand }
func retreat(p *Prompt)                         { p.Mark.Retreat, p.Mark.Enters = true, 0 }
func enters(n int) func(*Prompt)                { return func(p *Prompt) { p.Mark.Enters = n } }
func status(s presence.Status) func(*view.View) { return written(presence.File{Status: s}) }
func fate(f view.PaneFate) func(*view.View)     { return func(v *view.View) { v.Fate = f } }
func alive(l process.Liveness) func(*view.View) { return func(v *view.View) { v.Agent = l } }
func draft(text string) func(*view.View) {
	return func(v *view.View) { v.Screen.Box = claudeui.Box{Present: true, Text: text} }
}
func dialogOpen(v *view.View) {
	v.Screen = claudeui.Screen{Dialog: &claudeui.Dialog{Title: "Bash command"}}
}
func noBox(v *view.View)      { v.Screen.Box = claudeui.Box{} }
func blind(v *view.View)      { v.Captured, v.Screen = false, claudeui.Screen{} }
func scrolled(v *view.View)   { v.Pane.InMode = true }
func synced(v *view.View)     { v.Pane.Synchronized = true }
func narrow(v *view.View)     { v.Pane.Width = 40 }
func flat(v *view.View)       { v.Pane.Height = 5 }
func behind(v *view.View)     { v.Adopted, v.Behind = true, true }
func bashMode(v *view.View)   { v.Screen.Box = claudeui.Box{Present: true, Empty: true, Bash: true} }
func asksBelow(v *view.View)  { v.Below = "Bash" }
func ahead(v *view.View)      { v.State.Since = noon.Add(time.Hour) }
func noPresence(v *view.View) { v.State = view.AgentState{Known: view.StateUnwritten} }
func unreadable(v *view.View) { v.State = view.AgentState{} }

// written is a view of an agent that wrote this presence file at the time of its last one.
func written(f presence.File) func(*view.View) {
	return func(v *view.View) {
		f.UpdatedAt = v.State.Since
		v.State = view.StateOf(process.Identity{}, f, nil)
	}
}

func TestDecide(t *testing.T) {
	running, starting, restoring := session.Running, session.Starting, session.Restoring
	unreported := func(r *session.Record) { r.ReportsAt = time.Time{} }
	young := func(age time.Duration) func(*session.Record) {
		return func(r *session.Record) { r.StartedAt = noon.Add(-age) }
	}
	tests := []struct {
		name string
		r    session.Record
		v    view.View
		head *Prompt
		act  Do
		why  news.Wait
	}{
		{"ready", in(starting), free(), nil, actReady, ""},
		{"ready again", in(restoring), free(), nil, actReady, ""},
		{"not reported, young", in(starting, unreported, young(presenceGrace-time.Millisecond)), free(), nil, actNothing, ""},
		{"not reported, presence says idle long enough", in(starting, unreported, young(presenceGrace)), free(), nil, actReady, ""},
		{"starting, a dialog", in(starting), free(dialogOpen), nil, actDialog, ""},
		{"starting, presence waits", in(starting), free(status(presence.Waiting)), nil, actDialog, ""},
		{"starting, no box yet", in(starting), free(noBox), nil, actNotReport, ""},
		{"starting, a draft", in(starting), free(draft("x")), nil, actNotReport, ""},
		{"starting, silent", in(starting, unreported, young(StartNotice)), free(noBox), nil, actNotReport, ""},
		{"starting, silent but young", in(starting, unreported, young(StartNotice-time.Millisecond)), free(noBox), nil, actNothing, ""},
		{"starting does not type", in(starting), free(), heldPrompt(), actReady, ""},
		{"starting ended, pane dead", in(starting), free(alive(process.Gone), fate(view.PaneDead)), nil, Conclude, ""},
		{"starting ended, pane gone", in(starting), free(alive(process.Gone), fate(view.PaneGone)), nil, Conclude, ""},
		{"restoring ended, pane gone", in(restoring), free(alive(process.Gone), fate(view.PaneGone)), nil, Conclude, ""},
		{"running, nothing to do", in(running), free(), nil, actNothing, ""},
		{"running, a dialog", in(running), free(dialogOpen), nil, actDialog, ""},
		{"running, a dialog before a prompt", in(running), free(dialogOpen), heldPrompt(), actDialog, news.HeldDialog},
		{"running, a dialog over a typed prompt", in(running), free(dialogOpen), typing(time.Hour), actDialog, ""},
		{"running, a dialog over a paste without Enter", in(running), free(dialogOpen), typing(time.Hour, retreat), actDialog, news.HeldDialog},
		{"running ended, pane dead", in(running), free(alive(process.Gone), fate(view.PaneDead)), heldPrompt(), Conclude, ""},
		{"running ended, pane gone", in(running), free(alive(process.Gone), fate(view.PaneGone)), heldPrompt(), MarkLost, ""},
		{"running ended, pane taken by another", in(running), free(alive(process.Gone), fate(view.PaneForeign)), nil, MarkLost, ""},
		{"running, process gone, pane not yet dead", in(running), free(alive(process.Gone)), heldPrompt(), actNothing, ""},
		{"running, pane dead, process alive", in(running), free(fate(view.PaneDead)), heldPrompt(), actNothing, ""},
		{"held, free", in(running), free(), heldPrompt(), actType, ""},
		{"held, working", in(running), free(status(presence.Busy)), heldPrompt(), actHold, news.Queued},
		{"held, behind a shell in a turn", in(running), free(status(presence.Busy), behind), heldPrompt(), actHold, news.HeldUnknown},
		{"held, bash mode", in(running), free(bashMode), heldPrompt(), actHold, news.HeldBash},
		{"held, a draft for a moment", in(running), free(draft("mine")), heldPrompt(), actNothing, ""},
		{"held, a draft", in(running), free(draft("mine"), rested), heldPrompt(), actHold, news.HeldDraft},
		{"held, scrolled", in(running), free(scrolled), heldPrompt(), actHold, news.HeldScroll},
		{"held, scrolled, no screen", in(running), free(scrolled, blind), heldPrompt(), actHold, news.HeldScroll},
		{"held, scrolled in a turn", in(running), free(scrolled, status(presence.Busy)), heldPrompt(), actHold, news.Queued},
		{"held, synchronised", in(running), free(synced), heldPrompt(), actHold, news.HeldSync},
		{"held, synchronised in a turn", in(running), free(synced, status(presence.Busy)), heldPrompt(), actHold, news.Queued},
		{"held, synchronised, and a wish", in(running, wanting), free(synced), heldPrompt(), actHold, news.HeldSync},
		{"synchronised, and a wish", in(running, wanting), free(synced), nil, actNothing, ""},
		{"held, no box in a narrow pane", in(running), free(noBox, narrow), heldPrompt(), actHold, news.HeldSmall},
		{"held, no box in a flat pane", in(running), free(noBox, flat), heldPrompt(), actHold, news.HeldSmall},
		{"held, a box in a flat pane", in(running), free(flat), heldPrompt(), actType, ""},
		{"held, a flat pane without a screen", in(running), free(blind, flat), heldPrompt(), actHold, news.HeldUnknown},
		{"retreat, no box in a flat pane", in(running), free(noBox, flat), typing(time.Hour, retreat), actHold, news.HeldSmall},
		{"retreat, scrolled", in(running), free(scrolled, draft(said)), typing(time.Hour, retreat), actHold, news.HeldScroll},
		{"held, an odd status", in(running), free(status("compacting")), heldPrompt(), actHold, news.HeldUnknown},
		{"held, unknown screen", in(running), free(noBox), heldPrompt(), actHold, news.HeldUnknown},
		{"held, no screen", in(running), free(blind), heldPrompt(), actHold, news.HeldUnknown},
		{"held, no presence file", in(running), free(noPresence), heldPrompt(), actType, ""},
		{"held, no presence file, a draft", in(running), free(noPresence, draft("mine"), rested), heldPrompt(), actHold, news.HeldDraft},
		{"held, no presence file, blind", in(running), free(noPresence, blind), heldPrompt(), actHold, news.HeldUnknown},
		{"held, presence overrules the screen", in(running), free(status(presence.Busy)), heldPrompt(), actHold, news.Queued},
		{"typed, a hook will tell", in(running), free(status(presence.Busy)), typing(time.Second), actNothing, ""},
		{"typed, no hook has told", in(running), free(), typing(stillFor), actSettle, ""},
		{"typed, no hook reports", in(running, unreported), free(), typing(time.Second), actSettle, ""},
		{"typed in bash mode", in(running), free(), typing(time.Second, func(p *Prompt) { p.Class = talk.ClassBash }), actSettle, ""},
		{"typed, nothing is known of its mark", in(running), free(), typing(time.Second, func(p *Prompt) { p.Mark = nil }), actUnproven, ""},
		{"retreat, box free", in(running), free(draft(said)), typing(0, retreat), actClear, ""},
		{"retreat, working", in(running), free(draft(said), status(presence.Busy)), typing(time.Hour, retreat), actHold, news.Queued},
		{"retreat, a subagent asks", in(running), free(draft(said), status(presence.Busy), asksBelow), typing(0, retreat), actHold, news.HeldDialog},
		{"command taken", in(running), free(), typing(time.Second, command), actProven, ""},
		{"command in the box", in(running), free(draft("/compact")), typing(time.Second, command), actNothing, ""},
		{"command, still in the box", in(running), free(draft("/compact")), typing(enterRetry, command), actSettle, ""},
		{"command, Enter never sent", in(running), free(), typing(time.Second, command, enters(0)), actNothing, ""},
		{"an interrupted stop", in(session.Stopping), view.View{}, nil, FinishStop, ""},
		{"an unknown dialog, the clock was set back since", in(running), free(noBox, status(presence.Waiting), ahead), nil, actDialog, ""},
		{"a dialog that no file tells of, the clock was set back since", in(running), free(dialogOpen, ahead), nil, actDialog, ""},
		{"held, unknown screen, the clock was set back since", in(running), free(noBox, ahead), heldPrompt(), actHold, news.HeldUnknown},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := decide(tc.r, tc.v, tc.head)
			assert.Equal(t, tc.act, d.Act)
			assert.Equal(t, tc.why, d.Why)
			assert.GreaterOrEqual(t, d.Again, time.Duration(0))
		})
	}
}

// anyView draws a view that differs from a free one in a few ways, because the interesting cases
// are near it.
func anyView(t *rapid.T) view.View {
	v := free()
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		rapid.SampledFrom(changes).Draw(t, "change")(&v)
	}
	return asSeen(v)
}

// asSeen removes fields that View would not have read.
func asSeen(v view.View) view.View {
	if v.Agent != process.Alive {
		v.State = view.AgentState{} // View does not read it then
	}
	if v.Fate != view.PaneOurs && v.Fate != view.PaneDead {
		v.Captured, v.Screen = false, claudeui.Screen{}
	}
	return v
}

var changes = []func(*view.View){
	alive(process.Unknown), alive(process.Gone), fate(view.PaneUnknown), fate(view.PaneDead), fate(view.PaneGone), fate(view.PaneForeign),
	status(presence.Busy), status(presence.Waiting), status("new"), noPresence, unreadable, blind, noBox, scrolled, dialogOpen,
	draft(said), draft("mine"), draft("mine " + said), draft("/compact"), draft("/compact"), draft(said),
	func(v *view.View) { v.Screen.Box.Bash = true }, func(v *view.View) { v.Screen.Busy = true },
	func(v *view.View) { v.Screen.Dialog = &claudeui.Dialog{Title: "over a box"} },
}

// everyCase goes through all views that differ from a free one in up to two
// things, with every state and every kind of head: what rapid may miss.
func everyCase(check func(r session.Record, v view.View, head *Prompt)) {
	heads := []*Prompt{nil, heldPrompt(), typing(0, enters(0)), typing(time.Second), typing(enterRetry), typing(proofWait),
		typing(time.Second, retreat), typing(time.Second, command), typing(proofWait, command, enters(maxEnters))}
	none := func(*view.View) {}
	for _, state := range session.States() {
		for i, first := range append(changes, none) {
			for _, second := range append(changes[:i:i], none) {
				for _, head := range heads {
					check(in(state), asSeen(free(first, second)), head)
				}
			}
		}
	}
}

func anyRecord(t *rapid.T) session.Record {
	r := in(session.Running)
	if rapid.IntRange(0, 2).Draw(t, "other") == 2 {
		r = in(rapid.SampledFrom(session.States()).Draw(t, "state"))
	}
	r.StartedAt = noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "age")) * time.Second)
	if rapid.Bool().Draw(t, "unreported") {
		r.ReportsAt = time.Time{}
	}
	return r
}

func anyHead(t *rapid.T) *Prompt {
	p := heldPrompt()
	if rapid.Bool().Draw(t, "command") {
		command(p)
	}
	switch rapid.IntRange(0, 3).Draw(t, "head") {
	case 0:
		return nil
	case 1:
		return p
	}
	p.State = Typing
	p.Mark = &talk.Mark{At: noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "typed")) * time.Second),
		Enters: rapid.IntRange(0, maxEnters).Draw(t, "enters"), Retreat: rapid.IntRange(0, 3).Draw(t, "retreat") == 0}
	return p
}

func TestP7_UnprovenBoxGetsNoText(t *testing.T) {
	check := func(t fataler, r session.Record, v view.View, head *Prompt) Do {
		d := decide(r, v, head)
		if !slices.Contains([]Do{actType, actClear}, d.Act) {
			return d.Act
		}
		b := v.Screen.Box
		idle := v.State.Known == view.StateUnwritten || v.State.Phase == talk.PhaseIdle
		switch {
		case r.State != session.Running:
			t.Fatalf("keys for a session that is %s", r.State)
		case v.Agent != process.Alive, v.Fate != view.PaneOurs:
			t.Fatalf("keys for an agent that is %s in a pane of fate %d", v.Agent, v.Fate)
		case !idle || v.Phase() != talk.PhaseIdle:
			t.Fatalf("keys in phase %s: %+v", v.Phase(), v)
		case !v.Captured || v.Screen.Dialog != nil || v.Screen.Busy || v.Pane.InMode || !b.Present:
			t.Fatalf("keys into %+v", v)
		case d.Act == actType && (!b.Empty || b.Bash):
			t.Fatalf("typed behind a draft: %+v", b)
		}
		return d.Act
	}
	reached := map[Do]bool{}
	everyCase(func(r session.Record, v view.View, head *Prompt) { reached[check(t, r, v, head)] = true })
	for _, act := range []Do{actType, actClear} {
		require.True(t, reached[act], "act %s is not tested", act)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyRecord(t), anyView(t), anyHead(t)) })
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func TestP6_UnknownChangesNothing(t *testing.T) {
	final := []Do{Conclude, MarkLost, actType, actEnter, actClear, actReady}
	rapid.Check(t, func(t *rapid.T) {
		r, v, head := anyRecord(t), anyView(t), anyHead(t)
		if r.State == session.Stopping {
			return // decided before; Archive's test covers the unknown
		}
		if rapid.Bool().Draw(t, "what") {
			v.Agent = process.Unknown
		} else {
			v.Fate = view.PaneUnknown
		}
		if v.Fate != view.PaneOurs && v.Fate != view.PaneDead {
			v.Captured, v.Screen = false, claudeui.Screen{} // as View makes it
		}
		if d := decide(r, v, head); slices.Contains(final, d.Act) {
			t.Fatalf("act %s on %+v", d.Act, v)
		}
	})
	assert.Equal(t, decision{}, decide(in(session.Running), view.View{}, nil), "the zero view decides nothing")
}

func TestP6_EndNeedsKernelAndTmux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v, head := anyRecord(t), anyView(t), anyHead(t)
		d := decide(r, v, head)
		over := v.Agent == process.Gone && (v.Fate == view.PaneDead || v.Fate == view.PaneGone || v.Fate == view.PaneForeign)
		live := slices.Contains([]session.State{session.Starting, session.Restoring, session.Running}, r.State)
		if ended := d.Act == Conclude || d.Act == MarkLost; ended != (over && live) {
			t.Fatalf("act %s for a %s session on %+v", d.Act, r.State, v)
		}
		if d.Act == MarkLost && r.State != session.Running {
			t.Fatalf("%s became lost", r.State)
		}
	})
}

func TestP4_PromptBeingTypedIsNotRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v := anyRecord(t), anyView(t)
		p := anyHead(t)
		if p == nil || p.State != Typing {
			return
		}
		retreats := p.Mark != nil && p.Mark.Retreat // it must be taken back, and waits for that
		if d := decide(r, v, p); d.Act == actType || d.Act == actHold && !retreats {
			t.Fatalf("act %s of a prompt that is being typed", d.Act)
		}
	})
}

// "Taken" needs a reading of the living agent's box without the command.
func TestP4_ClearedBoxProvesCommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v, p := anyRecord(t), anyView(t), typing(time.Second, command)
		if d := decide(r, v, p); d.Act != actProven {
			return
		}
		b := v.Screen.Box
		if v.Agent == process.Alive && v.Fate == view.PaneOurs && v.Screen.Dialog != nil {
			return // it opened a page in place of the box
		}
		if v.Agent != process.Alive || v.Fate != view.PaneOurs || !v.Captured || !b.Present || p.shows(b) {
			t.Fatalf("proven by %+v", v)
		}
	})
}

// A waiting prompt is checked again, unless news is certain to come.
func TestP4_PromptIsNeverForgotten(t *testing.T) {
	check := func(t fataler, v view.View, p *Prompt) {
		if p == nil || factsOf(v).ended(v.Adopted) {
			return
		}
		d := decide(in(session.Running), v, p)
		wakes := d.Again > 0 || slices.Contains([]Do{actProven, actSettle, actUnproven, actClear}, d.Act) || d.Act == actHold && d.Why == news.Queued
		if !wakes {
			t.Fatalf("act %s of a %s prompt and never again: %+v", d.Act, p.State, v)
		}
	}
	everyCase(func(_ session.Record, v view.View, head *Prompt) { check(t, v, head) })
	rapid.Check(t, func(t *rapid.T) { check(t, anyView(t), anyHead(t)) })
}

// A person may scroll, or leave the box in bash mode, for hours.
func TestPromptAwaitingPersonDoesNotSpin(t *testing.T) {
	for name, v := range map[string]view.View{
		"scrolled":  free(scrolled),
		"bash mode": free(func(v *view.View) { v.Screen.Box.Bash = true }),
		"draft":     free(draft("mine")),
		"no box":    free(noBox),
	} {
		t.Run(name, func(t *testing.T) {
			assert.GreaterOrEqual(t, decide(in(session.Running), v, heldPrompt()).Again, time.Second)
		})
	}
}

// A mark that is missing, as in a file that was edited, must not end the bot.
func TestP8_TypingPromptWithoutMarkIsTolerated(t *testing.T) {
	p := typing(0)
	p.Mark = nil
	assert.NotPanics(t, func() { decide(in(session.Running), free(), p) })
}
