package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

var (
	allModes  = []string{"⏸ manual mode on", "⏵⏵ accept edits on (shift+tab to cycle)", "⏸ plan mode on (shift+tab to cycle)", "⏵⏵ auto mode on (shift+tab to cycle)"}
	allModels = []string{"Default (recommended)", "Opus", "Sonnet", "Haiku"}
)

// switching starts a session whose agent has all modes and models.
func (w *world) switching() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.started()
	a.set(func(a *agent) { a.modes, a.models = allModes, allModels })
	w.pass(time.Minute)
	return r, a
}

func (w *world) wants(r session.Record, want port.ModeChange) {
	w.t.Helper()
	_, err := w.Switch(w.ctx, r.ID, want)
	require.NoError(w.t, err)
	w.pass(10 * time.Second)
}

// switched returns the news of mode requests.
func (w *world) switched() (all []news.Switched) {
	for _, h := range w.news.all() {
		if n, is := h.news.(news.Switched); is {
			n.Seen = ""
			all = append(all, n)
		}
	}
	return all
}

func (a *agent) now() (mode, model string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.modes[a.mode], a.models[a.model]
}

func TestDecideWishOrdersTheQueue(t *testing.T) {
	agent := process.Identity{PID: 3}
	idle := view.View{Agent: process.Alive, Fate: view.PaneOurs, Captured: true, State: view.AgentState{Known: view.StateWritten, Phase: talk.PhaseIdle},
		Screen: coding.Screen{Mode: "default", Box: coding.Box{Present: true, Empty: true, Whole: true}}}
	with := func(change func(v *view.View)) view.View { v := idle; change(&v); return v }
	held, typed := &typing.Prompt{State: typing.Held}, &typing.Prompt{State: typing.Typing}
	for _, tc := range []struct {
		name  string
		v     view.View
		head  *typing.Prompt
		agent process.Identity
		first bool
		act   Do
	}{
		{"at rest", idle, nil, agent, true, actGrant},
		{"before the next prompt", idle, held, agent, true, actGrant},
		{"not between a prompt and its proof", idle, typed, agent, false, actNothing},
		{"for an agent that is gone", idle, nil, process.Identity{PID: 2}, true, actGrant},
		{"a turn runs", with(func(v *view.View) { v.State.Phase = talk.PhaseWorking }), nil, agent, false, actNothing},
		{"a turn runs before a prompt", with(func(v *view.View) { v.State.Phase = talk.PhaseWorking }), held, agent, false, actNothing},
		{"a dialog is open", with(func(v *view.View) { v.Screen.Dialog = &coding.Dialog{} }), held, agent, false, actNothing},
		{"a draft", with(func(v *view.View) { v.Screen.Box.Empty = false }), nil, agent, true, actNothing},
		{"a draft before a prompt", with(func(v *view.View) { v.Screen.Box.Empty = false }), held, agent, false, actNothing},
		{"agents in the background", with(func(v *view.View) { v.Screen.Background, v.State.Phase = true, talk.PhaseWorking }), held, agent, true, Do(typing.Hold)},
		{"one agent below the box", with(func(v *view.View) { v.Screen.Agents = 1 }), held, agent, true, Do(typing.Hold)},
		{"a request waits for the chat", with(func(v *view.View) { v.Relayed = true }), held, agent, true, Do(typing.Hold)},
		{"a limit of the account", with(func(v *view.View) { v.Screen.Continues = true }), held, agent, true, Do(typing.Hold)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := session.Record{Run: session.Run{Binding: &session.Binding{Agent: agent}}, ModeRequest: &session.ModeRequest{Agent: tc.agent, Mode: "plan"}}
			d, first := decideModeChange(r, tc.v, tc.head)
			assert.Equal(t, tc.first, first)
			assert.Equal(t, tc.act, d.Act)
			r.ModeRequest = nil
			_, first = decideModeChange(r, tc.v, tc.head)
			assert.False(t, first, "without a wish")
		})
	}
}

func TestSwitchPressesUntilModeIsSet(t *testing.T) {
	for _, tc := range []struct {
		from int
		to   port.Mode
		keys int
	}{
		{0, port.ModeManual, 0}, {0, port.ModeAcceptEdits, 1}, {0, port.ModePlan, 2}, {2, port.ModeManual, 2}, {3, port.ModePlan, 3},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.switching()
			a.set(func(a *agent) { a.mode = tc.from })
			keys := 0
			a.set(func(a *agent) { a.onMode = func(*agent) { keys++ } })
			w.wants(r, port.ModeChange{Mode: tc.to})
			assert.Equal(t, tc.keys, keys)
			assert.Equal(t, []news.Switched{{ModeChange: port.ModeChange{Mode: tc.to}}}, w.switched())
			assert.Equal(t, tc.to, lastOf[news.Switched](w.news).Seen)
			now, err := w.Switch(w.ctx, r.ID, port.ModeChange{})
			require.NoError(t, err)
			assert.Equal(t, port.ModeState{Mode: tc.to}, now)
			assert.Nil(t, w.get(r.ID).ModeRequest)
		})
	}
}

func TestSwitchRefusesWhatAsksNobody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		for _, mode := range []port.Mode{port.ModeBypass, port.ModeAuto, "dontAsk", "other"} {
			_, err := w.Switch(w.ctx, r.ID, port.ModeChange{Mode: mode})
			require.Error(t, err)
		}
		w.pass(time.Minute)
		assert.Zero(t, a.inputs)
	})
}

func TestSwitchRunsBetweenTurnAndPrompt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		a.set(works)
		w.wants(r, port.ModeChange{Mode: port.ModeAcceptEdits})
		w.wants(r, port.ModeChange{Mode: port.ModePlan, Model: "haiku"}) // a later one takes the place
		w.held(r, "one", "hello")
		w.pass(time.Minute)
		now, err := w.Switch(w.ctx, r.ID, port.ModeChange{})
		require.NoError(t, err)
		assert.Equal(t, port.ModeState{Mode: port.ModeManual, Want: port.ModeChange{Mode: port.ModePlan, Model: "haiku"}, Waits: true}, now)
		assert.Zero(t, a.inputs, "no key reaches an agent at work")

		var mode, model string
		a.set(func(a *agent) {
			a.onPaste = func(a *agent) { mode, model = a.modes[a.mode], a.models[a.model] }
			a.status, a.since = presence.Idle, time.Now()
		})
		w.WakeAgent(r.Binding.Agent.PID)
		w.pass(20 * time.Second)
		assert.Equal(t, []string{"hello"}, a.heard())
		assert.Equal(t, []string{allModes[2], "Haiku"}, []string{mode, model}, "before the prompt was typed")
		assert.Equal(t, []news.Switched{{ModeChange: port.ModeChange{Mode: port.ModePlan}, Waited: true}, {ModeChange: port.ModeChange{Model: "haiku"}, Waited: true}}, w.switched())
	})
}

// The dialog opens between the check and the key: Shift+Tab would allow there.
func TestP7_DialogGetsNoModeKey(t *testing.T) {
	for _, want := range []port.ModeChange{{Mode: port.ModePlan}, {Model: "Haiku"}} {
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.switching()
			m := askBash("touch x")
			w.order.onPoint(func(name string) {
				if name == "wish-marked" {
					a.asks(m)
				}
			})
			w.wants(r, want)
			w.order.onPoint(nil)
			pressed, _ := a.took(m)
			assert.Empty(t, pressed)
			assert.Empty(t, w.switched())
			a.set(func(a *agent) { a.close() })
			w.WakeAgent(r.Binding.Agent.PID)
			w.pass(10 * time.Second)
			require.Len(t, w.switched(), 1, "it is done when the dialog is gone")
			assert.Equal(t, port.SwitchDone, w.switched()[0].Outcome)
		})
	}
}

func TestP7_WorkingSubagentsPreventModeKey(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		a.set(func(a *agent) { a.status, a.background = presence.Busy, true })
		w.wants(r, port.ModeChange{Mode: port.ModePlan})
		w.held(r, "one", "hello")
		w.pass(time.Minute)
		assert.Zero(t, a.inputs)
		assert.Equal(t, 1, w.news.held(news.Queued), "the prompt waits behind the wish")
		a.set(func(a *agent) { a.status, a.background = presence.Idle, false })
		w.pass(20 * time.Second)
		assert.Equal(t, []string{"hello"}, a.heard())
		require.Len(t, w.switched(), 1)
	})
}

func TestSwitchSaysWhatCannotBeDone(t *testing.T) {
	for _, tc := range []struct {
		name    string
		agent   func(a *agent)
		want    port.ModeChange
		outcome port.SwitchOutcome
		inputs  int // at most
	}{
		{"the footer names no mode", func(a *agent) { a.modes = []string{"? for shortcuts"} }, port.ModeChange{Mode: port.ModePlan}, port.SwitchUnread, 0},
		{"the key does nothing", func(a *agent) { a.modes = allModes[:1] }, port.ModeChange{Mode: port.ModePlan}, port.SwitchNotTaken, 1},
		{"there is no such mode", func(a *agent) { a.modes = allModes[:2] }, port.ModeChange{Mode: port.ModePlan}, port.SwitchNoSuch, 5},
		{"there is no list", func(a *agent) { a.models = nil }, port.ModeChange{Model: "Haiku"}, port.SwitchNotTaken, 1},
		{"there is no such model", func(*agent) {}, port.ModeChange{Model: "Fable"}, port.SwitchNoSuch, 2},
		{"the list stays as it was", func(a *agent) {
			a.onModels = func(a *agent) {
				a.menu.onKey = func(_ *menu, key string) { a.menu = map[bool]*menu{false: a.menu}[key == "s"] }
			}
		}, port.ModeChange{Model: "Opus"}, port.SwitchNotTaken, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.switching()
				a.set(tc.agent)
				w.wants(r, tc.want)
				w.pass(time.Minute)
				assert.Equal(t, []news.Switched{{ModeChange: tc.want, Outcome: tc.outcome}}, w.switched())
				assert.LessOrEqual(t, a.inputs, tc.inputs)
				assert.Nil(t, a.menu, "the list is closed again")
				assert.Nil(t, w.get(r.ID).ModeRequest)
			})
		})
	}
}

// The model that the list marks already is not chosen, and a model counts for the session only.
func TestSwitchChoosesModelOnceAndVerifies(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		opened := 0
		a.set(func(a *agent) { a.onModels = func(*agent) { opened++ } })
		w.wants(r, port.ModeChange{Model: "Sonnet"})
		assert.Equal(t, 2, opened, "to choose, and to read it back")
		w.wants(r, port.ModeChange{Model: "Sonnet"})
		assert.Equal(t, 3, opened)
		_, model := a.now()
		assert.Equal(t, "Sonnet", model)
		assert.Len(t, w.switched(), 2)
		assert.Empty(t, a.heard())
	})
}

// TestSwitchIsReportedWithItsModel: the page that shows the model is drawn by the news of the
// switch, so the status line names the model before them, although it is drawn later than the list
// closes. A status line that never names it is not waited for any longer.
func TestSwitchIsReportedWithItsModel(t *testing.T) {
	for named, want := range map[string]string{"Sonnet 5.5": "Sonnet 5.5", "Another 5.5": "Opus"} {
		t.Run(named, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.switching()
				w.status.notify(r, 12, 0.5)
				go func() {
					for model := ""; model != "Sonnet"; _, model = a.now() {
						time.Sleep(10 * time.Millisecond)
					}
					time.Sleep(2 * time.Second)
					if want == named {
						w.status.set(func(s *statuses) { last := *s.last; last.Model, s.last = named, &last })
					}
				}()
				var shown string
				w.news.set(func(n *heardNews) {
					n.fail = func(told news.News) error {
						if _, switched := told.(news.Switched); switched {
							st, err := w.status.read(r.ID)
							require.NoError(t, err)
							shown = st.Model
						}
						return nil
					}
				})
				w.wants(r, port.ModeChange{Model: "Sonnet"})
				assert.Equal(t, want, shown)
				assert.Equal(t, []news.Switched{{ModeChange: port.ModeChange{Model: "Sonnet"}, Outcome: port.SwitchDone}}, w.switched())
			})
		})
	}
}

// TestP7_UnofferedModeKeepsMode, and never sets one that does not ask, wherever the keys pass.
func TestP7_UnofferedModeKeepsMode(t *testing.T) {
	circle := []string{allModes[0], allModes[1], allModes[3]} // without plan mode
	for from := range circle {
		for _, dies := range []bool{false, true} {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.switching()
				a.set(func(a *agent) { a.modes, a.mode = circle, from })
				if dies {
					w.crash("wish-marked", func() {
						if _, err := w.Switch(w.ctx, r.ID, port.ModeChange{Mode: port.ModePlan}); err == nil {
							_, _ = w.step(w.ctx, r.ID)
						}
					})
					w.comeBack()
				} else {
					w.wants(r, port.ModeChange{Mode: port.ModePlan})
				}
				w.pass(20 * time.Second)
				assert.Equal(t, []news.Switched{{ModeChange: port.ModeChange{Mode: port.ModePlan}, Outcome: port.SwitchNoSuch}}, w.switched())
				mode, _ := a.now()
				assert.Equal(t, circle[from], mode)
			})
		}
	}
}

// The list stays even if ccbot opened one before that is gone, or if the request was for an earlier
// agent.
func TestP7_PersonsModelListStays(t *testing.T) {
	for name, opens := range map[string]func(w *world, r session.Record, a *agent) *menu{
		"after ccbot's own": func(w *world, r session.Record, a *agent) *menu {
			pressed := 0
			w.order.onPoint(func(name string) {
				if name == "wish-pressed" {
					if pressed++; pressed == 2 { // the model is chosen, and then it works
						a.set(works)
					}
				}
			})
			w.wants(r, port.ModeChange{Model: "Haiku"})
			w.order.onPoint(nil)
			require.Equal(w.t, 2, pressed)
			require.Nil(w.t, a.menu)
			m := a.modelList()
			a.set(func(a *agent) { a.menu, a.status = m, presence.Idle })
			return m
		},
		"with the wish for an earlier agent": func(w *world, r session.Record, a *agent) *menu {
			m := a.modelList()
			a.set(func(a *agent) { a.menu = m })
			w.edit(r.ID, func(r *session.Record) {
				r.ModeRequest = &session.ModeRequest{Agent: process.Identity{PID: 1}, Model: "Haiku", Opened: 1, Listed: true}
			})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.switching()
				m := opens(w, r, a)
				w.WakeAgent(r.Binding.Agent.PID)
				w.pass(time.Minute)
				pressed, _ := a.took(m)
				assert.Empty(t, pressed)
				assert.Same(t, m, a.menu)
			})
		})
	}
}

// A list that a person has opened in the terminal is left alone.
func TestPersonsModelListIsNotClosed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		a.set(func(a *agent) { a.menu = a.modelList() })
		m := a.menu
		w.wants(r, port.ModeChange{Model: "Haiku"})
		w.pass(time.Minute)
		pressed, _ := a.took(m)
		assert.Empty(t, pressed)
		a.set(func(a *agent) { a.close() })
		w.WakeAgent(r.Binding.Agent.PID)
		w.pass(20 * time.Second)
		_, model := a.now()
		assert.Equal(t, "Haiku", model)
	})
}

// A kill at each step: the fresh start checks again, and what was wanted is there once.
func TestSwitchIsCarriedOutOverCrashes(t *testing.T) {
	for _, point := range []string{"wish-saved", "wish-marked", "wish-pressed", "news-saved", "news-told"} {
		for _, want := range []port.ModeChange{{Mode: port.ModePlan}, {Model: "Haiku"}} {
			t.Run(point+" "+string(want.Mode)+want.Model, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r, a := w.switching()
					w.crash(point, func() {
						if _, err := w.Switch(w.ctx, r.ID, want); err == nil {
							_, _ = w.step(w.ctx, r.ID)
						}
					})
					w.comeBack()
					w.pass(20 * time.Second)
					mode, model := a.now()
					if want.Mode != "" {
						assert.Equal(t, allModes[2], mode)
					} else {
						assert.Equal(t, "Haiku", model)
					}
					for _, n := range w.switched() {
						assert.Equal(t, port.SwitchDone, n.Outcome)
					}
					assert.NotEmpty(t, w.switched())
					assert.Nil(t, w.get(r.ID).ModeRequest)
					assert.Nil(t, a.menu)
				})
			})
		}
	}
}

func TestModeRequestIsForOneAgent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		w.edit(r.ID, func(r *session.Record) {
			r.ModeRequest = &session.ModeRequest{Agent: process.Identity{PID: 1}, Mode: "plan", Model: "Haiku"}
		})
		now, err := w.Switch(w.ctx, r.ID, port.ModeChange{})
		require.NoError(t, err)
		assert.Empty(t, now.Want)
		w.Wake(r.ID)
		w.pass(10 * time.Second)
		assert.Zero(t, a.inputs)
		assert.Equal(t, []news.Switched{{ModeChange: port.ModeChange{Mode: port.ModePlan}, Outcome: port.SwitchNewAgent},
			{ModeChange: port.ModeChange{Model: "Haiku"}, Outcome: port.SwitchNewAgent}}, w.switched())
	})
}

func TestEndedSessionCannotSwitch(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "it was asked for"}))
		_, err := w.Switch(w.ctx, r.ID, port.ModeChange{Mode: port.ModePlan})
		require.ErrorIs(t, err, view.ErrNoAgent)
		_, err = w.Switch(w.ctx, r.ID, port.ModeChange{})
		require.ErrorIs(t, err, view.ErrNoAgent)
	})
}

// Synchronize is seen by tmux alone: it refuses the key, which goes to no other pane.
func TestSwitchIsGuardedByTmux(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.switching()
		w.tmux.Synchronize(a.pane)
		w.wants(r, port.ModeChange{Mode: port.ModePlan, Model: "Haiku"})
		written := w.saves.of(func() { w.pass(10 * time.Minute) })
		assert.LessOrEqual(t, written, 2*int(10*time.Minute/view.HoldPace), "each attempt is on disk before and after it")
		assert.Zero(t, a.inputs)
		assert.Empty(t, w.switched())
		assert.Empty(t, w.get(r.ID).ModeRequest.Passed)
	})
}

// The mode is unknown: nothing proves that a session without a ready agent has ended.
func TestP6_ModeOfStartingSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.starting()
		_, err := w.Switch(w.ctx, r.ID, port.ModeChange{})
		require.ErrorIs(t, err, view.ErrUnseen)
		_, err = w.Switch(w.ctx, r.ID, port.ModeChange{Mode: "plan"})
		require.ErrorIs(t, err, view.ErrUnseen)
	})
}

// An account may make Claude Code begin in auto mode although the launch asks for bypass. Only the footer says so.
func TestBypassThatBeginsInAutoModeIsNoted(t *testing.T) {
	for name, tc := range map[string]struct {
		flags  []string
		footer string
		want   bool
	}{
		"bypass in auto mode":   {[]string{"--dangerously-skip-permissions"}, "⏵⏵ auto mode on (shift+tab to cycle)", true},
		"bypass":                {[]string{"--dangerously-skip-permissions"}, "⏵⏵ bypass permissions on (shift+tab to cycle)", false},
		"auto mode, as asked":   {[]string{"--allow-dangerously-skip-permissions", "--permission-mode", "auto"}, "⏵⏵ auto mode on (shift+tab to cycle)", false},
		"nobody asked for both": {nil, "⏵⏵ auto mode on (shift+tab to cycle)", false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.starting()
				w.edit(r.ID, func(r *session.Record) { r.Launch.Flags = tc.flags })
				a.set(func(a *agent) {
					a.modes, a.mode = []string{tc.footer, "⏵⏵ bypass permissions on (shift+tab to cycle)"}, 0
				})
				w.report(r)
				w.pass(time.Second)
				assert.Equal(t, tc.want, lastOf[news.Ready](w.news).InAuto)
				assert.Equal(t, tc.want, w.get(r.ID).InAuto)
				a.set(func(a *agent) { a.mode = 1 })
				w.Wake(r.ID)
				w.pass(time.Second)
				assert.False(t, w.get(r.ID).InAuto, "somebody has switched")
				assert.Equal(t, 1, toldOf[news.Ready](w.news), "once")
			})
		})
	}
}
