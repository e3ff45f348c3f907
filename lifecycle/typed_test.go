package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

func TestP4_EntersAreReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", said)
		w.pass(time.Second)
		assert.Zero(t, toldOf[news.Typed](w.news), "it may be in the box, and no Enter was pressed")
		a.set(func(a *agent) { a.slow, a.deaf = false, true })
		w.pass(time.Second)
		assert.Equal(t, 1, toldOf[news.Typed](w.news))
		assert.Equal(t, "k", lastOf[news.Typed](w.news).Prompt.Key)
		a.set(func(a *agent) { a.deaf = false })
		w.pass(10 * time.Second)
		assert.Equal(t, 2, toldOf[news.Typed](w.news))
		assert.Equal(t, []string{said}, a.heard())
	})
}

func TestP4_RefusedEnterIsNotReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tmux.Fail("Enter", &tmux.GuardError{Pane: a.pane, Want: "a", Got: "b"})
		w.held(r, "k", said)
		w.pass(20 * time.Millisecond)
		assert.Zero(t, toldOf[news.Typed](w.news))
		w.pass(10 * time.Second)
		assert.Equal(t, 1, toldOf[news.Typed](w.news))
		assert.Equal(t, []string{said}, a.heard())
	})
}

// A crash between mark and Enter asks nothing: a text in the box is submitted, otherwise it is
// pasted again.
func TestP4_CrashBeforeEnterAsksNothing(t *testing.T) {
	for _, point := range []string{"typing-marked", "pasted"} {
		t.Run(point, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				w.crash(point, func() { w.typeHere(r, "k", said) })
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				w.held(r, "next", "another")
				w.pass(time.Minute)
				assert.Equal(t, []string{said, "another"}, a.heard())
				assert.Zero(t, toldOf[news.Unproven](w.news))
			})
		})
	}
}

// A terminal on a busy machine may draw a paste long after tmux has taken it: it is not pasted
// again.
func TestP4_LatePasteIsNotRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.slow = true })
		w.held(r, "k", said)
		w.pass(proofWait - 5*time.Second)
		a.set(func(a *agent) { a.slow = false })
		w.pass(10 * time.Second)
		assert.Equal(t, []string{said}, a.heard())
	})
}

// A second crash before the second paste's Enter is one too many.
func TestP4_SecondLostPasteNeedsDecision(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.crash("typing-marked", func() { w.typeHere(r, "k", said) })
		w.crash("typing-marked", func() {
			require.NoError(t, w.Reattach(r.ID))
			require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
			for range 200 {
				_, _ = w.step(w.ctx, r.ID)
				w.pass(100 * time.Millisecond)
			}
		})
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		assert.Equal(t, Unproven, w.prompts.state("k"))
		assert.False(t, lastOf[news.Unproven](w.news).InBox)
		assert.Empty(t, a.heard())
	})
}

// tells makes an agent write each prompt into its transcript.
func (w *world) tells(r session.Record, a *agent) {
	a.set(func(a *agent) { a.onEnter = func(a *agent) { w.write(r, userLine(a.said[len(a.said)-1])) } })
}

// If there is a reason against it, the person is asked while the text is in the box, nothing is
// typed onto it, and any decision submits it at most once.
func TestP4_DoubtfulTextNeedsDecision(t *testing.T) {
	for name, decide := range map[string]func(w *world, r session.Record) error{
		"send again": func(w *world, r session.Record) error { return w.SendAgain(w.ctx, r.ID, "k") },
		"drop":       func(w *world, r session.Record) error { return w.Drop(w.ctx, r.ID, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.crash("pasted", func() { w.typeHere(r, "k", said) })
				w.pass(markFor + time.Second)
				w.comeBack()
				require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
				w.pass(10 * time.Second)
				require.Equal(t, Unproven, w.prompts.state("k"))
				assert.True(t, lastOf[news.Unproven](w.news).InBox)
				w.held(r, "next", "another")
				w.pass(time.Minute)
				assert.Empty(t, a.heard())
				assert.Equal(t, 1, w.news.held(news.HeldDraft), "it holds up the next one")
				require.NoError(t, decide(w, r))
				w.pass(5 * time.Minute)
				want := map[string][]string{"send again": {said, "another"}, "drop": {"another"}}[name]
				assert.ElementsMatch(t, want, a.heard())
			})
		})
	}
}

// A crash may leave a prompt's own text in the box without a mark: the prompt does not wait for
// itself.
func TestP4_PromptIgnoresOwnTextInBox(t *testing.T) {
	for name, tc := range map[string]struct {
		box    string
		folded bool
		drafts int
	}{
		"its own text":       {said, false, 0},
		"a person's text":    {said + " 🎉", false, 1},
		"what may be either": {longSaid, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.tells(r, a)
				a.set(func(a *agent) { a.box, a.folded = tc.box, tc.folded })
				text := said
				if tc.folded {
					text = longSaid
				}
				w.held(r, "k", text)
				w.pass(time.Minute)
				assert.Equal(t, tc.drafts, w.news.held(news.HeldDraft))
				assert.Len(t, a.heard(), 1-tc.drafts)
				assert.Equal(t, tc.drafts == 0, a.cleared > 0)
			})
		})
	}
}

// After a key in the terminal a placeholder may be a person's paste of as many lines: after any
// decision in the chat it stays until a person has cleared it, and the prompt follows.
func TestP7_SendAgainSparesPossiblePersonsPaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.tells(r, a)
		w.crash("pasted", func() { w.typeHere(r, "k", longSaid) })
		a.set(func(a *agent) { a.folded = true })
		w.pass(time.Minute)
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Touched = w.Now() })
		w.comeBack()
		require.NoError(t, w.SettlePrompts(w.ctx, r.ID, []string{"k"}))
		w.pass(time.Minute)
		require.Equal(t, Unproven, w.prompts.state("k"))
		require.NoError(t, w.SendAgain(w.ctx, r.ID, "k"))
		w.pass(time.Minute)
		assert.Equal(t, 1, w.news.held(news.HeldDraft))
		require.ErrorIs(t, w.SendAnyway(w.ctx, r.ID, "k"), ErrDraftHidden)
		assert.Zero(t, a.cleared)
		a.set(func(a *agent) { a.box, a.folded = "", false })
		w.pass(time.Minute)
		assert.Equal(t, []string{longSaid}, a.heard())
	})
}

// Esc from the chat puts what was not taken yet back into the box: no Enter follows it.
func TestP4_EscFromChatPreventsEnter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.deaf = true }) // a slow hook holds the prompt
		w.held(r, "k", said)
		w.pass(time.Second)
		require.NoError(t, interrupted(w, r))
		a.set(func(a *agent) { a.deaf = false })
		w.pass(time.Minute)
		assert.Empty(t, a.heard())
		assert.Equal(t, 1, toldOf[news.TakenBack](w.news), "the person decides")
		assert.Empty(t, w.get(r.ID).Prompts)
		a.set(func(a *agent) { assert.Empty(t, a.box) })
	})
}

// Even after many checks Enter is not pressed again before the terminal could draw.
func TestP7_EntersAreSpaced(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		w.crash("pasted", func() { w.typeHere(r, "k", said) })
		w.pass(10 * time.Second)
		require.NoError(t, w.Reattach(r.ID))
		a.set(func(a *agent) { a.deaf = true })
		for range 100 {
			w.pass(100 * time.Millisecond)
			_, _ = w.step(w.ctx, r.ID)
			if entered := toldOf[news.Typed](w.news); entered > 0 {
				for range 3 {
					_, _ = w.step(w.ctx, r.ID)
				}
				assert.Equal(t, entered, toldOf[news.Typed](w.news))
			}
		}
		assert.Positive(t, toldOf[news.Typed](w.news))
	})
}

// rested is a box that has stayed the same.
func rested(v *view.View) { v.Still = stillFor }

// behindAgents is an agent that only waits for agents in the background.
func behindAgents(v *view.View) { v.State.Phase, v.Screen.Background = talk.PhaseWorking, true }

// Each row of decideTyped, and what must keep it from holding.
func TestP4_DecideTyped(t *testing.T) {
	alone := clues{Quiet: true, Reported: true}
	placeholder := draft("[Pasted text #1 +3 lines]")
	long := func(p *Prompt) { p.Text = "a\nb\nc\nd" }
	bash := func(p *Prompt) { p.Text, p.Class = "!ls", talk.ClassBash }
	repeated := func(p *Prompt) { p.Repeated = true }
	tests := []struct {
		name string
		v    view.View
		p    *Prompt
		c    clues
		want Do
	}{
		{"it arrived, and stands in the box again", free(draft(said), rested), typing(time.Minute, enters(0)), clues{Arrived: true, Doubt: doubtEsc}, actProven},
		{"events wait", free(draft(said), rested), typing(time.Minute, enters(0)), clues{Unheard: true}, actNothing},
		{"events wait for too long", free(draft(said), rested), typing(time.Hour, enters(0)), clues{Unheard: true, Doubt: doubtOld}, actUnproven},
		{"the agent works", free(draft(said), rested, status(presence.Busy)), typing(time.Hour, enters(0)), clues{Doubt: doubtOld}, actNothing},
		{"only agents in the background work", free(draft(said), rested, behindAgents), typing(3*time.Second, enters(0)), clues{}, actEnter},
		{"only agents in the background work, nothing shows", free(behindAgents), typing(proofWait), clues{}, actUnproven},
		{"a dialog", free(rested, status(presence.Waiting)), typing(time.Hour), clues{}, actNothing},
		{"in the box, never entered", free(draft(said), rested), typing(3*time.Second, enters(0)), clues{}, actEnter},
		{"in the box for a moment", free(draft(said)), typing(3*time.Second, enters(0)), clues{}, actNothing},
		{"in the box, idle by the screen alone", free(draft(said), rested, noPresence), typing(3*time.Second, enters(0)), clues{}, actNothing},
		{"in the box, interrupted", free(draft(said), rested), typing(3*time.Second, enters(0)), clues{Doubt: doubtEsc}, actTakeBack},
		{"as a placeholder, interrupted, nobody there", free(placeholder, rested), typing(3*time.Second, long), clues{Doubt: doubtEsc, Quiet: true}, actTakeBack},
		{"as a placeholder, interrupted, somebody there", free(placeholder, rested), typing(3*time.Second, long), clues{Doubt: doubtEsc}, actUnproven},
		{"empty, interrupted", free(rested), typing(3 * time.Second), clues{Doubt: doubtEsc, Quiet: true}, actUnproven},
		{"in the box, entered, nobody there", free(draft(said), rested), typing(3 * time.Second), alone, actEnter},
		{"in the box, entered a moment ago", free(draft(said), rested), typing(2 * time.Second), alone, actNothing},
		{"in the box, entered, somebody there", free(draft(said), rested), typing(3 * time.Second), clues{}, actNothing},
		{"in the box, entered, somebody there, for long", free(draft(said), rested), typing(proofWait), clues{}, actUnproven},
		{"in the box, entered often enough", free(draft(said), rested), typing(proofWait, enters(maxEnters)), alone, actUnproven},
		{"as a placeholder, nobody there", free(placeholder, rested), typing(3*time.Second, long, enters(0)), alone, actEnter},
		{"as a placeholder, somebody there", free(placeholder, rested), typing(3*time.Second, long, enters(0)), clues{}, actNothing},
		{"as a placeholder, for long", free(placeholder, rested), typing(proofWait, long, enters(0)), clues{}, actUnproven},
		{"empty, never entered", free(rested), typing(repeatWait, enters(0)), clues{Quiet: true}, actRepeat},
		{"empty, never entered, a moment ago", free(rested), typing(repeatWait-1, enters(0)), clues{Quiet: true}, actNothing},
		{"empty, the paste is on its way", free(rested), typing(3*time.Second, enters(0)), clues{Quiet: true, Pasted: true}, actNothing},
		{"empty, a command never entered", free(rested), typing(repeatWait, command, enters(0)), clues{Quiet: true}, actRepeat},
		{"empty, never entered, somebody there", free(rested), typing(proofWait, enters(0)), clues{Reported: true}, actUnproven},
		{"in a box of bash mode", free(draft(said), rested, func(v *view.View) { v.Screen.Box.Bash = true }), typing(proofWait, enters(0)), alone, actUnproven},
		{"empty, bash mode never entered", free(rested), typing(proofWait, bash, enters(0)), clues{}, actUnproven},
		{"empty, repeated", free(rested), typing(proofWait, repeated, enters(0)), clues{}, actUnproven},
		{"empty, entered", free(rested), typing(proofWait), alone, actUnproven},
		{"empty, entered a moment ago", free(rested), typing(3 * time.Second), alone, actNothing},
		{"empty, doubtful", free(rested), typing(3*time.Second, enters(0)), clues{Doubt: doubtForeign}, actUnproven},
		{"a person's draft", free(draft("mine"), rested), typing(3*time.Second, enters(0)), alone, actNothing},
		{"a person's draft, for long", free(draft("mine"), rested), typing(proofWait, enters(0)), alone, actUnproven},
		{"in a pane that is too small", free(noBox, narrow), typing(proofWait, enters(0)), alone, actHold},
		{"in a pane that is too small, a moment ago", free(noBox, narrow), typing(3*time.Second, enters(0)), alone, actNothing},
		{"in a pane that is too small, for too long", free(noBox, narrow), typing(markFor, enters(0)), alone, actUnproven},
		{"the screen is not known", free(blind, rested), typing(3*time.Second, enters(0)), alone, actNothing},
		{"the screen is not known for long", free(blind, rested), typing(proofWait, enters(0)), alone, actUnproven},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := decideTyped(tc.v, tc.p, tc.c)
			assert.Equal(t, tc.want, d.Act)
			assert.True(t, d.Act == actProven || d.Act == actUnproven || d.Act == actTakeBack || d.Again > 0, "it is looked at again")
		})
	}
}

func TestP4_DoubtPreventsEnter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, p := anyView(t), anyHead(t)
		if p == nil || p.State != Typing {
			return
		}
		v.Still = time.Duration(rapid.IntRange(0, 4).Draw(t, "still")) * time.Second
		c := clues{Arrived: rapid.Bool().Draw(t, "arrived"), Unheard: rapid.Bool().Draw(t, "unheard"), Quiet: rapid.Bool().Draw(t, "quiet"), Reported: rapid.Bool().Draw(t, "reported"),
			Doubt: rapid.SampledFrom([]string{"", "", doubtEsc}).Draw(t, "doubt")}
		p.Repeated = rapid.Bool().Draw(t, "repeated")
		d := decideTyped(v, p, c)
		if d.Act != actEnter && d.Act != actRepeat {
			return
		}
		b := v.Screen.Box
		switch {
		case c.Arrived, c.Unheard, c.Doubt != "", v.Still < stillFor, !v.IsBoxFree(), v.State.Known != view.StateWritten:
			t.Fatalf("act %s with %+v on %+v", d.Act, c, v)
		case d.Act == actRepeat && (!c.Quiet || !b.Empty || b.Bash || p.Repeated || p.Mark.Enters > 0):
			t.Fatalf("pasted anew: %+v into %+v", p, b)
		case d.Act == actEnter && (!b.Holds(p.Text) || p.Mark.Enters > 0 && !(c.Quiet && c.Reported) || b.Bash && p.Class != talk.ClassBash):
			t.Fatalf("Enter: %+v on %+v", p, b)
		}
	})
}

// typeHere queues a prompt and takes a step, so that a failpoint ends what the
// test itself does.
func (w *world) typeHere(r session.Record, key, text string) {
	w.t.Helper()
	w.held(r, key, text)
	_, _ = w.step(w.ctx, r.ID)
}
