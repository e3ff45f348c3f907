package loop

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

var allPhases = port.LoopPhases{Plan: "Plan it.", Implement: "Write it.", Fix: "Correct it.", Done: "Commit it."}

// phased is a request for a loop with phases whose check succeeds after n prompts.
func (w *world) phased(phases port.LoopPhases, n int) port.LoopRequest {
	count := filepath.Join(w.engine.record.Dir, "count")
	w.engine.onKeep = func() {
		require.NoError(w.t, os.WriteFile(count, []byte(strconv.Itoa(len(w.engine.kept))), 0o600))
	}
	return port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Task: "the task", Phases: phases, Bounds: port.LoopBounds{Turns: 20},
		Check: fmt.Sprintf("cat count; [ $(cat count) -ge %d ]", n)}
}

// heads are the first words of the kept prompts.
func (w *world) heads() (all []string) {
	for _, text := range w.engine.kept {
		all = append(all, strings.SplitN(text, "\n", 2)[0])
	}
	return all
}

// TestLoopGoesThroughPhases: the plan has no check, the last prompt follows a successful one and is
// checked again, and missing phases are left out.
func TestLoopGoesThroughPhases(t *testing.T) {
	for name, tt := range map[string]struct {
		phases port.LoopPhases
		checks int // iterations
		n      int
		want   []string
	}{
		"all":                    {allPhases, 4, 4, []string{"Plan it.", "Write it.", "Correct it.", "Correct it.", "Commit it."}},
		"the first one succeeds": {allPhases, 2, 2, []string{"Plan it.", "Write it.", "Commit it."}},
		"only a plan":            {port.LoopPhases{Plan: "Plan it."}, 2, 3, []string{"Plan it.", "the task", "The task is not done: the check `cat count; [ $(cat count) -ge 3 ]` exited with 1. The end of its output:"}},
		"only an end":            {port.LoopPhases{Done: "Commit it."}, 2, 1, []string{"the task", "Commit it."}},
	} {
		w := newWorld(t)
		_, err := w.Start(t.Context(), w.phased(tt.phases, tt.n))
		require.NoError(t, err, name)
		w.run()
		assert.Equal(t, tt.want, w.heads(), name)
		l := w.only()
		assert.Equal(t, []any{port.LoopDone, tt.checks, len(tt.want)}, []any{l.State, l.Iteration, l.Used.Turns}, name)
		assert.Equal(t, port.PhaseDone, l.Now(), name)
		for _, text := range w.engine.kept {
			assert.Contains(t, text, "the task", name)
		}
	}
}

// TestLastPhaseIsChecked: what the last prompt breaks is corrected before the loop is done.
func TestLastPhaseIsChecked(t *testing.T) {
	w := newWorld(t)
	q := w.phased(allPhases, 0)
	q.Check = "[ $(cat count) -ne 3 ]" // the third prompt is the last phase
	_, err := w.Start(t.Context(), q)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []string{"Plan it.", "Write it.", "Commit it.", "Correct it.", "Commit it."}, w.heads())
	assert.Equal(t, port.LoopDone, w.only().State)
}

// TestBoundBeforeLastPhaseIsDone: the check has succeeded, and only the last prompt was not sent.
func TestBoundBeforeLastPhaseIsDone(t *testing.T) {
	w := newWorld(t)
	q := w.phased(allPhases, 2)
	q.Bounds.Turns = 2
	_, err := w.Start(t.Context(), q)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopDone, 2}, []any{w.only().State, len(w.engine.kept)})
}

// TestPhaseIsKnown in each state of the file; the prompts are texts.
func TestPhaseIsKnown(t *testing.T) {
	for _, tt := range []struct {
		l    port.Loop
		want port.LoopPhase
	}{
		{port.Loop{State: port.LoopRunning, Step: port.LoopAsk, Phase: port.PhasePlan}, port.PhasePlan},
		{port.Loop{State: port.LoopPaused, Step: port.LoopTurn, Phase: port.PhaseFix}, port.PhaseFix},
		{port.Loop{State: port.LoopRunning, Step: port.LoopCheck, Phase: port.PhaseFix}, port.PhaseCheck},
		{port.Loop{State: port.LoopDone, Step: port.LoopCheck, Phase: port.PhaseFix}, port.PhaseDone},
		{port.Loop{State: port.LoopRunning, Step: port.LoopTurn, Iteration: 1}, port.PhaseImplement},
		{port.Loop{State: port.LoopRunning, Step: port.LoopTurn, Iteration: 2}, port.PhaseFix},
	} {
		assert.Equal(t, tt.want, tt.l.Now(), "%+v", tt.l)
	}
	w := newWorld(t)
	for _, phases := range []port.LoopPhases{{Plan: "/clear"}, {Implement: " "}, {Fix: "!rm"}, {Done: "/x"}} {
		_, err := w.Start(t.Context(), w.phased(phases, 1))
		require.ErrorIs(t, err, ErrBadPhase)
	}
	var l Loop
	data, err := json.Marshal(Loop{Version: Version, Loop: port.Loop{ID: uuid.New(), Session: uuid.New(), State: port.LoopRunning, Step: port.LoopAsk, Phase: "later"}})
	require.NoError(t, err)
	assert.Error(t, json.Unmarshal(data, &l))
}

// TestP4_PromptKeyHasPhase: two phases of an iteration have two keys, and a loop of one phase has
// keys without one.
func TestP4_PromptKeyHasPhase(t *testing.T) {
	l := Loop{Loop: port.Loop{ID: uuid.New(), Iteration: 1, Attempt: 1}}
	assert.Equal(t, uuid.NewSHA1(l.ID, []byte("1/1")), l.Key())
	keys := map[uuid.UUID]bool{l.Key(): true}
	for _, phase := range []port.LoopPhase{port.PhasePlan, port.PhaseImplement, port.PhaseFix, port.PhaseDone} {
		l.Phase = phase
		keys[l.Key()] = true
	}
	assert.Len(t, keys, 5)
}

// TestP4_KilledLoopKeepsPhase kills the Keeper at random failpoints of loops with phases: each
// prompt is sent once, none is left out, and the phases keep their order.
func TestP4_KilledLoopKeepsPhase(t *testing.T) {
	kills := 0
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t)
		request := w.phased(allPhases, 4)
		for over := false; !over; {
			func() {
				defer func() {
					if r := recover(); r != nil && r != (killed{}) {
						panic(r)
					}
				}()
				w.restart()
				w.Failpoint = func(string) {
					if random.IntN(4) == 0 {
						kills++
						panic(killed{})
					}
				}
				_, err := w.Start(t.Context(), request)
				require.NoError(t, err)
				w.run()
				over = true
			}()
		}
		assert.Equal(t, []string{"Plan it.", "Write it.", "Correct it.", "Correct it.", "Commit it."}, w.heads())
		assert.Equal(t, port.LoopDone, w.only().State)
	}
	assert.GreaterOrEqual(t, kills, 50)
}

// TestP9_BarredPauseAndItsTakeOver: the pause says why, and who resumes the loop is its person.
func TestP9_BarredPauseAndItsTakeOver(t *testing.T) {
	w := newWorld(t)
	started, err := w.Start(t.Context(), w.phased(allPhases, 2))
	require.NoError(t, err)
	_, err = w.Change(t.Context(), port.LoopChange{Loop: started.ID, Do: port.LoopPause, Barred: true})
	require.NoError(t, err)
	assert.Equal(t, []any{port.LoopPaused, port.WhyBarred}, []any{w.only().State, w.only().Reason})
	_, err = w.Change(t.Context(), port.LoopChange{Loop: started.ID, Do: port.LoopResume, By: 7})
	require.NoError(t, err)
	assert.Equal(t, []any{port.LoopRunning, int64(7)}, []any{w.only().State, w.only().By})
}

// TestP9_ReturnResumesBarredLoopsOnly: the chat may have heard of no pause but its own.
func TestP9_ReturnResumesBarredLoopsOnly(t *testing.T) {
	w := newWorld(t)
	started, err := w.Start(t.Context(), w.phased(allPhases, 2))
	require.NoError(t, err)
	back := port.LoopChange{Loop: started.ID, Do: port.LoopResume, By: 7, Barred: true}
	_, err = w.Change(t.Context(), port.LoopChange{Loop: started.ID, Do: port.LoopPause, Barred: true})
	require.NoError(t, err)
	_, err = w.Change(t.Context(), back)
	require.NoError(t, err)
	assert.Equal(t, port.LoopRunning, w.only().State)
	_, err = w.Change(t.Context(), back)
	require.ErrorIs(t, err, ErrNotPaused)
	_, err = w.Change(t.Context(), port.LoopChange{Loop: started.ID, Do: port.LoopPause})
	require.NoError(t, err)
	_, err = w.Change(t.Context(), back)
	require.ErrorIs(t, err, ErrNotPaused)
	assert.Equal(t, []any{port.LoopPaused, port.WhyPerson}, []any{w.only().State, w.only().Reason})
}

// TestPauseKeepsPhase: a phase that was interrupted is sent again.
func TestPauseKeepsPhase(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{Kind: outcome.Stopped}
	started, err := w.Start(t.Context(), w.phased(allPhases, 2))
	require.NoError(t, err)
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.PhasePlan}, []any{w.only().State, w.only().Now()})
	w.engine.turn = outcome.Outcome{Kind: outcome.Answered}
	_, err = w.Resume(t.Context(), started.ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}
