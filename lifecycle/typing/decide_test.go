package typing

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// typedFor is a prompt that was typed some time ago.
func typedFor(age time.Duration, change ...func(*Prompt)) *Prompt {
	p := &Prompt{Key: "k", Text: viewtest.Said, Class: talk.ClassPlain, State: Typing,
		Mark: &talk.Mark{At: viewtest.Noon.Add(-age), Enters: 1}}
	for _, c := range change {
		c(p)
	}
	return p
}

func command(p *Prompt)          { p.Text, p.Class = "/compact", talk.ClassCommand }
func enters(n int) func(*Prompt) { return func(p *Prompt) { p.Mark.Enters = n } }

// anyTyped draws a typed prompt.
func anyTyped(t *rapid.T) *Prompt {
	p := typedFor(time.Duration(rapid.IntRange(0, 30).Draw(t, "typed"))*time.Second, enters(rapid.IntRange(0, maxEnters).Draw(t, "enters")))
	if rapid.Bool().Draw(t, "command") {
		command(p)
	}
	p.Mark.Retreat = rapid.IntRange(0, 3).Draw(t, "retreat") == 0
	return p
}

// The memory of one agent does not count for the next one: see Forget.
func TestForgetEndsProgress(t *testing.T) {
	typist := New(nil, nil, nil, nil)
	w := typist.Of(Turn{Record: &session.Record{ID: uuid.New()}}, nil)
	w.remember(func(m *progress) { m.unstopped, m.pasted = true, "k" })
	assert.Equal(t, progress{unstopped: true, pasted: "k"}, w.recall())
	typist.Forget(w.r.ID)
	assert.Equal(t, progress{}, w.recall())
}

// behindAgents is an agent that only waits for agents in the background.
func behindAgents(v *view.View) { v.State.Phase, v.Screen.Background = talk.PhaseWorking, true }

// A text for an agent that takes it by a call is given to it only between two turns. An agent that pursues a
// goal is idle there for milliseconds.
func TestP4_DecideCall(t *testing.T) {
	pursues := func(v *view.View) { v.ByCall, v.Pursues = true, true }
	busy := func(v *view.View) { v.State.Phase, v.Screen.Busy = talk.PhaseWorking, true }
	drawn := func(v *view.View) { v.Screen.Busy = true }
	for _, tt := range []struct {
		name   string
		v      view.View
		waited time.Duration
		want   Act
		why    news.Wait
	}{
		{"idle", viewtest.Free(), time.Minute, Type, ""},
		{"it works", viewtest.Free(busy), time.Minute, Hold, news.Queued},
		{"it pursues a goal", viewtest.Free(busy, pursues), time.Minute, Hold, news.Queued},
		{"for a moment only", viewtest.Free(busy, pursues), time.Second, Wait, ""},
		{"between two turns, as the screen still shows one", viewtest.Free(drawn, pursues), time.Minute, Hold, news.Queued},
		{"between two turns", viewtest.Free(pursues), time.Minute, Type, ""},
		{"nobody knows", view.View{Now: viewtest.Noon, Pursues: true}, time.Minute, Hold, news.HeldUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decideCall(tt.v, &Prompt{State: Held, Since: viewtest.Noon.Add(-tt.waited)})
			assert.Equal(t, []any{tt.want, tt.why}, []any{d.Act, d.Why})
		})
	}
}

// Each row of decideTyped, and what must keep it from holding.
func TestP4_DecideTyped(t *testing.T) {
	alone := clues{Quiet: true, Reported: true}
	placeholder := viewtest.Draft("[Pasted text #1 +3 lines]")
	long := func(p *Prompt) { p.Text = "a\nb\nc\nd" }
	bash := func(p *Prompt) { p.Text, p.Class = "!ls", talk.ClassBash }
	repeated := func(p *Prompt) { p.Repeated = true }
	tests := []struct {
		name string
		v    view.View
		p    *Prompt
		c    clues
		want Act
	}{
		{"it arrived, and stands in the box again", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(time.Minute, enters(0)), clues{Arrived: true, Doubt: doubtCancelled}, Proven},
		{"events wait", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(time.Minute, enters(0)), clues{PendingEvents: true}, Wait},
		{"events wait for too long", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(time.Hour, enters(0)), clues{PendingEvents: true, Doubt: doubtOld}, GiveUp},
		{"the agent works", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested, viewtest.Status(presence.Busy)), typedFor(time.Hour, enters(0)), clues{Doubt: doubtOld}, Wait},
		{"only agents in the background work", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested, behindAgents), typedFor(3*time.Second, enters(0)), clues{}, enter},
		{"only agents in the background work, nothing shows", viewtest.Free(behindAgents), typedFor(ProofWait), clues{}, GiveUp},
		{"a dialog", viewtest.Free(viewtest.Rested, viewtest.Status(presence.Waiting)), typedFor(time.Hour), clues{}, Wait},
		{"in the box, never entered", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(3*time.Second, enters(0)), clues{}, enter},
		{"in the box for a moment", viewtest.Free(viewtest.Draft(viewtest.Said)), typedFor(3*time.Second, enters(0)), clues{}, Wait},
		{"in the box, idle by the screen alone", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested, viewtest.NoPresence), typedFor(3*time.Second, enters(0)), clues{}, Wait},
		{"in the box, interrupted", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(3*time.Second, enters(0)), clues{Doubt: doubtCancelled}, takeBack},
		{"as a placeholder, interrupted, nobody there", viewtest.Free(placeholder, viewtest.Rested), typedFor(3*time.Second, long), clues{Doubt: doubtCancelled, Quiet: true}, takeBack},
		{"as a placeholder, interrupted, somebody there", viewtest.Free(placeholder, viewtest.Rested), typedFor(3*time.Second, long), clues{Doubt: doubtCancelled}, GiveUp},
		{"empty, interrupted", viewtest.Free(viewtest.Rested), typedFor(3 * time.Second), clues{Doubt: doubtCancelled, Quiet: true}, GiveUp},
		{"in the box, entered, nobody there", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(3 * time.Second), alone, enter},
		{"in the box, entered a moment ago", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(2 * time.Second), alone, Wait},
		{"in the box, entered, somebody there", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(3 * time.Second), clues{}, Wait},
		{"in the box, entered, somebody there, for long", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(ProofWait), clues{}, GiveUp},
		{"in the box, entered often enough", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested), typedFor(ProofWait, enters(maxEnters)), alone, GiveUp},
		{"as a placeholder, nobody there", viewtest.Free(placeholder, viewtest.Rested), typedFor(3*time.Second, long, enters(0)), alone, enter},
		{"as a placeholder, somebody there", viewtest.Free(placeholder, viewtest.Rested), typedFor(3*time.Second, long, enters(0)), clues{}, Wait},
		{"as a placeholder, for long", viewtest.Free(placeholder, viewtest.Rested), typedFor(ProofWait, long, enters(0)), clues{}, GiveUp},
		{"empty, never entered", viewtest.Free(viewtest.Rested), typedFor(repeatWait, enters(0)), clues{Quiet: true}, repeat},
		{"empty, never entered, a moment ago", viewtest.Free(viewtest.Rested), typedFor(repeatWait-1, enters(0)), clues{Quiet: true}, Wait},
		{"empty, the paste is on its way", viewtest.Free(viewtest.Rested), typedFor(3*time.Second, enters(0)), clues{Quiet: true, Pasted: true}, Wait},
		{"empty, a command never entered", viewtest.Free(viewtest.Rested), typedFor(repeatWait, command, enters(0)), clues{Quiet: true}, repeat},
		{"empty, never entered, somebody there", viewtest.Free(viewtest.Rested), typedFor(ProofWait, enters(0)), clues{Reported: true}, GiveUp},
		{"in a box of bash mode", viewtest.Free(viewtest.Draft(viewtest.Said), viewtest.Rested, func(v *view.View) { v.Screen.Box.Bash = true }), typedFor(ProofWait, enters(0)), alone, GiveUp},
		{"empty, bash mode never entered", viewtest.Free(viewtest.Rested), typedFor(ProofWait, bash, enters(0)), clues{}, GiveUp},
		{"empty, repeated", viewtest.Free(viewtest.Rested), typedFor(ProofWait, repeated, enters(0)), clues{}, GiveUp},
		{"empty, entered", viewtest.Free(viewtest.Rested), typedFor(ProofWait), alone, GiveUp},
		{"empty, entered a moment ago", viewtest.Free(viewtest.Rested), typedFor(3 * time.Second), alone, Wait},
		{"empty, doubtful", viewtest.Free(viewtest.Rested), typedFor(3*time.Second, enters(0)), clues{Doubt: doubtForeign}, GiveUp},
		{"a person's draft", viewtest.Free(viewtest.Draft("mine"), viewtest.Rested), typedFor(3*time.Second, enters(0)), alone, Wait},
		{"a person's viewtest.Draft, for long", viewtest.Free(viewtest.Draft("mine"), viewtest.Rested), typedFor(ProofWait, enters(0)), alone, GiveUp},
		{"in a pane that is too small", viewtest.Free(viewtest.NoBox, viewtest.Narrow), typedFor(ProofWait, enters(0)), alone, Hold},
		{"in a pane that is too small, a moment ago", viewtest.Free(viewtest.NoBox, viewtest.Narrow), typedFor(3*time.Second, enters(0)), alone, Wait},
		{"in a pane that is too small, for too long", viewtest.Free(viewtest.NoBox, viewtest.Narrow), typedFor(typedTTL, enters(0)), alone, GiveUp},
		{"the screen is not known", viewtest.Free(viewtest.Blind, viewtest.Rested), typedFor(3*time.Second, enters(0)), alone, Wait},
		{"the screen is not known for long", viewtest.Free(viewtest.Blind, viewtest.Rested), typedFor(ProofWait, enters(0)), alone, GiveUp},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := decideTyped(tc.v, tc.p, tc.c)
			assert.Equal(t, tc.want, d.Act)
			assert.True(t, d.Act == Proven || d.Act == GiveUp || d.Act == takeBack || d.Again > 0, "it is looked at again")
		})
	}
}

func TestP4_DoubtPreventsEnter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, p := viewtest.AnyView(t), anyTyped(t)
		v.Still = time.Duration(rapid.IntRange(0, 4).Draw(t, "still")) * time.Second
		c := clues{Arrived: rapid.Bool().Draw(t, "arrived"), PendingEvents: rapid.Bool().Draw(t, "unheard"), Quiet: rapid.Bool().Draw(t, "quiet"), Reported: rapid.Bool().Draw(t, "reported"),
			Doubt: rapid.SampledFrom([]string{"", "", doubtCancelled}).Draw(t, "doubt")}
		p.Repeated = rapid.Bool().Draw(t, "repeated")
		d := decideTyped(v, p, c)
		if d.Act != enter && d.Act != repeat {
			return
		}
		b := v.Screen.Box
		switch {
		case c.Arrived, c.PendingEvents, c.Doubt != "", v.Still < stillFor, !v.IsBoxFree(), v.State.Known != view.StateWritten:
			t.Fatalf("act %s with %+v on %+v", d.Act, c, v)
		case d.Act == repeat && (!c.Quiet || !b.Empty || b.Bash || p.Repeated || p.Mark.Enters > 0):
			t.Fatalf("pasted anew: %+v into %+v", p, b)
		case d.Act == enter && (!v.Holds(p.Text) || p.Mark.Enters > 0 && !(c.Quiet && c.Reported) || b.Bash && p.Class != talk.ClassBash):
			t.Fatalf("Enter: %+v on %+v", p, b)
		}
	})
}
