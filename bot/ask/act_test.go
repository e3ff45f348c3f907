package ask

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/decisions"
)

func TestTap_Decides(t *testing.T) {
	bash, plan := cardOf("Bash", `{"command":"ls"}`, npmRule), cardOf("ExitPlanMode", `{"plan":"x"}`)
	session, ok := decisions.AllowForSession(bash.Request)
	require.True(t, ok)
	tests := []struct {
		name string
		card Card
		verb string
		want decisions.Decision
	}{
		{"allow", bash, "ok", decisions.Allow(bash.Request)},
		{"for the session", bash, "ses", session},
		{"deny", bash, "no", decisions.Deny("")},
		{"approve", plan, "plan", decisions.ApprovePlan(plan.Request, false)},
		{"approve and allow edits", plan, "edit", decisions.ApprovePlan(plan.Request, true)},
		{"deny a plan", plan, "no", decisions.Deny("The user does not approve the plan yet (said in the chat): keep planning.")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, does, err := Tap(tt.card, person, tt.verb, nil, noon)
			require.NoError(t, err)
			assert.Equal(t, SendDecision, does)
			want := tt.card
			want.State, want.Decision, want.By, want.DecidedAt = StateSent, &tt.want, person, noon
			assert.Equal(t, want, got)
		})
	}
}

func TestTap_Refuses(t *testing.T) {
	bash, plan, ask := cardOf("Bash", `{"command":"ls"}`), cardOf("ExitPlanMode", `{"plan":"x"}`), cardOf("AskUserQuestion", twoQuestions)
	sent, _, err := Tap(bash, person, "ok", nil, noon)
	require.NoError(t, err)
	tests := []struct {
		name, tap string
		card      Card
		want      error
	}{
		{"it is over", "no", Settle(bash, decisions.Outcome{Done: true}, true, false, noon), ErrOver},
		{"it is sent", "no", sent, ErrNotNow},
		{"nobody waits", "ok", Leave(bash, HookLeft), ErrNotNow},
		{"no rules", "ses", bash, ErrStale},
		{"another word", "rm", bash, ErrStale},
		{"no word", "", bash, ErrStale},
		{"allow with more", "ok:1", bash, ErrStale},
		{"allow a plan", "ok", plan, ErrStale},
		{"approve a command", "plan", bash, ErrStale},
		{"allow a question", "ok", ask, ErrStale},
		{"answer a command", "o:0:0", bash, ErrStale},
		{"an option that is not there", "o:0:2", ask, ErrStale},
		{"an option below none", "o:0:-1", ask, ErrStale},
		{"an option that is no number", "o:0:x", ask, ErrStale},
		{"an option of another page", "o:1:0", ask, ErrStale},
		{"a page written otherwise", "o:00:0", ask, ErrStale},
		{"an option without a page", "o", ask, ErrStale},
		{"done where one is chosen", "d:0", ask, ErrStale},
		{"back from the first", "b:0", ask, ErrStale},
		{"nothing to take back", "c", ask, ErrStale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := strings.Split(tt.tap, ":")
			got, does, err := Tap(tt.card, person, parts[0], parts[1:], noon)
			require.ErrorIs(t, err, tt.want)
			assert.Equal(t, None, does)
			assert.Equal(t, tt.card, got)
		})
	}
}

func TestP4_AReasonIsTakenOnceAndWordForWord(t *testing.T) {
	c := cardOf("Bash", `{"command":"ls"}`)
	_, does := Say(c, person, "hello", noon)
	assert.Equal(t, None, does, "nobody asked")

	c, does, err := Tap(c, person, "why", nil, noon)
	require.NoError(t, err)
	assert.Equal(t, AskWhy, does)
	assert.True(t, c.Awaits(person, noon))
	_, does = Say(c, person+1, "hello", noon)
	assert.Equal(t, None, does, "somebody else's text is a prompt")
	_, does = Say(c, person, " \n", noon)
	assert.Equal(t, None, does, "blank")

	reason := "  use `make`\n\"not\" <this> 👩\u200d💻 "
	sent, does := Say(c, person, reason, noon)
	assert.Equal(t, SendDecision, does)
	assert.Equal(t, "The user denied this from the chat. They wrote: "+reason, sent.Decision.Message)
	assert.False(t, sent.Decision.Interrupt)
	assert.False(t, sent.Awaits(person, noon))
	_, does = Say(sent, person, "more", noon)
	assert.Equal(t, None, does, "the next text is a prompt again")

	back, does, err := Tap(c, person+1, "c", nil, noon)
	require.NoError(t, err)
	assert.Equal(t, Redraw, does)
	assert.False(t, back.Awaits(person, noon))
	_, does = Say(Leave(c, HookLeft), person, reason, noon)
	assert.Equal(t, None, does, "the dialog is gone: the text is not swallowed")
}

func TestP4_AReasonIsNotWaitedForForEver(t *testing.T) {
	c, _, err := Tap(cardOf("Bash", `{"command":"ls"}`), person, "why", nil, noon)
	require.NoError(t, err)
	late := noon.Add(10 * time.Minute)
	assert.False(t, c.Overdue(late.Add(-time.Second)))
	assert.True(t, c.Overdue(late))
	_, does := Say(c, person, "a prompt by now", late)
	assert.Equal(t, None, does)
	c = GiveUp(c)
	assert.Nil(t, c.Why)
	again, _, err := Tap(c, person, "why", nil, late)
	require.NoError(t, err)
	assert.False(t, again.Unheard)
	assert.True(t, again.Awaits(person, late))
}

func TestP4_DenyWithATextThatWaits(t *testing.T) {
	c := cardOf("Bash", `{"command":"ls"}`)
	sent, does, err := DenyWith(c, person, "not now", "u-17", noon)
	require.NoError(t, err)
	assert.Equal(t, SendDecision, does)
	assert.Equal(t, "u-17", sent.Prompt)
	assert.Equal(t, "The user denied this from the chat. They wrote: not now", sent.Decision.Message)
	_, _, err = DenyWith(sent, person, "again", "u-18", noon)
	require.ErrorIs(t, err, ErrNotNow)
	_, _, err = DenyWith(Leave(c, HookLeft), person, "again", "u-18", noon)
	require.ErrorIs(t, err, ErrNotNow)
	_, _, err = DenyWith(Settle(c, decisions.Outcome{Done: true}, true, false, noon), person, "x", "u", noon)
	require.ErrorIs(t, err, ErrOver)
}

func TestSay_AnswersInOwnWords(t *testing.T) {
	c := cardOf("AskUserQuestion", twoQuestions)
	step := func(verb string, args ...string) Effect {
		var does Effect
		var err error
		c, does, err = Tap(c, person, verb, args, noon)
		require.NoError(t, err)
		return does
	}
	assert.Equal(t, AskWhy, step("x", "0"))
	_, _, err := Tap(c, person, "o", []string{"0", "0"}, noon)
	require.ErrorIs(t, err, ErrStale, "while an answer is awaited the options are not there")
	c, does := Say(c, person, "DuckDB", noon)
	assert.Equal(t, Redraw, does)
	step("o", "1", "2")
	step("x", "1")
	c, does = Say(c, person, "Alerts", noon)
	assert.Equal(t, SendDecision, does)
	want, err := decisions.AnswerQuestions(c.Request, map[string]string{"Which database?": "DuckDB", "Which features?": "Metrics, Alerts"})
	require.NoError(t, err)
	assert.Equal(t, &want, c.Decision)
}

func TestTransitionsShareNothing(t *testing.T) {
	c := cardOf("AskUserQuestion", twoQuestions)
	c, _, err := Tap(c, person, "o", []string{"0", "0"}, noon)
	require.NoError(t, err)
	for i := range 3 {
		before := c.clone()
		after, _, err := Tap(c, person, "o", []string{"1", strconv.Itoa(i)}, noon)
		require.NoError(t, err)
		assert.Equal(t, before, c)
		c = after
	}
}

func TestSettle(t *testing.T) {
	bash, ask := cardOf("Bash", `{"command":"ls"}`), cardOf("AskUserQuestion", twoQuestions)
	after := func(c Card, verb string) Card {
		c, _, err := Tap(c, person, verb, nil, noon)
		require.NoError(t, err)
		return c
	}
	answered := ask
	for _, tap := range []string{"o:0:0", "o:1:0", "d:1"} {
		parts := strings.Split(tap, ":")
		var err error
		answered, _, err = Tap(answered, person, parts[0], parts[1:], noon)
		require.NoError(t, err)
	}
	tapped := func(c Card, at time.Time) Card {
		c, _, err := Tap(c, person, "ok", nil, at)
		require.NoError(t, err)
		return c
	}
	type o = decisions.Outcome
	soon, late := noon.Add(time.Minute), noon.Add(26*time.Hour)
	tests := []struct {
		name  string
		card  Card
		o     o
		found bool
		gone  bool
		now   time.Time
		want  Outcome
		stays bool
	}{
		{"nothing is known", bash, o{}, false, false, soon, Outcome{}, true},
		{"called, and no result", bash, o{}, true, false, soon, Outcome{}, true},
		{"sent, and not taken yet", after(bash, "ok"), o{}, true, false, soon, Outcome{}, true},
		{"taken, and the tool still runs", after(bash, "ok"), o{ByHook: "allow"}, true, false, soon, Outcome{What: Allowed, Chat: true}, false},
		{"taken, and the tool failed", after(bash, "ok"), o{ByHook: "allow", Done: true, IsError: true}, true, false, soon, Outcome{What: Allowed, Chat: true}, false},
		{"denied here", after(bash, "no"), o{ByHook: "deny", Done: true, IsError: true}, true, false, soon, Outcome{What: Denied, Chat: true}, false},
		{"denied here, as the result says", after(bash, "no"), o{Done: true, IsError: true, Text: "Error: " + decisions.Denied}, true, false, soon, Outcome{What: Denied, Chat: true}, false},
		{"answered here", answered, o{ByHook: "allow", Done: true, Text: "answers"}, true, false, soon, Outcome{What: Answered, Chat: true}, false},
		{"allowed at the desk", bash, o{Done: true}, true, false, soon, Outcome{What: Allowed}, false},
		{"allowed at the desk, away", Leave(bash, HookLeft), o{Done: true, IsError: true}, true, false, soon, Outcome{What: Allowed}, false},
		{"allowed at the desk before the tap", after(bash, "no"), o{Done: true, Text: "a.go"}, true, false, soon, Outcome{What: Allowed, Late: true}, false},
		{"denied at the desk", bash, o{Done: true, IsError: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Denied}, false},
		{"denied at the desk before the tap", after(bash, "ok"), o{Done: true, IsError: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Denied, Late: true}, false},
		{"another hook denied", after(bash, "ok"), o{ByHook: "deny", Done: true, IsError: true}, true, false, soon, Outcome{What: Denied, Hook: true, Late: true}, false},
		{"another hook allowed", bash, o{ByHook: "allow"}, true, false, soon, Outcome{What: Allowed, Hook: true}, false},
		{"answered at the desk", ask, o{Done: true, Text: "x\u202ey"}, true, false, soon, Outcome{What: Answered, Said: "x⟨U+202E⟩y"}, false},
		{"interrupted", bash, o{Interrupted: true, Done: true, IsError: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Interrupted}, false},
		{"interrupted, nobody knows when", after(bash, "ok"), o{Interrupted: true}, true, false, soon, Outcome{What: Interrupted}, false},
		{"the session ended", bash, o{}, false, true, soon, Outcome{What: Ended}, false},
		{"the session ended in the middle", Leave(bash, HookLeft), o{}, true, true, soon, Outcome{What: Ended}, false},
		{"the session ended, and the tap may have counted", after(bash, "ok"), o{}, false, true, soon, Outcome{What: Unknown}, false},
		{"the session ended after the result", after(bash, "ok"), o{ByHook: "allow", Done: true}, true, true, soon, Outcome{What: Allowed, Chat: true}, false},
		{"a day later, its hook had left", Leave(bash, HookLeft), o{}, false, false, late, Outcome{What: Unknown}, false},
		{"a day later, its hook left at the end", Leave(bash, WaitedOut), o{}, false, false, late, Outcome{What: Expired}, false},
		{"a day later, decided an hour ago", tapped(bash, noon.Add(25*time.Hour)), o{}, false, false, late, Outcome{}, true},
		{"a day later", bash, o{}, false, false, late, Outcome{What: Expired}, false},
		{"a day after the tap", after(bash, "ok"), o{}, false, false, late, Outcome{What: Unknown}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Settle(tt.card, tt.o, tt.found, tt.gone, tt.now)
			if tt.stays {
				assert.Equal(t, tt.card, got)
				return
			}
			assert.Equal(t, StateOver, got.State)
			assert.Equal(t, tt.want, got.Outcome)
			assert.Equal(t, tt.now, got.Over)
			assert.Equal(t, got, Settle(got, o{Done: true, Denial: "x"}, true, true, late), "over is over")
			assert.Equal(t, got, Leave(got, HookLeft))
			assert.Equal(t, got, Return(got))
		})
	}
}

func TestLeaveAndReturn(t *testing.T) {
	c := cardOf("AskUserQuestion", twoQuestions)
	c, _, err := Tap(c, person, "o", []string{"0", "0"}, noon)
	require.NoError(t, err)
	assert.Equal(t, c, Return(Leave(c, HookLeft)), "the answers so far are kept")
	sent, _, err := Tap(c, person, "no", nil, noon)
	require.NoError(t, err)
	assert.Equal(t, sent, Leave(sent, HookLeft), "the decision may have arrived")
	assert.Equal(t, sent, Return(sent))
	assert.Equal(t, StateAway, Lose(sent).State)
	assert.Equal(t, sent, Return(Lose(sent)), "its hook came after all")
	assert.Equal(t, c, Return(Lose(c)))
}
