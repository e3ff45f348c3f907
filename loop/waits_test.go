package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/talk"
)

// TestEndOfLongLineIsTold: the agent is told what the check said, also if that is one line.
func TestEndOfLongLineIsTold(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct{ name, out, want string }{
		{"short", "one\ntwo\n", "one\ntwo\n"},
		{"from the beginning of a line", long + "\none\ntwo\n", "one\ntwo\n"},
		{"one line with its end", long + "\n", long[:maxTail-1] + "\n"},
		{"and blank lines", long + "\n\n \n", long[:maxTail-4] + "\n\n \n"},
		{"one line", long, long[:maxTail]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var end tail
			_, err := end.Write([]byte(tt.out))
			require.NoError(t, err)
			assert.Equal(t, tt.want, end.last(maxTail))
		})
	}
}

// TestMissingFolderIsNamed before another prompt is sent to an agent without a folder, also if something else has its
// place now.
func TestMissingFolderIsNamed(t *testing.T) {
	for _, then := range []string{"", `; echo x > "$PWD"`, `; ln -s nowhere "$PWD"`, `; ln -s "$PWD" "$PWD"`, `; mkdir "$PWD.other"; ln -s "$PWD.other" "$PWD"`} {
		w := newWorld(t)
		w.engine.record.Dir = t.TempDir()
		w.begin(`rm -rf "$PWD"`+then+"; false", port.LoopBounds{Turns: 9})
		w.run()
		l := w.only()
		assert.Equal(t, []any{port.LoopPaused, port.WhyNoFolder, w.engine.record.Dir}, []any{l.State, l.Reason, l.Detail}, then)
		assert.Len(t, w.engine.kept, 1, then)
	}
}

// TestOtherFolderInItsPlacePauses until a person says that it is the right one.
func TestOtherFolderInItsPlacePauses(t *testing.T) {
	w := newWorld(t)
	w.engine.record.Dir = t.TempDir()
	l := w.begin(`mv "$PWD" "$PWD.$$" && mkdir "$PWD"; false`, port.LoopBounds{Turns: 2})
	w.run()
	now := w.only()
	assert.Equal(t, []any{port.LoopPaused, port.WhyNoFolder, w.engine.record.Dir}, []any{now.State, now.Reason, now.Detail})
	assert.Len(t, w.engine.kept, 1)
	_, err := w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Len(t, w.engine.kept, 2)
}

// TestFolderOfAnotherDeviceIsTheSame: a restart mounts the file system again, and its number changes.
func TestFolderOfAnotherDeviceIsTheSame(t *testing.T) {
	info, err := os.Stat(t.TempDir())
	require.NoError(t, err)
	var l Loop
	assert.False(t, l.isOther(info), "the first look")
	was := l
	l.Device, l.Inode = l.Device+1, l.Inode+1
	assert.False(t, l.isOther(info))
	assert.Equal(t, was, l)
	l.Inode++
	assert.True(t, l.isOther(info))
}

// TestMissingFolderBeforeCheckIsNamed: the agent has removed it.
func TestMissingFolderBeforeCheckIsNamed(t *testing.T) {
	w := newWorld(t)
	w.begin("true", port.LoopBounds{Turns: 9})
	w.engine.record.Dir = filepath.Join(w.engine.record.Dir, "gone")
	w.engine.turn = outcome.Outcome{Kind: outcome.Answered}
	h := w.all()[0]
	h.loop.Step = port.LoopCheck
	w.run()
	assert.Equal(t, port.WhyNoFolder, w.only().Reason)
}

// second is another session, in a folder.
func (w *world) second(dir string) {
	w.engine.worktree.record = session.Record{ID: uuid.New(), Name: "other", Dir: dir, State: session.Running}
}

// TestWorkTreeHasOneLoop whatever its branch is called by now.
func TestWorkTreeHasOneLoop(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	w.begin("true", port.LoopBounds{Turns: 9})
	w.second(filepath.Join(w.engine.record.Dir, "sub"))
	q := port.LoopRequest{Key: uuid.New(), Session: w.engine.worktree.record.ID, Feature: "another", Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 3}}
	_, err := w.Start(t.Context(), q)
	require.ErrorAs(t, err, new(*HeldError))
}

// TestAgentThatMovesIntoWorkTreeOfLoopPauses: two agents and two checks would write it.
func TestAgentThatMovesIntoWorkTreeOfLoopPauses(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	w.begin("true", port.LoopBounds{Turns: 9})
	w.second(t.TempDir())
	q := port.LoopRequest{Key: uuid.New(), Session: w.engine.worktree.record.ID, Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 3}}
	l, err := w.Start(t.Context(), q)
	require.NoError(t, err)
	w.engine.worktree.record.NowDir = filepath.Join(w.engine.record.Dir, "sub")
	require.NoError(t, os.Mkdir(w.engine.worktree.record.NowDir, 0o700))
	h := w.find(l.ID)
	require.NoError(t, w.advance(t.Context(), h))
	now := h.copy()
	assert.Equal(t, []any{port.LoopPaused, port.WhyTreeHeld, "api"}, []any{now.State, now.Reason, now.Detail})
	assert.Empty(t, w.engine.kept)
	w.engine.worktree.record.NowDir = ""
	_, err = w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	require.NoError(t, w.advance(t.Context(), h))
	assert.Len(t, w.engine.kept, 1)
}

// TestCheckRunsWhereTheAgentWorks: in the folder of its start, or in another work tree of that repository; elsewhere the loop pauses.
func TestCheckRunsWhereTheAgentWorks(t *testing.T) {
	for name, runs := range map[string]bool{"sub": true, "worktree": true, "elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			start := w.engine.record.Dir
			there := filepath.Join(t.TempDir(), name)
			if name == "sub" {
				there = filepath.Join(start, name)
			}
			require.NoError(t, os.Mkdir(there, 0o700))
			l := w.begin("pwd > "+filepath.Join(start, "ran"), port.LoopBounds{Turns: 1})
			w.engine.record.NowDir = there
			w.run()
			now := w.only()
			if !runs {
				assert.Equal(t, []any{port.LoopPaused, port.WhyElsewhere, there}, []any{now.State, now.Reason, now.Detail})
				assert.NoFileExists(t, filepath.Join(start, "ran"))
				w.engine.record.NowDir = ""
				_, err := w.Resume(t.Context(), l.ID, 0)
				require.NoError(t, err)
				w.run()
				there = start
			}
			if name == "sub" {
				there = start
			}
			ran, err := os.ReadFile(filepath.Join(start, "ran"))
			require.NoError(t, err)
			assert.Equal(t, there, strings.TrimSpace(string(ran)))
		})
	}
}

// TestLoopSurvivesCrashOfAgent: it waits for as long as its session can be resumed, and one
// [Go on] is enough.
func TestLoopSurvivesCrashOfAgent(t *testing.T) {
	for _, late := range []bool{false, true} { // its exit is read late
		w := newWorld(t)
		w.engine.turn = outcome.Outcome{}
		l := w.begin("true", port.LoopBounds{Turns: 9})
		w.run()
		crash := func() {
			w.engine.record.State, w.engine.record.EndedAt, w.engine.record.Exit = session.Completed, w.now, &session.Exit{Known: true, Signal: 9}
			w.engine.turn.Kind = outcome.SessionEnded
		}
		if w.engine.record.State = session.Stopping; late {
			w.run()
		}
		crash()
		w.run()
		now := w.only()
		assert.Equal(t, []any{port.LoopPaused, port.WhyCrashed}, []any{now.State, now.Reason})
		w.now = w.now.Add(30 * 24 * time.Hour)
		w.run()
		w.restart()
		assert.Equal(t, port.LoopPaused, w.only().State)

		w.engine.record.State, w.engine.record.Exit, w.engine.turn.Kind = session.Running, nil, outcome.Open
		_, err := w.Resume(t.Context(), l.ID, 0)
		require.NoError(t, err)
		w.run() // the agent is idle, and that counts only after a while
		w.engine.turn.Kind = outcome.IdleAgain
		w.engine.onKeep = func() { w.engine.turn.Kind = outcome.Answered }
		w.run()
		assert.Equal(t, []any{port.LoopDone, 2}, []any{w.only().State, len(w.engine.kept)})
	}
}

// TestEndNotSeenAfterResumePauses if the agent was at work: a person may have stopped it.
func TestEndNotSeenAfterResumePauses(t *testing.T) {
	w := newWorld(t)
	w.engine.turn = outcome.Outcome{}
	l := w.begin("true", port.LoopBounds{Turns: 9})
	w.run()
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	_, err = w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.run()
	w.engine.record.Phase = string(talk.PhaseWorking)
	w.run()
	w.engine.record.Phase, w.engine.turn.Kind = string(talk.PhaseIdle), outcome.IdleAgain
	w.run()
	assert.Equal(t, []any{port.LoopPaused, port.WhyNoEnd, 1}, []any{w.only().State, w.only().Reason, len(w.engine.kept)})
}

// TestLoopSaysThatItWaitsForBudget: its agent does not work.
func TestLoopSaysThatItWaitsForBudget(t *testing.T) {
	w := newWorld(t)
	w.engine.turn, w.engine.unfinished = outcome.Outcome{}, true
	w.engine.record.Budget.State = port.BudgetSpent
	l := w.begin("true", port.LoopBounds{Turns: 9})
	w.run()
	assert.Equal(t, []any{port.LoopRunning, port.HeldBudget}, []any{w.only().State, w.only().Reason})
	_, err := w.Pause(t.Context(), l.ID, port.WhyPerson, "")
	require.NoError(t, err)
	assert.Equal(t, port.WhyPerson, w.only().Reason)
	_, err = w.Resume(t.Context(), l.ID, 0)
	require.NoError(t, err)
	w.run()
	assert.Equal(t, port.HeldBudget, w.only().Reason)
	w.engine.record.Budget.State = port.BudgetLeft
	w.run()
	assert.Empty(t, w.only().Reason)
	w.engine.record.Budget.State, w.engine.unfinished = port.BudgetSpent, false // typed, for the last of it
	w.run()
	assert.Empty(t, w.only().Reason)
	w.engine.turn.Kind = outcome.Answered
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}
