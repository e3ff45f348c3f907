package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func in(state session.State, change ...func(*session.Record)) session.Record {
	r := session.Record{ID: uuid.New(), State: state, Run: session.Run{StartedAt: viewtest.Noon.Add(-time.Minute), ReportsAt: viewtest.Noon.Add(-50 * time.Second), Binding: &session.Binding{Command: "claude"}}, Launch: &session.Launch{PermissionMode: coding.ModeAsk}}
	for _, c := range change {
		c(&r)
	}
	return r
}

func heldPrompt() *typing.Prompt {
	return &typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Held, Since: viewtest.Noon.Add(-time.Hour)}
}

func typedFor(age time.Duration, change ...func(*typing.Prompt)) *typing.Prompt {
	p := &typing.Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: typing.Typing, Mark: &talk.Mark{At: viewtest.Noon.Add(-age), Enters: 1}}
	for _, c := range change {
		c(p)
	}
	return p
}

func wanting(r *session.Record) { r.ModeRequest = &session.ModeRequest{Mode: "plan"} }

func command(p *typing.Prompt)          { p.Text, p.Class = "/compact", talk.ClassCommand }
func retreat(p *typing.Prompt)          { p.Mark.Retreat, p.Mark.Enters = true, 0 }
func enters(n int) func(*typing.Prompt) { return func(p *typing.Prompt) { p.Mark.Enters = n } }

func TestDecide(t *testing.T) {
	running, starting, restoring := session.Running, session.Starting, session.Restoring
	unreported := func(r *session.Record) { r.ReportsAt = time.Time{} }
	server := func(v *view.View) { v.ByServer = true }
	unwritten := func(v *view.View) { v.State = view.AgentState{Known: view.StateUnwritten} }
	elsewhere := func(age time.Duration) func(*view.View) {
		return func(v *view.View) { v.State.Conversation, v.State.Since = uuid.New(), viewtest.Noon.Add(-age) }
	}
	young := func(age time.Duration) func(*session.Record) {
		return func(r *session.Record) { r.StartedAt = viewtest.Noon.Add(-age) }
	}
	tests := []struct {
		name string
		r    session.Record
		v    view.View
		head *typing.Prompt
		act  Do
		why  news.Wait
	}{
		{"ready", in(starting), viewtest.Free(), nil, actReady, ""},
		{"ready again", in(restoring), viewtest.Free(), nil, actReady, ""},
		{"not reported, young", in(starting, unreported, young(presenceGrace-time.Millisecond)), viewtest.Free(), nil, actNothing, ""},
		{"not reported, presence says idle long enough", in(starting, unreported, young(presenceGrace)), viewtest.Free(), nil, actReady, ""},
		{"a server without a conversation", in(starting, unreported, young(time.Minute)), viewtest.Free(server, unwritten), nil, actNotReport, ""},
		{"a server with a conversation", in(starting, unreported, young(time.Second)), viewtest.Free(server), nil, actReady, ""},
		{"starting, a dialog", in(starting), viewtest.Free(viewtest.DialogOpen), nil, actDialog, ""},
		{"starting, presence waits", in(starting), viewtest.Free(viewtest.Status(presence.Waiting)), nil, actDialog, ""},
		{"starting, no box yet", in(starting), viewtest.Free(viewtest.NoBox), nil, actNotReport, ""},
		{"starting, a draft", in(starting), viewtest.Free(viewtest.Draft("x")), nil, actNotReport, ""},
		{"starting, silent", in(starting, unreported, young(StartNotice)), viewtest.Free(viewtest.NoBox), nil, actNotReport, ""},
		{"starting, silent but young", in(starting, unreported, young(StartNotice-time.Millisecond)), viewtest.Free(viewtest.NoBox), nil, actNothing, ""},
		{"starting does not type", in(starting), viewtest.Free(), heldPrompt(), actReady, ""},
		{"starting ended, pane dead", in(starting), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneDead)), nil, Conclude, ""},
		{"starting ended, pane gone", in(starting), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneGone)), nil, Conclude, ""},
		{"restoring ended, pane gone", in(restoring), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneGone)), nil, Conclude, ""},
		{"running, nothing to do", in(running), viewtest.Free(), nil, actNothing, ""},
		{"running, a dialog", in(running), viewtest.Free(viewtest.DialogOpen), nil, actDialog, ""},
		{"running, a dialog before a prompt", in(running), viewtest.Free(viewtest.DialogOpen), heldPrompt(), actDialog, news.HeldDialog},
		{"running, a dialog over a typed prompt", in(running), viewtest.Free(viewtest.DialogOpen), typedFor(time.Hour), actDialog, ""},
		{"running, a dialog over a paste without Enter", in(running), viewtest.Free(viewtest.DialogOpen), typedFor(time.Hour, retreat), actDialog, news.HeldDialog},
		{"running ended, pane dead", in(running), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneDead)), heldPrompt(), Conclude, ""},
		{"running ended, pane gone", in(running), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneGone)), heldPrompt(), MarkLost, ""},
		{"running ended, pane taken by another", in(running), viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneForeign)), nil, MarkLost, ""},
		{"running, process gone, pane not yet dead", in(running), viewtest.Free(viewtest.Alive(process.Gone)), heldPrompt(), actNothing, ""},
		{"running, pane dead, process alive", in(running), viewtest.Free(viewtest.Fate(view.PaneDead)), heldPrompt(), actNothing, ""},
		{"running, server gone, terminal alive", in(running), viewtest.Free(viewtest.Alive(process.Gone), half(evidence.NoServer)), heldPrompt(), Conclude, ""},
		{"running, server gone, pane unknown", in(running), viewtest.Free(viewtest.Alive(process.Gone), half(evidence.NoServer), viewtest.Fate(view.PaneUnknown)), nil, actNothing, ""},
		{"running, server left, pane gone", in(running), viewtest.Free(viewtest.Alive(process.Gone), half(evidence.NoTerminal), viewtest.Fate(view.PaneGone)), nil, Conclude, ""},
		{"running, server left, pane not yet dead", in(running), viewtest.Free(viewtest.Alive(process.Gone), half(evidence.NoTerminal)), nil, actNothing, ""},
		{"held, free", in(running), viewtest.Free(), heldPrompt(), Do(typing.Type), ""},
		{"held, another conversation has just begun", in(running), viewtest.Free(elsewhere(time.Second)), heldPrompt(), actNothing, ""},
		{"held, another conversation, and no hook has said so", in(running), viewtest.Free(elsewhere(time.Minute)), heldPrompt(), Do(typing.Type), ""},
		{"held, another conversation of an agent without hooks", in(running, unreported), viewtest.Free(elsewhere(time.Second)), heldPrompt(), Do(typing.Type), ""},
		{"held, working", in(running), viewtest.Free(viewtest.Status(presence.Busy)), heldPrompt(), Do(typing.Hold), news.Queued},
		{"held, behind a shell in a turn", in(running), viewtest.Free(viewtest.Status(presence.Busy), viewtest.InBackground), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, bash mode", in(running), viewtest.Free(viewtest.BashMode), heldPrompt(), Do(typing.Hold), news.HeldBash},
		{"held, a draft for a moment", in(running), viewtest.Free(viewtest.Draft("mine")), heldPrompt(), actNothing, ""},
		{"held, a draft", in(running), viewtest.Free(viewtest.Draft("mine"), viewtest.Rested), heldPrompt(), Do(typing.Hold), news.HeldDraft},
		{"held, scrolled", in(running), viewtest.Free(viewtest.Scrolled), heldPrompt(), Do(typing.Hold), news.HeldScroll},
		{"held, scrolled, no screen", in(running), viewtest.Free(viewtest.Scrolled, viewtest.Blind), heldPrompt(), Do(typing.Hold), news.HeldScroll},
		{"held, scrolled in a turn", in(running), viewtest.Free(viewtest.Scrolled, viewtest.Status(presence.Busy)), heldPrompt(), Do(typing.Hold), news.Queued},
		{"held, synchronised", in(running), viewtest.Free(viewtest.Synced), heldPrompt(), Do(typing.Hold), news.HeldSync},
		{"held, synchronised in a turn", in(running), viewtest.Free(viewtest.Synced, viewtest.Status(presence.Busy)), heldPrompt(), Do(typing.Hold), news.Queued},
		{"held, synchronised, and a wish", in(running, wanting), viewtest.Free(viewtest.Synced), heldPrompt(), Do(typing.Hold), news.HeldSync},
		{"synchronised, and a wish", in(running, wanting), viewtest.Free(viewtest.Synced), nil, actNothing, ""},
		{"held, no box in a narrow pane", in(running), viewtest.Free(viewtest.NoBox, viewtest.Narrow), heldPrompt(), Do(typing.Hold), news.HeldSmall},
		{"held, no box in a flat pane", in(running), viewtest.Free(viewtest.NoBox, viewtest.Flat), heldPrompt(), Do(typing.Hold), news.HeldSmall},
		{"held, a box in a flat pane", in(running), viewtest.Free(viewtest.Flat), heldPrompt(), Do(typing.Type), ""},
		{"held, a flat pane without a screen", in(running), viewtest.Free(viewtest.Blind, viewtest.Flat), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"retreat, no box in a flat pane", in(running), viewtest.Free(viewtest.NoBox, viewtest.Flat), typedFor(time.Hour, retreat), Do(typing.Hold), news.HeldSmall},
		{"retreat, scrolled", in(running), viewtest.Free(viewtest.Scrolled, viewtest.Draft(viewtest.Said)), typedFor(time.Hour, retreat), Do(typing.Hold), news.HeldScroll},
		{"held, an odd status", in(running), viewtest.Free(viewtest.Says("compacting", 4*time.Second)), heldPrompt(), "", ""},
		{"held, an odd status that stays", in(running), viewtest.Free(viewtest.Says("compacting", 5*time.Second)), heldPrompt(), Do(typing.Type), ""},
		{"held, an odd status that stays, and no box", in(running), viewtest.Free(viewtest.Says("compacting", time.Hour), viewtest.NoBox), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, its conversation is in the background", in(running), viewtest.Free(viewtest.Elsewhere), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, unknown screen", in(running), viewtest.Free(viewtest.NoBox), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, no screen", in(running), viewtest.Free(viewtest.Blind), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, no presence file", in(running), viewtest.Free(viewtest.NoPresence), heldPrompt(), Do(typing.Type), ""},
		{"held, no presence file, a draft", in(running), viewtest.Free(viewtest.NoPresence, viewtest.Draft("mine"), viewtest.Rested), heldPrompt(), Do(typing.Hold), news.HeldDraft},
		{"held, no presence file, blind", in(running), viewtest.Free(viewtest.NoPresence, viewtest.Blind), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
		{"held, presence overrules the screen", in(running), viewtest.Free(viewtest.Status(presence.Busy)), heldPrompt(), Do(typing.Hold), news.Queued},
		{"typed, a hook will tell", in(running), viewtest.Free(viewtest.Status(presence.Busy)), typedFor(time.Second), actNothing, ""},
		{"typed, no hook has told", in(running), viewtest.Free(), typedFor(2 * time.Second), Do(typing.Settle), ""},
		{"typed, no hook reports", in(running, unreported), viewtest.Free(), typedFor(time.Second), Do(typing.Settle), ""},
		{"typed in bash mode", in(running), viewtest.Free(), typedFor(time.Second, func(p *typing.Prompt) { p.Class = talk.ClassBash }), Do(typing.Settle), ""},
		{"typed, nothing is known of its mark", in(running), viewtest.Free(), typedFor(time.Second, func(p *typing.Prompt) { p.Mark = nil }), Do(typing.GiveUp), ""},
		{"retreat, box free", in(running), viewtest.Free(viewtest.Draft(viewtest.Said)), typedFor(0, retreat), Do(typing.Clear), ""},
		{"retreat, working", in(running), viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Status(presence.Busy)), typedFor(time.Hour, retreat), Do(typing.Hold), news.Queued},
		{"retreat, a subagent asks", in(running), viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Status(presence.Busy), viewtest.SubagentAsks), typedFor(0, retreat), Do(typing.Hold), news.HeldDialog},
		{"command taken", in(running), viewtest.Free(), typedFor(time.Second, command), Do(typing.Proven), ""},
		{"command in the box", in(running), viewtest.Free(viewtest.Draft("/compact")), typedFor(time.Second, command), actNothing, ""},
		{"command, still in the box", in(running), viewtest.Free(viewtest.Draft("/compact")), typedFor(typing.EnterRetry, command), Do(typing.Settle), ""},
		{"command, Enter never sent", in(running), viewtest.Free(), typedFor(time.Second, command, enters(0)), actNothing, ""},
		{"an interrupted stop", in(session.Stopping), view.View{}, nil, FinishStop, ""},
		{"an unknown dialog, the clock was set back since", in(running), viewtest.Free(viewtest.NoBox, viewtest.Status(presence.Waiting), viewtest.Ahead), nil, actDialog, ""},
		{"a dialog that no file tells of, the clock was set back since", in(running), viewtest.Free(viewtest.DialogOpen, viewtest.Ahead), nil, actDialog, ""},
		{"held, unknown screen, the clock was set back since", in(running), viewtest.Free(viewtest.NoBox, viewtest.Ahead), heldPrompt(), Do(typing.Hold), news.HeldUnknown},
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

// everyCase goes through all views that differ from a free one in up to two
// things, with every state and every kind of head: what rapid may miss.
func everyCase(check func(r session.Record, v view.View, head *typing.Prompt)) {
	heads := []*typing.Prompt{nil, heldPrompt(), typedFor(0, enters(0)), typedFor(time.Second), typedFor(typing.EnterRetry), typedFor(typing.ProofWait),
		typedFor(time.Second, retreat), typedFor(time.Second, command), typedFor(typing.ProofWait, command, enters(3))}
	none := func(*view.View) {}
	for _, state := range session.States() {
		for i, first := range append(viewtest.Changes, none) {
			for _, second := range append(viewtest.Changes[:i:i], none) {
				for _, head := range heads {
					check(in(state), viewtest.AsSeen(viewtest.Free(first, second)), head)
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
	r.StartedAt = viewtest.Noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "age")) * time.Second)
	if rapid.Bool().Draw(t, "unreported") {
		r.ReportsAt = time.Time{}
	}
	return r
}

func anyHead(t *rapid.T) *typing.Prompt {
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
	p.State = typing.Typing
	p.Mark = &talk.Mark{At: viewtest.Noon.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "typed")) * time.Second),
		Enters: rapid.IntRange(0, 3).Draw(t, "enters"), Retreat: rapid.IntRange(0, 3).Draw(t, "retreat") == 0}
	return p
}

func TestP7_UnprovenBoxGetsNoText(t *testing.T) {
	check := func(t fataler, r session.Record, v view.View, head *typing.Prompt) Do {
		d := decide(r, v, head)
		if !slices.Contains([]Do{Do(typing.Type), Do(typing.Clear)}, d.Act) {
			return d.Act
		}
		b := v.Screen.Box
		idle := v.State.Known == view.StateUnwritten || v.State.Word != "" && !v.IsFresh(5*time.Second) || v.State.Phase == talk.PhaseIdle
		switch {
		case r.State != session.Running:
			t.Fatalf("keys for a session that is %s", r.State)
		case v.Agent != process.Alive, v.Fate != view.PaneOurs:
			t.Fatalf("keys for an agent that is %s in a pane of fate %d", v.Agent, v.Fate)
		case !idle || v.Phase() != talk.PhaseIdle:
			t.Fatalf("keys in phase %s: %+v", v.Phase(), v)
		case !v.Captured || v.Screen.Dialog != nil || v.Screen.Busy || v.Pane.InMode || !b.Present:
			t.Fatalf("keys into %+v", v)
		case d.Act == Do(typing.Type) && (!b.Empty || b.Bash):
			t.Fatalf("typed behind a draft: %+v", b)
		}
		return d.Act
	}
	reached := map[Do]bool{}
	everyCase(func(r session.Record, v view.View, head *typing.Prompt) { reached[check(t, r, v, head)] = true })
	for _, act := range []Do{Do(typing.Type), Do(typing.Clear)} {
		require.True(t, reached[act], "act %s is not tested", act)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyRecord(t), viewtest.AnyView(t), anyHead(t)) })
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func TestP6_UnknownChangesNothing(t *testing.T) {
	final := []Do{Conclude, MarkLost, Do(typing.Type), Do(typing.Clear), actReady}
	rapid.Check(t, func(t *rapid.T) {
		r, v, head := anyRecord(t), viewtest.AnyView(t), anyHead(t)
		if r.State == session.Stopping {
			return // decided before; Archive's test covers the unknown
		}
		if rapid.Bool().Draw(t, "what") {
			v.Agent = process.Unknown
		} else {
			v.Fate = view.PaneUnknown
		}
		if v.Fate != view.PaneOurs && v.Fate != view.PaneDead {
			v.Captured, v.Screen = false, coding.Screen{} // as View makes it
		}
		if d := decide(r, v, head); slices.Contains(final, d.Act) {
			t.Fatalf("act %s on %+v", d.Act, v)
		}
	})
	assert.Equal(t, decision{Again: view.Slow}, decide(in(session.Running), view.View{}, nil), "the zero view decides nothing")
}

func TestP6_EndNeedsKernelAndTmux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v, head := anyRecord(t), viewtest.AnyView(t), anyHead(t)
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
		r, v := anyRecord(t), viewtest.AnyView(t)
		p := anyHead(t)
		if p == nil || p.State != typing.Typing {
			return
		}
		retreats := p.Mark != nil && p.Mark.Retreat // it must be taken back, and waits for that
		if d := decide(r, v, p); d.Act == Do(typing.Type) || d.Act == Do(typing.Hold) && !retreats {
			t.Fatalf("act %s of a prompt that is being typed", d.Act)
		}
	})
}

// "Taken" needs a reading of the living agent's box without the command.
func TestP4_ClearedBoxProvesCommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, v, p := anyRecord(t), viewtest.AnyView(t), typedFor(time.Second, command)
		if d := decide(r, v, p); d.Act != Do(typing.Proven) {
			return
		}
		b := v.Screen.Box
		if v.Agent == process.Alive && v.Fate == view.PaneOurs && v.Screen.Dialog != nil {
			return // it opened a page in place of the box
		}
		if v.Agent != process.Alive || v.Fate != view.PaneOurs || !v.Captured || !b.Present || v.Holds(p.Text) && !b.Bash {
			t.Fatalf("proven by %+v", v)
		}
	})
}

// A waiting prompt is checked again, unless news is certain to come.
func TestP4_PromptIsNeverForgotten(t *testing.T) {
	check := func(t fataler, v view.View, p *typing.Prompt) {
		if p == nil || factsOf(v).ended(v.Adopted) {
			return
		}
		d := decide(in(session.Running), v, p)
		wakes := d.Again > 0 || slices.Contains([]Do{Do(typing.Proven), Do(typing.Settle), Do(typing.GiveUp), Do(typing.Clear)}, d.Act) || d.Act == Do(typing.Hold) && d.Why == news.Queued
		if !wakes {
			t.Fatalf("act %s of a %s prompt and never again: %+v", d.Act, p.State, v)
		}
	}
	everyCase(func(_ session.Record, v view.View, head *typing.Prompt) { check(t, v, head) })
	rapid.Check(t, func(t *rapid.T) { check(t, viewtest.AnyView(t), anyHead(t)) })
}

// A person may scroll, or leave the box in bash mode, for hours.
func TestPromptAwaitingPersonDoesNotSpin(t *testing.T) {
	for name, v := range map[string]view.View{
		"scrolled":  viewtest.Free(viewtest.Scrolled),
		"bash mode": viewtest.Free(func(v *view.View) { v.Screen.Box.Bash = true }),
		"draft":     viewtest.Free(viewtest.Draft("mine")),
		"no box":    viewtest.Free(viewtest.NoBox),
	} {
		t.Run(name, func(t *testing.T) {
			assert.GreaterOrEqual(t, decide(in(session.Running), v, heldPrompt()).Again, time.Second)
		})
	}
}

// A mark that is missing, as in a file that was edited, must not end the bot.
func TestP8_TypingPromptWithoutMarkIsTolerated(t *testing.T) {
	p := typedFor(0)
	p.Mark = nil
	assert.NotPanics(t, func() { decide(in(session.Running), viewtest.Free(), p) })
}

// half sets the part that lives of an agent with two processes.
func half(h evidence.Half) func(*view.View) { return func(v *view.View) { v.Half = h } }
