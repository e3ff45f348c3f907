package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/tmux/tmuxtest"
)

func relayed(v *view.View) { v.Relayed, v.RequestedAt = true, viewtest.Noon.Add(-time.Minute) }
func seenFor(d time.Duration) func(*view.View) {
	return func(v *view.View) { v.Since = viewtest.Noon.Add(-d) }
}

func TestDecideDialog(t *testing.T) {
	settles := func(v *view.View) { v.Settles = dialog.Rest }
	running, starting := in(session.Running), in(session.Starting)
	unreported := in(session.Running, func(r *session.Record) { r.ReportsAt = time.Time{} })
	bypassing := in(session.Running, func(r *session.Record) { r.Launch.PermissionMode = coding.ModeBypass })
	permission, question, page := viewtest.WaitsFor("permission prompt"), viewtest.WaitsFor("input needed"), viewtest.WaitsFor("dialog open")
	adopted := func(v *view.View) { v.Adopted = true }
	permits := func(v *view.View) { v.Screen.Dialog = &coding.Dialog{Title: "Bash command", Permits: true} }
	justNow := func(v *view.View) { v.State.Since = viewtest.Noon.Add(-view.Soon) }
	tests := []struct {
		name  string
		r     session.Record
		v     view.View
		head  *typing.Prompt
		act   Do
		why   news.Wait
		again time.Duration
	}{
		{"a page", running, viewtest.Free(viewtest.DialogOpen, page, seenFor(0)), nil, actDialog, "", view.Slow},
		{"a permission, its hook may come", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(time.Second)), nil, actNothing, "", dialog.RelayGrace - time.Second},
		{"a question, its hook may come", running, viewtest.Free(viewtest.DialogOpen, question, seenFor(0)), nil, actNothing, "", dialog.RelayGrace},
		{"its hook may come, a prompt is held", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(0)), heldPrompt(), actNothing, "", dialog.RelayGrace},
		{"its hook may come, a command was taken", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(0)), typedFor(time.Second, command), Do(typing.Proven), "", view.Soon},
		{"the clock was set back", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(-time.Hour)), nil, actNothing, "", dialog.RelayGrace},
		{"its hook did not come", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(dialog.RelayGrace)), nil, actDialog, "", view.Slow},
		{"its hook did not come, a prompt is held", running, viewtest.Free(viewtest.DialogOpen, question, seenFor(dialog.RelayGrace)), heldPrompt(), actDialog, news.HeldDialog, view.Slow},
		{"no launch of ours", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(0), adopted), nil, actDialog, "", view.Slow},
		{"no hook has reported", unreported, viewtest.Free(viewtest.DialogOpen, permission, seenFor(0)), nil, actNothing, "", dialog.RelayGrace},
		{"no hook asks", bypassing, viewtest.Free(viewtest.DialogOpen, permission, seenFor(0)), nil, actDialog, "", view.Slow},
		{"no presence file", running, viewtest.Free(viewtest.DialogOpen, viewtest.NoPresence, seenFor(0)), nil, actDialog, "", view.Slow},
		{"nobody knows since when", running, viewtest.Free(viewtest.DialogOpen, permission), nil, actDialog, "", view.Slow},
		{"it is still drawn", running, viewtest.Free(viewtest.DialogOpen, page, seenFor(0), settles), heldPrompt(), actNothing, "", dialog.Rest},
		{"starting, it is still drawn", starting, viewtest.Free(viewtest.DialogOpen, viewtest.NoPresence, settles), nil, actNothing, "", dialog.Rest},
		{"it is still drawn, a command was taken", running, viewtest.Free(viewtest.DialogOpen, page, settles), typedFor(time.Second, command), Do(typing.Proven), "", view.Soon},
		{"starting", starting, viewtest.Free(viewtest.DialogOpen, viewtest.NoPresence, seenFor(0)), nil, actDialog, "", min(view.Slow, backoff(time.Minute))},
		{"a request waits", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(time.Hour), relayed), nil, actNothing, "", view.Slow},
		{"a request waits, a prompt is held", running, viewtest.Free(viewtest.DialogOpen, permission, seenFor(time.Hour), relayed), heldPrompt(), Do(typing.Hold), news.HeldDialog, view.Slow},
		{"a request waits, a paste got no Enter", running, viewtest.Free(viewtest.DialogOpen, permission, relayed), typedFor(time.Second, retreat), Do(typing.Hold), news.HeldDialog, view.Slow},
		{"a request waits, a command was taken", running, viewtest.Free(viewtest.DialogOpen, permission, relayed), typedFor(time.Second, command), Do(typing.Proven), "", view.Soon},
		{"a request waits, a prompt is being typed", running, viewtest.Free(viewtest.DialogOpen, permission, relayed), typedFor(time.Second), actNothing, "", view.Slow},
		{"a request waits, the screen does not show it", running, viewtest.Free(viewtest.NoBox, permission, relayed), nil, actNothing, "", view.Slow},
		{"it was answered, and the screen still shows it", running, viewtest.Free(viewtest.DialogOpen, viewtest.Status(presence.Busy), justNow), nil, actNothing, "", view.Soon},
		{"busy, and a dialog stands all the same", running, viewtest.Free(viewtest.DialogOpen, viewtest.Status(presence.Busy)), nil, actDialog, "", view.Slow},
		{"it was answered, and a slow screen still shows it", running, viewtest.Free(permits, viewtest.Status(presence.Busy), seenFor(time.Second)), nil, actNothing, "", dialog.RelayGrace - time.Second},
		{"a slow screen still shows a dialog of no known kind", running, viewtest.Free(viewtest.DialogOpen, viewtest.Status(presence.Busy), seenFor(time.Second)), nil, actNothing, "", dialog.RelayGrace - time.Second},
		{"busy, and a permission stands all the same", running, viewtest.Free(permits, viewtest.Status(presence.Busy), seenFor(dialog.RelayGrace)), nil, actDialog, "", view.Slow},
		{"a permission, no presence file, its hook may come", running, viewtest.Free(permits, viewtest.NoPresence, seenFor(0)), nil, actNothing, "", dialog.RelayGrace},
		{"a question of the start, no presence file", starting, viewtest.Free(permits, viewtest.NoPresence, seenFor(0)), nil, actDialog, "", min(view.Slow, backoff(time.Minute))},
		{"idle, and something asks", running, viewtest.Free(permits, seenFor(0)), nil, actDialog, "", view.Slow},
		{"presence is ahead of the screen", running, viewtest.Free(permission, justNow), nil, actNothing, "", view.Soon},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, decision{Act: tc.act, Why: tc.why, Again: tc.again}, decide(tc.r, tc.v, tc.head))
		})
	}
}

func TestDialogGone(t *testing.T) {
	askedAgo := func(ago time.Duration) func(*view.View) {
		return func(v *view.View) { v.Relayed, v.RequestedAt = true, viewtest.Noon.Add(-ago) }
	}
	told := func(ago time.Duration) func(*view.View) {
		return func(v *view.View) { v.State.Since = viewtest.Noon.Add(-ago) }
	}
	busy, long := viewtest.Status(presence.Busy), askedAgo(time.Hour)
	tests := []struct {
		name string
		v    view.View
		want bool
	}{
		{"no request", viewtest.Free(), false},
		{"idle, asked long ago", viewtest.Free(long), true},
		{"busy, asked long ago", viewtest.Free(busy, long), true},
		{"asked a moment ago, presence is of before", viewtest.Free(busy, askedAgo(time.Second), told(time.Minute)), false},
		{"asked a moment ago, presence is of then", viewtest.Free(busy, askedAgo(2*time.Second), told(time.Second)), false},
		{"asked a moment ago, presence is newer", viewtest.Free(busy, askedAgo(2*time.Second), told(time.Second/2)), true},
		{"asked just within the time", viewtest.Free(busy, askedAgo(view.GoneBy), told(view.GoneBy)), false},
		{"asked just over the time", viewtest.Free(busy, askedAgo(view.GoneBy+time.Millisecond), told(view.GoneBy)), true},
		{"the clock was set back since", viewtest.Free(busy, askedAgo(-time.Hour), told(view.GoneBy)), true},
		{"it waits", viewtest.Free(viewtest.Status(presence.Waiting), viewtest.DialogOpen, long), false},
		{"it waits and shows nothing", viewtest.Free(viewtest.Status(presence.Waiting), long), false},
		{"the screen still shows it", viewtest.Free(busy, viewtest.DialogOpen, long), false},
		{"no presence file", viewtest.Free(viewtest.NoPresence, long), false},
		{"presence cannot be read", viewtest.Free(viewtest.Status(""), long), false},
		{"a status of a later version", viewtest.Free(viewtest.Status("new"), long), false},
		{"nobody knows whether it lives", viewtest.Free(viewtest.Alive(process.Unknown), long), false},
		{"its end is told in another way", viewtest.Free(viewtest.Alive(process.Gone), long), false},
		{"the screen cannot be read, presence says it", viewtest.Free(busy, viewtest.Blind, long), true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, view.IsDialogGone(tc.v)) })
	}
}

func TestDialogClosed(t *testing.T) {
	tests := []struct {
		name string
		v    view.View
		want bool
	}{
		{"zero", view.View{}, false},
		{"the box", viewtest.Free(), true},
		{"a turn", viewtest.Free(viewtest.Status(presence.Busy)), true},
		{"a dialog", viewtest.Free(viewtest.DialogOpen), false},
		{"presence waits", viewtest.Free(viewtest.Status(presence.Waiting)), false},
		{"presence cannot be read", viewtest.Free(viewtest.Status("")), false},
		{"no presence file, a box", viewtest.Free(viewtest.NoPresence), true},
		{"no presence file, an odd screen", viewtest.Free(viewtest.NoPresence, viewtest.NoBox), false},
		{"the screen cannot be read", viewtest.Free(viewtest.Blind), false},
		{"behind its shell", viewtest.Free(viewtest.InBackground, viewtest.Blind), false},
		{"tmux does not say", viewtest.Free(viewtest.Fate(view.PaneUnknown), viewtest.Blind), false},
		{"nobody knows whether it lives", viewtest.Free(viewtest.Alive(process.Unknown)), false},
		{"it ended", viewtest.Free(viewtest.Alive(process.Gone), viewtest.Fate(view.PaneDead)), true},
		{"its pane is gone", viewtest.Free(viewtest.Fate(view.PaneGone), viewtest.Blind), true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, view.IsDialogClosed(tc.v)) })
	}
}

// The chat has the question as a request: its dialog is not reported again.
func TestRequestIsNotReportedAsDialog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.asks(askBash("touch x"))
		w.Wake(r.ID)
		w.pass(dialog.RelayGrace / 2)
		w.relays.ask(r)
		w.Wake(r.ID)
		w.held(r, "k", viewtest.Said)
		w.pass(time.Hour)
		assert.Zero(t, toldOf[news.Dialog](w.news))
		assert.Equal(t, 1, w.news.held(news.HeldDialog))
		assert.Zero(t, toldOf[news.DialogGone](w.news))

		w.relays.leave() // answered, and the dialog closes in a moment; or its hook has died, and the dialog stands
		w.Wake(r.ID)
		w.pass(dialog.RelayGrace - time.Second)
		assert.Zero(t, toldOf[news.Dialog](w.news))
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))
		assert.Empty(t, a.heard())
	})
}

// Answered in the chat; the agent goes on and its terminal draws that late.
func TestAnsweredDialogOnSlowScreenIsNotReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.asks(askBash("touch x"))
		w.relays.ask(r)
		w.Wake(r.ID)
		w.pass(time.Minute)
		a.set(func(a *agent) { a.status, a.since = presence.Busy, time.Now() })
		w.relays.leave()
		w.WakeAgent(a.id.PID)
		w.pass(dialog.RelayGrace - time.Second)
		a.set(func(a *agent) { a.close() })
		w.pass(time.Minute)
		assert.Zero(t, toldOf[news.Dialog](w.news))
	})
}

// Answered in the terminal, which kills no hook.
func TestClosedRequestIsReportedOnce(t *testing.T) {
	for _, answered := range []time.Duration{time.Second / 2, time.Minute} {
		t.Run(answered.String(), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				a.asks(askBash("touch x"))
				w.relays.ask(r)
				w.Wake(r.ID)
				w.pass(answered)
				assert.Zero(t, toldOf[news.DialogGone](w.news))
				a.set(func(a *agent) { a.close(); a.status, a.since = presence.Busy, time.Now() })
				w.WakeAgent(a.id.PID)
				w.pass(view.GoneBy + time.Second)
				assert.Equal(t, 1, toldOf[news.DialogGone](w.news))
				w.WakeAgent(a.id.PID)
				w.pass(time.Minute)
				assert.Equal(t, 1, toldOf[news.DialogGone](w.news))

				w.relays.ask(r) // the next one
				w.WakeAgent(a.id.PID)
				w.pass(time.Minute)
				assert.Equal(t, 2, toldOf[news.DialogGone](w.news))
			})
		})
	}
}

// The end of a reported dialog must not count as the end of a new request.
func TestClosedDialogProvesNoNewRequest(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, _ := w.asked(askBash("touch x"))
		a.set(func(a *agent) { a.close(); a.since = time.Now() })
		w.relays.ask(r)
		w.Wake(r.ID)
		w.pass(view.GoneBy / 2)
		assert.Zero(t, toldOf[news.DialogGone](w.news))
		w.pass(view.GoneBy)
		assert.Equal(t, 1, toldOf[news.DialogGone](w.news))
	})
}

// A request of an earlier launch, whose hook has outlived it, hides nothing.
func TestOtherAgentsRequestDoesNotCount(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.relays.add(hooks.Request{Session: r.ID, Agent: process.Identity{PID: 9, Start: 9, Boot: boot}.Text(), RequestedAt: time.Now()})
		assert.False(t, w.Observer.View(w.ctx, r).Relayed)
		a.asks(askBash("touch x"))
		w.Wake(r.ID)
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))

		w.relays.add(hooks.Request{Session: r.ID, Agent: a.id.Text()}) // without a time
		v := w.Observer.View(w.ctx, r)
		assert.True(t, v.Relayed)
		assert.True(t, v.RequestedAt.IsZero())
		first, last := time.Now(), time.Now().Add(time.Second)
		w.relays.add(hooks.Request{Session: r.ID, Agent: a.id.Text(), RequestedAt: last})
		w.relays.add(hooks.Request{Session: r.ID, Agent: a.id.Text(), RequestedAt: first})
		assert.Equal(t, last, w.Observer.View(w.ctx, r).RequestedAt)
	})
}

func TestReportedDialogIsReportedClosed(t *testing.T) {
	tests := []struct {
		name  string
		end   func(w *world, r session.Record, a *agent)
		gone  int
		tells func(*heardNews) int // counts the later reports
	}{
		{"answered at the desk", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.close() }) }, 1, nil},
		{"the agent ended", func(w *world, _ session.Record, a *agent) { w.tmux.die(a, tmuxtest.Exit{}) }, 1, toldOf[news.Ended]},
		{"another one", func(_ *world, _ session.Record, a *agent) { a.asks(askBash("make")) }, 0, toldOf[news.Dialog]},
		{"its cursor was moved", func(_ *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.menu.selected = 2 }) }, 0, nil},
		{"nobody knows", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.unreadable = presence.ErrTorn; a.menu.plain = true })
		}, 0, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a, d := w.asked(askBash("touch x"))
				require.Equal(t, 1, toldOf[news.Dialog](w.news))
				assert.Equal(t, d, *lastOf[news.Dialog](w.news).Dialog)
				before := 0
				if tc.tells != nil {
					before = tc.tells(w.news)
				}
				tc.end(w, r, a)
				for range 3 {
					w.Wake(r.ID)
					w.pass(time.Minute)
				}
				assert.Equal(t, tc.gone, toldOf[news.DialogGone](w.news))
				if tc.tells != nil {
					assert.Equal(t, before+1, tc.tells(w.news))
				}
			})
		})
	}
}

// A report that fails comes later, and nothing else waits for it.
func TestClosedDialogIsReportedUntilSaved(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a, _ := w.asked(askBash("touch x"))
		full := errors.New("disk full")
		w.news.set(func(n *heardNews) {
			n.fail = func(note news.News) error {
				if _, is := note.(news.DialogGone); is {
					return full
				}
				return nil
			}
		})
		a.set(func(a *agent) { a.close() })
		w.held(r, "k", viewtest.Said)
		w.pass(time.Minute)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "a prompt is typed all the same")
		w.news.set(func(n *heardNews) { n.fail = nil })
		w.pass(10 * time.Minute)
		assert.Equal(t, 1, toldOf[news.DialogGone](w.news))
	})
}

// A screen that takes keys before anything is known of the agent goes along with
// the news that it is not ready.
func TestUnreadyAgentShowsScreen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := &menu{plain: true, head: []string{"Select login method:"}, options: []string{"Account", "Console"}}
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.menu, a.silent = m, true }
		r, a := w.starting()
		w.pass(time.Minute)
		require.Equal(t, 1, toldOf[news.NotReporting](w.news))
		d := lastOf[news.NotReporting](w.news).Dialog
		require.NotNil(t, d)
		assert.True(t, d.Open)
		d2, err := w.Press(w.ctx, r.ID, d.Fingerprint, "down")
		require.NoError(t, err)
		_, err = w.Press(w.ctx, r.ID, d2.Fingerprint, "enter")
		require.NoError(t, err)
		_, chosen := a.took(m)
		assert.Equal(t, []string{"Console"}, chosen)
	})
}

// A dialog may open before the transcript has its prompt: that prompt is still proven, and the wait
// of the next one is reported.
func TestP4_PromptIsProvenDuringDialog(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, h := w.adopted()
		h.set(func(a *agent) { a.onEnter = func(a *agent) { a.dialog, a.status = true, presence.Waiting } })
		w.held(r, "one", "run it")
		w.Wake(r.ID)
		w.pass(2 * time.Second)
		require.Zero(t, toldOf[news.Delivered](w.news))
		w.write(r, userLine("run it"))
		w.held(w.get(r.ID), "two", "and then")
		w.Wake(r.ID)
		w.pass(2 * typing.EnterRetry)
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
		assert.Equal(t, 1, w.news.held(news.HeldDialog))
	})
}
