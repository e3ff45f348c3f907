package lifecycle

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/hooks"
	"ccbot/internal/claudeui"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func TestDoing(t *testing.T) {
	busy := status(presence.Busy)
	below := func(tool string) func(*View) { return func(v *View) { v.Below = tool } }
	asks := func(tool string) func(*View) { return func(v *View) { v.Relayed, v.Tool = true, tool } }
	retries := func(v *View) { v.Screen.Retry = &claudeui.Retry{What: "529 Overloaded", In: 33 * time.Second} }
	failed := func(kind transcript.FailureKind, until time.Time) transcript.Failure {
		return transcript.Failure{Kind: kind, Text: "said", Until: until}
	}
	later := noon.Add(time.Hour)
	tests := []struct {
		name   string
		v      View
		failed transcript.Failure
		want   talk.Activity
	}{
		{"idle", free(), transcript.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"working", free(busy), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWorking}},
		{"nobody knows", free(alive(process.Unknown), below("Bash")), failed(transcript.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseUnknown}},
		{"a dialog of which no request tells", free(waitsFor("permission prompt")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission}},
		{"a permission", free(waitsFor("permission prompt"), asks("Bash")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a question, as 2.1.197 calls it", free(waitsFor("permission prompt"), asks("AskUserQuestion")), transcript.Failure{},
			talk.Activity{Phase: talk.PhaseWaitingAnswer, What: "AskUserQuestion"}},
		{"a request that the terminal does not show yet, or no more", free(busy, asks("Bash")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWorking}},
		{"a subagent's permission", free(busy, below("Bash")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a subagent's question", free(busy, below("AskUserQuestion")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWaitingAnswer, What: "AskUserQuestion"}},
		{"a subagent's request that has outlived its agent", free(below("Bash")), transcript.Failure{}, talk.Activity{Phase: talk.PhaseIdle}},
		{"a person comes before the API", free(busy, below("Bash"), retries), transcript.Failure{}, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"a request is made again", free(busy, retries), transcript.Failure{}, talk.Activity{Phase: talk.PhaseAPIError, What: "529 Overloaded", Until: noon.Add(33 * time.Second)}},
		{"a turn runs after a failed one", free(busy), failed(transcript.FailedRequest, time.Time{}), talk.Activity{Phase: talk.PhaseWorking}},
		{"an error of the API", free(), failed(transcript.FailedRequest, time.Time{}), talk.Activity{Phase: talk.PhaseAPIError, What: "said"}},
		{"logged out", free(), failed(transcript.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}},
		{"a hook", free(), failed(transcript.FailedHook, time.Time{}), talk.Activity{Phase: talk.PhaseBlocked, What: "said"}},
		{"a limit", free(), failed(transcript.FailedLimit, later), talk.Activity{Phase: talk.PhaseLimited, What: "said", Until: later}},
		{"a limit without an end", free(), failed(transcript.FailedLimit, time.Time{}), talk.Activity{Phase: talk.PhaseLimited, What: "said"}},
		{"a limit that has ended", free(), failed(transcript.FailedLimit, noon), talk.Activity{Phase: talk.PhaseIdle}},
		{"the login page", free(waitsFor("dialog open")), failed(transcript.FailedLogin, time.Time{}), talk.Activity{Phase: talk.PhaseWaitingPermission}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, doing(tc.v, tc.failed)) })
	}
}

// A subagent's request leaves presence busy. Every prompt that waits for it is reported, in any
// order of arrival.
func TestPromptsAwaitingSubagentRequestAreReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.status = presence.Busy })
		w.held(r, "one", "first")
		w.pass(queueNotice + time.Second)
		assert.Equal(t, 1, w.news.held(news.Queued))
		assert.Equal(t, string(talk.PhaseWorking), w.get(r.ID).Phase)

		w.relays.add(hooks.Request{ID: uuid.NewString(), Session: r.ID, Agent: a.id.Text(), Tool: "Bash", SubagentID: "a1", Asked: time.Now()})
		w.Wake(r.ID) // as the relay says
		w.pass(time.Second)
		assert.Equal(t, 1, w.news.held(news.HeldDialog))
		w.held(r, "two", "second")
		w.held(r, "three", "third")
		w.pass(time.Second)
		assert.Equal(t, 3, w.news.held(news.HeldDialog))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}, lastOf[news.Held](w.news).Now)
		got := w.get(r.ID)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}, Noted(got))
		assert.Equal(t, Noted(got), w.Observer.Looks(w.ctx)(got).Now)
		w.pass(10 * slow)
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
		w.pass(slow + time.Second)
		assert.Equal(t, string(talk.PhaseAPIError), w.get(r.ID).Phase)
		assert.Zero(t, toldOf[news.Retrying](w.news), "it is over before anybody has read of it")
		a.set(func(a *agent) { a.retry = "529 Overloaded · retrying in 33s · attempt 6/10" })
		w.pass(10 * slow)
		assert.Equal(t, 1, toldOf[news.Retrying](w.news))
		assert.Equal(t, "529 Overloaded", lastOf[news.Retrying](w.news).Now.What)
		got := w.get(r.ID)
		assert.True(t, Noted(got).Works())

		a.set(func(a *agent) { a.retry = "" })
		w.pass(2 * slow)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseWorking}, Noted(w.get(r.ID)))
		for _, s := range []presence.Status{presence.Idle, presence.Busy} {
			a.set(func(a *agent) { a.status = s })
			w.WakeAgent(a.id.PID)
			w.pass(told + time.Second)
		}
		a.set(func(a *agent) { a.retry = "API error · retrying in 10m 0s · attempt 1/10" })
		w.pass(2 * slow)
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
		until := Noted(w.get(r.ID)).Until
		assert.Zero(t, until.Nanosecond())
		for left := range 10 {
			assert.Zero(t, pause(32-left))
		}
		assert.Equal(t, until, Noted(w.get(r.ID)).Until)
		assert.Equal(t, 1, pause(120), "another try")
		assert.True(t, Noted(w.get(r.ID)).Until.After(until))
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
		require.Equal(t, talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}, Noted(w.get(r.ID)))
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		w.report(back)
		w.pass(time.Minute)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, Noted(w.get(r.ID)))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, w.Observer.Looks(w.ctx)(w.get(r.ID)).Now)
	})
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
			w.pass(told + time.Second)
			return w.get(r.ID)
		}
		failure := func(says string) string {
			return `{"type":"assistant","isApiErrorMessage":true,"message":{"id":"` + uuid.NewString() +
				`","model":"<synthetic>","content":[{"type":"text","text":"said"}],"usage":{"output_tokens":0}},` + says + `}`
		}
		got := turn(failure(`"error":"authentication_failed"`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseLoggedOut, What: "said"}, Noted(got))

		until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		got = turn(failure(`"error":"rate_limit","quotaLimits":{"resetsAt":` + strconv.FormatInt(until.Unix(), 10) + `}`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseLimited, What: "said", Until: until}, Noted(got))
		w.pass(2 * time.Hour)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, Noted(w.get(r.ID)), "nobody has said so")

		got = turn(failure(`"error":"server_error"`))
		assert.Equal(t, talk.Activity{Phase: talk.PhaseAPIError, What: "said"}, Noted(got))
		w.held(r, "k", said)
		w.pass(time.Second)
		assert.Equal(t, []string{said}, a.heard(), "a failure holds up nothing")
		got = turn(userLine(said) + "\n" + assistantLine + "\n" + turnEndLine)
		assert.Equal(t, talk.Activity{Phase: talk.PhaseIdle}, Noted(got))
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
		w.kit.Observer.Now = func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) }
		w.run()
		w.Wake(r.ID)
		w.pass(time.Minute)
		require.Equal(t, talk.PhaseLimited, Noted(w.get(r.ID)).Phase)
		asleep.Store(int64(4 * time.Hour))
		w.pass(2 * time.Minute)
		assert.Equal(t, talk.PhaseIdle, Noted(w.get(r.ID)).Phase)
	})
}

// An agent whose requests fail is at work: its end has cut a turn short.
func TestFailingTurnIsInterrupted(t *testing.T) {
	open := transcript.Progress{Open: &transcript.Turn{At: noon.Add(-time.Hour)}}
	r := in(session.Running, func(r *session.Record) {
		r.StartedAt, r.Progress = noon.Add(-2*time.Hour), open
		r.Phase, r.PhaseAt, r.PhaseUntil = string(talk.PhaseAPIError), noon.Add(-time.Minute), noon
	})
	assert.NotNil(t, interruption(r, AgentState{Known: StateUnwritten}, noon, noon))
	r.PhaseUntil = time.Time{}
	assert.Nil(t, interruption(r, AgentState{Known: StateUnwritten}, noon, noon), "the request was given up")
}
