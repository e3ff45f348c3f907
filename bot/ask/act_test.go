package ask

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

func TestTap_Decides(t *testing.T) {
	bash, plan := stateOf("Bash", `{"command":"ls"}`, npmRule), stateOf("ExitPlanMode", `{"plan":"x"}`)
	tests := []struct {
		name string
		card State
		verb string
		want talk.ChoiceID
	}{
		{"allow", bash, "ok", talk.ChoiceAllow},
		{"for the session", bash, "ses", talk.ChoiceAllowSession},
		{"deny", bash, "no", talk.ChoiceDeny},
		{"approve", plan, "plan", talk.ChoiceApprove},
		{"approve and allow edits", plan, "edit", talk.ChoiceApproveEdits},
		{"deny a plan", plan, "no", talk.ChoiceDeny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Tap(tt.card, person, tt.verb, noon)
			require.NoError(t, err)
			want := tt.card
			want.Stage, want.By, want.Since = StageSent, person, noon
			want.Answer = &talk.Answer{Choice: tt.want, Shown: tt.card.Request.Ask.Digest()}
			assert.Equal(t, want, got)
		})
	}
}

func TestTap_Refuses(t *testing.T) {
	bash, plan, ask := stateOf("Bash", `{"command":"ls"}`), stateOf("ExitPlanMode", `{"plan":"x"}`), stateOf("AskUserQuestion", twoQuestions)
	sent, err := Tap(bash, person, "ok", noon)
	require.NoError(t, err)
	tests := []struct {
		name, tap string
		card      State
		want      error
	}{
		{"it is over", "no", settle(bash, talk.RequestOutcome{Done: true}, true, false, noon), errEnded},
		{"it is sent", "no", sent, errNotNow},
		{"nobody waits", "ok", leave(bash, false, noon), errNotNow},
		{"no rules", "ses", bash, errNotNow},
		{"another word", "rm", bash, errNotNow},
		{"no word", "", bash, errNotNow},
		{"allow with more", "ok:1", bash, errNotNow},
		{"allow a plan", "ok", plan, errNotNow},
		{"approve a command", "plan", bash, errNotNow},
		{"allow a question", "ok", ask, errNotNow},
		{"answer a command", "o:0:0", bash, errNotNow},
		{"an option that is not there", "o:0:2", ask, errNotNow},
		{"an option below none", "o:0:-1", ask, errNotNow},
		{"an option that is no number", "o:0:x", ask, errNotNow},
		{"an option of another page", "o:1:0", ask, errNotNow},
		{"a page written otherwise", "o:00:0", ask, errNotNow},
		{"an option without a page", "o", ask, errNotNow},
		{"done where one is chosen", "d:0", ask, errNotNow},
		{"back from the first", "b:0", ask, errNotNow},
		{"nothing to take back", "c", ask, errNotNow},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Tap(tt.card, person, tt.tap, noon)
			require.ErrorIs(t, err, tt.want)
			assert.Equal(t, tt.card, got)
		})
	}
}

func TestP4_ReasonIsTakenOnceVerbatim(t *testing.T) {
	s := stateOf("Bash", `{"command":"ls"}`)
	says := func(s State, by int64, text string) error {
		after, err := applyText(s, by, text, noon)
		assert.Equal(t, s, after)
		return err
	}
	require.ErrorIs(t, says(s, person, "hello"), errNotNow, "nobody asked")

	s, err := Tap(s, person, "why", noon)
	require.NoError(t, err)
	assert.True(t, s.Awaits(person, noon))
	require.ErrorIs(t, says(s, person+1, "hello"), errNotNow, "somebody else's text is a prompt")
	require.ErrorIs(t, says(s, person, " \n"), errNotNow, "blank")

	reason := "  use `make`\n\"not\" <this> 👩\u200d💻 "
	sent, err := applyText(s, person, reason, noon)
	require.NoError(t, err)
	assert.Equal(t, StageSent, sent.Stage)
	assert.Equal(t, reason, sent.Answer.Text)
	assert.False(t, sent.Awaits(person, noon))
	require.ErrorIs(t, says(sent, person, "more"), errNotNow, "the next text is a prompt again")

	back, err := Tap(s, person+1, "c", noon)
	require.NoError(t, err)
	assert.False(t, back.Awaits(person, noon))
	require.ErrorIs(t, says(leave(s, false, noon), person, reason), errNotNow, "the dialog is gone: the text is not swallowed")
}

func TestP4_WaitForReasonTimesOut(t *testing.T) {
	s, err := Tap(stateOf("Bash", `{"command":"ls"}`), person, "why", noon)
	require.NoError(t, err)
	late := noon.Add(10 * time.Minute)
	assert.False(t, s.Overdue(late.Add(-time.Second)))
	assert.True(t, s.Overdue(late))
	_, err = applyText(s, person, "a prompt by now", late)
	require.ErrorIs(t, err, errNotNow)
	s = giveUp(s)
	assert.Nil(t, s.Why)
	again, err := Tap(s, person, "why", late)
	require.NoError(t, err)
	assert.True(t, again.Awaits(person, late))
}

func TestP4_DenyWithATextThatWaits(t *testing.T) {
	s := stateOf("Bash", `{"command":"ls"}`)
	sent, err := denyWith(s, person, "not now", "u-17", noon)
	require.NoError(t, err)
	assert.Equal(t, StageSent, sent.Stage)
	assert.Equal(t, "u-17", sent.Prompt)
	assert.Equal(t, "not now", sent.Answer.Text)
	_, err = denyWith(sent, person, "again", "u-18", noon)
	require.ErrorIs(t, err, errNotNow)
	_, err = denyWith(leave(s, false, noon), person, "again", "u-18", noon)
	require.ErrorIs(t, err, errNotNow)
	_, err = denyWith(settle(s, talk.RequestOutcome{Done: true}, true, false, noon), person, "x", "u", noon)
	require.ErrorIs(t, err, errEnded)
}

func TestSay_AnswersInOwnWords(t *testing.T) {
	s := stateOf("AskUserQuestion", twoQuestions)
	step := func(option string) {
		var err error
		s, err = Tap(s, person, option, noon)
		require.NoError(t, err)
	}
	say := func(text string) {
		var err error
		s, err = applyText(s, person, text, noon)
		require.NoError(t, err)
	}
	step("x:0")
	_, err := Tap(s, person, "o:0:0", noon)
	require.ErrorIs(t, err, errNotNow, "while an answer is awaited the options are not there")
	say("DuckDB")
	step("o:1:2")
	step("x:1")
	say("Alerts")
	assert.Equal(t, StageSent, s.Stage)
	assert.Equal(t, []string{"DuckDB", "Metrics, Alerts"}, s.Answer.Answers)
}

// TestP9_DoneSendsOnlyShownTicks: another person may tick an option before the card is drawn again.
func TestP9_DoneSendsOnlyShownTicks(t *testing.T) {
	v, s := viewer(t, "en"), stateOf("AskUserQuestion", twoQuestions)
	tap := func(option string) (err error) {
		s, err = Tap(s, person, option, noon)
		return err
	}
	done := func() (value string) {
		for _, row := range v.View(s, "work").Options {
			for _, o := range row {
				if o.Text == "Done" {
					value = o.Value
				}
			}
		}
		require.NotEmpty(t, value)
		return value
	}
	require.NoError(t, tap("o:0:0"))
	require.NoError(t, tap("o:1:0"))
	early := done()
	require.NoError(t, tap("o:1:1"))
	require.ErrorIs(t, tap(early), errNotNow)
	assert.Equal(t, StageOpen, s.Stage)
	require.NoError(t, tap(done()))
	assert.Equal(t, []string{"Postgres", "Logs, Traces"}, s.Answer.Answers)
}

func TestTransitionsShareNothing(t *testing.T) {
	s := stateOf("AskUserQuestion", twoQuestions)
	s, err := Tap(s, person, "o:0:0", noon)
	require.NoError(t, err)
	for i := range 3 {
		before := written(t, s)
		after, err := Tap(s, person, "o:1:"+strconv.Itoa(i), noon)
		require.NoError(t, err)
		assert.Equal(t, before, written(t, s))
		s = after
	}
}

func TestSettle(t *testing.T) {
	bash, ask := stateOf("Bash", `{"command":"ls"}`), stateOf("AskUserQuestion", twoQuestions)
	after := func(s State, verb string) State {
		s, err := Tap(s, person, verb, noon)
		require.NoError(t, err)
		return s
	}
	answered := ask
	for _, tap := range []string{"o:0:0", "o:1:0", "d:1:0"} {
		var err error
		answered, err = Tap(answered, person, tap, noon)
		require.NoError(t, err)
	}
	tapped := func(s State, at time.Time) State {
		s, err := Tap(s, person, "ok", at)
		require.NoError(t, err)
		return s
	}
	type o = talk.RequestOutcome
	soon, late := noon.Add(time.Minute), noon.Add(26*time.Hour)
	tests := []struct {
		name  string
		card  State
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
		{"taken, and the tool failed", after(bash, "ok"), o{ByHook: "allow", Done: true}, true, false, soon, Outcome{What: Allowed, Chat: true}, false},
		{"denied here", after(bash, "no"), o{ByHook: "deny", Done: true}, true, false, soon, Outcome{What: Denied, Chat: true}, false},
		{"denied here, as the result says", after(bash, "no"), o{Done: true, Quoted: true}, true, false, soon, Outcome{What: Denied, Chat: true}, false},
		{"answered here", answered, o{ByHook: "allow", Done: true, Text: "answers"}, true, false, soon, Outcome{What: Allowed, Chat: true}, false},
		{"allowed at the desk", bash, o{Done: true}, true, false, soon, Outcome{What: Allowed}, false},
		{"allowed at the desk, away", leave(bash, false, noon), o{Done: true}, true, false, soon, Outcome{What: Allowed}, false},
		{"allowed at the desk before the tap", after(bash, "no"), o{Done: true, Text: "a.go"}, true, false, soon, Outcome{What: Allowed, Late: true}, false},
		{"denied at the desk", bash, o{Done: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Denied}, false},
		{"denied at the desk before the tap", after(bash, "ok"), o{Done: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Denied, Late: true}, false},
		{"another hook denied", after(bash, "ok"), o{ByHook: "deny", Done: true}, true, false, soon, Outcome{What: Denied, Hook: true, Late: true}, false},
		{"another hook allowed", bash, o{ByHook: "allow"}, true, false, soon, Outcome{What: Allowed, Hook: true}, false},
		{"answered at the desk", ask, o{Done: true, Text: "x\u202ey"}, true, false, soon, Outcome{What: Allowed, Reply: "x⟨U+202E⟩y"}, false},
		{"interrupted", bash, o{Interrupted: true, Done: true, Denial: "user-rejected"}, true, false, soon, Outcome{What: Interrupted}, false},
		{"interrupted, nobody knows when", after(bash, "ok"), o{Interrupted: true}, true, false, soon, Outcome{What: Interrupted}, false},
		{"in words that nobody knows", bash, o{Unclear: true}, true, false, soon, Outcome{What: Unknown}, false},
		{"in words that nobody knows, after the tap", after(bash, "ok"), o{Done: true, Unclear: true}, true, false, soon, Outcome{What: Unknown}, false},
		{"the session ended", bash, o{}, false, true, soon, Outcome{What: Ended}, false},
		{"the session ended in the middle", leave(bash, false, noon), o{}, true, true, soon, Outcome{What: Ended}, false},
		{"the session ended, and the tap may have counted", after(bash, "ok"), o{}, false, true, soon, Outcome{What: Unknown}, false},
		{"the session ended after the result", after(bash, "ok"), o{ByHook: "allow", Done: true}, true, true, soon, Outcome{What: Allowed, Chat: true}, false},
		{"a day later, its hook had left", leave(bash, false, noon), o{}, false, false, late, Outcome{What: Unknown}, false},
		{"a day later, decided an hour ago", tapped(bash, noon.Add(25*time.Hour)), o{}, false, false, late, Outcome{}, true},
		{"a day later", bash, o{}, false, false, late, Outcome{What: Unknown}, false},
		{"a day after the tap", after(bash, "ok"), o{}, false, false, late, Outcome{What: Unknown}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := settle(tt.card, tt.o, tt.found, tt.gone, tt.now)
			if tt.stays {
				assert.Equal(t, tt.card, got)
				return
			}
			assert.Equal(t, StageEnded, got.Stage)
			assert.Equal(t, tt.want, got.Outcome)
			assert.Equal(t, tt.now, got.Since)
			assert.Equal(t, got, settle(got, o{Done: true, Denial: "x"}, true, true, late), "over is over")
			assert.Equal(t, got, leave(got, false, noon))
			assert.Equal(t, got, Return(got))
		})
	}
}

func TestLeaveAndReturn(t *testing.T) {
	s := stateOf("AskUserQuestion", twoQuestions)
	s, err := Tap(s, person, "o:0:0", noon)
	require.NoError(t, err)
	assert.Equal(t, s, Return(leave(s, false, noon)), "the answers so far are kept")
	sent, err := Tap(s, person, "no", noon)
	require.NoError(t, err)
	assert.Equal(t, sent, leave(sent, false, noon), "the decision may have arrived")
	assert.Equal(t, sent, Return(sent))
}

// TestP9_NewContentIsShownAgain: after an update of ccbot a request may be shown in another way.
func TestP9_NewContentIsShownAgain(t *testing.T) {
	s := stateOf("AskUserQuestion", twoQuestions)
	s, err := Tap(s, person, "o:0:0", noon)
	require.NoError(t, err)
	s.AllShown = true
	assert.Equal(t, s, renewed(s, s.Request), "the same content")
	q := s.Request
	q.Ask.Title = "another"
	got := renewed(s, q)
	assert.Equal(t, q, got.Request)
	assert.False(t, got.AllShown)
	assert.Empty(t, got.Progress)
	sent, err := Tap(s, person, "no", noon)
	require.NoError(t, err)
	assert.Equal(t, sent, renewed(sent, q), "an answer stays with what was shown")
}
