package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/agent/history"
	"ccbot/hooks"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// A subagent's request leaves presence busy. Every prompt that waits for it is reported, in any
// order of arrival.
func TestPromptsAwaitingSubagentRequestAreReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status = presence.Busy })
		w.held(r, "one", "first")
		w.pass(5*time.Second + time.Second)
		assert.Equal(t, 1, w.news.held(news.Queued))
		assert.Equal(t, string(talk.PhaseWorking), w.get(r.ID).Phase)

		w.relays.add(hooks.Request{ID: uuid.NewString(), Session: r.ID, Agent: a.id.Text(), Tool: "Bash", SubagentID: "a1", RequestedAt: time.Now()})
		w.Wake(r.ID) // as the relay says
		w.pass(time.Second)
		assert.Equal(t, 1, w.news.held(news.HeldDialog))
		w.held(r, "two", "second")
		w.held(r, "three", "third")
		w.pass(time.Second)
		assert.Equal(t, 3, w.news.held(news.HeldDialog))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}, lastOf[news.Held](w.news).Now)
		got := w.get(r.ID)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}, view.Noted(got))
		assert.Equal(t, view.Noted(got), w.Observer.Inspector(w.ctx)(got).Now)
		w.pass(10 * view.Slow)
		assert.Equal(t, 3, w.news.held(news.HeldDialog), "once")
		assert.Empty(t, a.heard())

		w.relays.leave()
		w.Wake(r.ID)
		w.pass(time.Second)
		assert.Equal(t, string(talk.PhaseWorking), w.get(r.ID).Phase)
		a.set(func(a *agent) { a.status = presence.Idle })
		w.WakeAgent(a.id.PID)
		w.pass(time.Second)
		assert.Equal(t, []string{"first"}, a.heard())
	})
}

// Nothing tells that a request of the agent fails but its screen.
func TestFailingRequestsReportedOncePerTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status = presence.Busy })
		w.WakeAgent(a.id.PID)
		w.pass(time.Second)
		a.set(func(a *agent) { a.retry = "529 Overloaded · retrying in 4s · attempt 3/10" })
		w.pass(view.Slow + time.Second)
		assert.Equal(t, string(talk.PhaseAPIError), w.get(r.ID).Phase)
		assert.Zero(t, toldOf[news.Retrying](w.news), "it is over before anybody has read of it")
		a.set(func(a *agent) { a.retry = "529 Overloaded · retrying in 33s · attempt 6/10" })
		w.pass(10 * view.Slow)
		assert.Equal(t, 1, toldOf[news.Retrying](w.news))
		assert.Equal(t, "529 Overloaded", lastOf[news.Retrying](w.news).Now.What)
		got := w.get(r.ID)
		assert.True(t, view.Noted(got).Works())

		a.set(func(a *agent) { a.retry = "" })
		w.pass(2 * view.Slow)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWorking}, view.Noted(w.get(r.ID)))
		for _, s := range []presence.Status{presence.Idle, presence.Busy} {
			a.set(func(a *agent) { a.status = s })
			w.WakeAgent(a.id.PID)
			w.pass(firstLines + time.Second)
		}
		a.set(func(a *agent) { a.retry = "API error · retrying in 10m 0s · attempt 1/10" })
		w.pass(2 * view.Slow)
		assert.Equal(t, 2, toldOf[news.Retrying](w.news), "another turn")
	})
}

// The end of the pause differs by milliseconds from look to look: that is nothing to save.
func TestCheckDuringRetrySavesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		pause := func(seconds int) int {
			return w.saves.of(func() {
				a.set(func(a *agent) { a.retry = fmt.Sprintf("529 Overloaded · retrying in %ds · attempt 6/10", seconds) })
				w.Wake(r.ID)
				w.pass(1070 * time.Millisecond)
			})
		}
		require.Equal(t, 1, pause(33))
		until := view.Noted(w.get(r.ID)).Until
		assert.Zero(t, until.Nanosecond())
		for left := range 10 {
			assert.Zero(t, pause(32-left))
		}
		assert.Equal(t, until, view.Noted(w.get(r.ID)).Until)
		assert.Equal(t, 1, pause(120), "another try")
		assert.True(t, view.Noted(w.get(r.ID)).Until.After(until))
	})
}

// The obstacle belongs to the agent: the next one may be logged in.
func TestFailureEndsWithLaunch(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.write(r, `{"type":"assistant","isApiErrorMessage":true,"error":"authentication_failed","message":{"id":"m","model":"<synthetic>",`+
			`"content":[{"type":"text","text":"said"}],"usage":{"output_tokens":0}}}`)
		w.becomes(a, presence.Idle)
		w.pass(time.Minute)
		require.Equal(t, talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}, view.Noted(w.get(r.ID)))
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(back)
		w.pass(time.Minute)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, view.Noted(w.get(r.ID)))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, w.Observer.Inspector(w.ctx)(w.get(r.ID)).Now)
	})
}

// A slow machine writes the end of a turn seconds after the agent says that it is idle.
func TestLateFailureIsNoted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.settled()
		w.becomes(a, presence.Busy)
		w.becomes(a, presence.Idle)
		w.pass(5 * time.Second)
		require.Equal(t, talk.PhaseIdle, view.Noted(w.get(r.ID)).Phase)
		w.write(r, `{"type":"assistant","isApiErrorMessage":true,"error":"authentication_failed","message":{"id":"m","model":"<synthetic>",`+
			`"content":[{"type":"text","text":"said"}],"usage":{"output_tokens":0}}}`)
		w.pass(10 * time.Second)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}, view.Noted(w.get(r.ID)))
	})
}

func TestLateLinesAreLookedForUntilTheTurnHasEnded(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := lateLines{at: now.Add(firstLines), pause: firstLines, turns: 3}
	assert.Equal(t, firstLines, l.left(now))
	assert.Equal(t, firstLines, l.left(now.Add(-time.Hour)), "the clock was set back")
	assert.Zero(t, l.next(now, history.Progress{Turns: 4}))
	assert.NotZero(t, l.next(now, history.Progress{Turns: 4, OpenTurn: &history.Turn{}}), "an earlier turn has ended late")
	var waited time.Duration
	for l != (lateLines{}) {
		waited += l.left(now)
		now = l.at
		l = l.next(now, history.Progress{Turns: 3})
	}
	assert.Equal(t, 31*time.Second, waited)
	assert.Zero(t, l.left(now))
}

func TestFailureIsNotedAndLimitEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		turn := func(line string) session.Record {
			a.set(func(a *agent) { a.status, a.since = presence.Busy, time.Now() })
			w.WakeAgent(a.id.PID)
			w.pass(time.Second)
			w.write(r, line)
			a.set(func(a *agent) { a.status, a.since = presence.Idle, time.Now() })
			w.WakeAgent(a.id.PID)
			w.pass(firstLines + time.Second)
			return w.get(r.ID)
		}
		failure := func(says string) string {
			return `{"type":"assistant","isApiErrorMessage":true,"message":{"id":"` + uuid.NewString() +
				`","model":"<synthetic>","content":[{"type":"text","text":"said"}],"usage":{"output_tokens":0}},` + says + `}`
		}
		got := turn(failure(`"error":"authentication_failed"`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}, view.Noted(got))

		until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		got = turn(failure(`"error":"rate_limit","quotaLimits":{"resetsAt":` + strconv.FormatInt(until.Unix(), 10) + `}`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseLimited, What: "said", Until: until}, view.Noted(got))
		w.pass(2 * time.Hour)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, view.Noted(w.get(r.ID)), "nobody has said so")

		got = turn(failure(`"error":"server_error"`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseAPIError, What: "said"}, view.Noted(got))
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		assert.Equal(t, []string{viewtest.Said}, a.heard(), "a failure holds up nothing")
		got = turn(strings.Replace(userLine(viewtest.Said), "{", `{"permissionMode":"default",`, 1) + "\n" + assistantLine + "\n" + turnEndLine)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, view.Noted(got))
	})
}

// A machine that sleeps stops timers, and not the clock: the end of a limit is seen soon after it
// wakes.
func TestLimitEndsDuringSleep(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.stop()
		until := time.Now().Add(3 * time.Hour).UTC()
		w.write(r, `{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":`+strconv.FormatInt(until.Unix(), 10)+
			`},"message":{"id":"1","model":"<synthetic>","content":[{"type":"text","text":"said"}],"usage":{"output_tokens":0}}}`)
		w.edit(r.ID, func(r *session.Record) { r.Phase = string(talk.PhaseWorking) }) // when ccbot was last there
		var asleep atomic.Int64
		w.core.Observer.Now = func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) }
		w.run()
		w.Wake(r.ID)
		w.pass(time.Minute)
		require.Equal(t, talk.PhaseLimited, view.Noted(w.get(r.ID)).Phase)
		asleep.Store(int64(4 * time.Hour))
		w.pass(2 * time.Minute)
		assert.Equal(t, talk.PhaseIdle, view.Noted(w.get(r.ID)).Phase)
	})
}

// An agent whose requests fail is at work: its end has cut a turn short.
func TestFailingTurnIsInterrupted(t *testing.T) {
	open := history.Progress{OpenTurn: &history.Turn{At: viewtest.Noon.Add(-time.Hour)}}
	r := in(session.Running, func(r *session.Record) {
		r.StartedAt, r.Progress = viewtest.Noon.Add(-2*time.Hour), open
		r.Phase, r.PhaseAt, r.PhaseUntil = string(talk.PhaseAPIError), viewtest.Noon.Add(-time.Minute), viewtest.Noon
	})
	assert.NotNil(t, interruption(r, view.AgentState{Known: view.StateUnwritten}, viewtest.Noon, viewtest.Noon))
	r.PhaseUntil = time.Time{}
	assert.Nil(t, interruption(r, view.AgentState{Known: view.StateUnwritten}, viewtest.Noon, viewtest.Noon), "the request was given up")
}

// TestUnknownWordIsNamedOnce: doctor names a word of an agent that ccbot does not know, and the log has it once, however often it is seen.
func TestUnknownWordIsNamedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		_, a := w.settled()
		a.set(func(a *agent) { a.status = "pondering" })
		for range 3 {
			w.WakeAgent(a.id.PID)
			w.pass(time.Minute)
		}
		said := w.Observer.Words()
		require.Len(t, said, 1)
		assert.Equal(t, "pondering", said[0].Word)
		assert.Equal(t, 1, strings.Count(w.logged(), "agent_word_unknown"))
	})
}
