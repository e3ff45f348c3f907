package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/try/botapi"
)

// besides kills the bot between making a work tree and starting the session in it.
func besides() life {
	// chosen is the page of /new about the folder in which a session works already.
	chosen := func(s *stage) (page botapi.Message) {
		s.t.Helper()
		s.until("the folder is offered", func() bool {
			for _, m := range s.api.Messages(s.chat()) {
				if _, has := m.Find("New worktree"); has {
					page = m
				}
			}
			return page.ID != 0
		})
		return page
	}
	return life{name: "worktree",
		setup: func(s *stage) {
			s.repository()
			working(s)
		},
		rows: []crash{{step: "worktree", point: "worktree-made", when: "the work tree exists, its session does not",
			disk: "a work tree with ccbot's mark", fresh: "nothing; the same button uses that work tree",
			do: func(s *stage) {
				page := s.hear(s.say("/new"), "Where should the new session work?")
				for _, row := range page.Keyboard {
					if strings.HasSuffix(row[0].Text, filepath.Base(s.dir)) {
						s.tap(page, row[0].Text)
					}
				}
				s.tap(chosen(s), "New worktree")
			},
			dead: func(s *stage) {
				s.t.Helper()
				onDisk("work", session.Running, true)(s)
				assert.DirExists(s.t, s.dir+"-2")
				assert.Len(s.t, s.records(), 1)
			},
			after: func(s *stage) {
				s.t.Helper()
				s.tap(chosen(s), "New worktree")
				hears(" is ready")(s)
				assert.Equal(s.t, s.dir+"-2", s.open1(filepath.Base(s.dir)+"-2").Dir)
				assert.NoDirExists(s.t, s.dir+"-3")
				s.prompt("say after worktree-made")
				s.answered("after worktree-made")
			}}}}
}

// repository makes the folder of the sessions a repository with one commit.
func (w *world) repository() {
	w.t.Helper()
	programtest.Require(w.t, "git")
	for _, args := range [][]string{{"init", "-q", "-b", "main"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		git := exec.Command("git", args...)
		git.Dir = w.dir
		require.NoError(w.t, git.Run())
	}
}

// loopingInWorktree kills the bot at each step of a loop's start in a new worktree, and when the
// worktree of an ended loop was removed.
func loopingInWorktree() life {
	var term terminal
	var verb called
	made := 0
	tree := func(s *stage) string { return fmt.Sprintf("%s-%d", s.dir, made+1) }
	row := func(point, when, disk, fresh string) crash {
		said := "in a worktree at " + point
		return crash{step: "loop in a worktree", point: point, when: when, disk: disk, fresh: fresh, also: "one worktree, one session, the prompt once",
			do: func(s *stage) {
				made++
				s.typed = append(s.typed, "say "+said)
				verb = term.call("ccbot loop start work 'say " + said + "' --check true --max-turns 5 --worktree")
			},
			dead: func(s *stage) {
				s.t.Helper()
				l := s.loops()[made-1]
				assert.Equal(s.t, []any{port.LoopRunning, s.record("work").ID}, []any{l.State, l.Session})
			},
			after: func(s *stage) {
				s.t.Helper()
				code, _, errs := verb.end()
				assert.Zero(s.t, code, "the verb says: %s", errs)
				l := s.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone && l.Reported == port.LoopDone })
				assert.Equal(s.t, []any{made, tree(s), tree(s), s.open1(filepath.Base(tree(s))).ID}, []any{len(s.loops()), l.Worktree.Dir, s.open1(l.Name).Dir, l.Session})
				assert.NoDirExists(s.t, fmt.Sprintf("%s-%d", s.dir, made+2))
				assert.Len(s.t, s.records(), made+1)
			}}
	}
	removal := crash{step: "loop in a worktree", point: "loop-worktree-removed", when: "the worktree of an ended loop is gone, which is not on disk", disk: "a `done` loop with a worktree", fresh: "finds no worktree, and notes that",
		prepare: func(s *stage) {
			s.t.Helper()
			s.edit(filepath.Base(tree(s)), func(r recordFile) { r["ended_at"] = json.RawMessage(`"2026-01-01T00:00:00Z"`) })
		},
		dead: func(s *stage) {
			s.t.Helper()
			assert.NoDirExists(s.t, tree(s))
			assert.False(s.t, s.loops()[made-1].Worktree.Removed)
		},
		after: func(s *stage) {
			s.t.Helper()
			s.newestLoop("has no worktree", func(l loop.Loop) bool { return l.Worktree.Removed })
			assert.DirExists(s.t, s.dir+"-2", "its session is open")
			s.until("the old session is forgotten", func() bool { return len(s.records()) == made })
		}}
	last := row("loop-session-begun", "the session runs, and the loop does not know it", "a `running` loop with its worktree; the session", "finds the session, and sends the first prompt")
	finish := last.after
	last.after = func(s *stage) {
		s.t.Helper()
		finish(s)
		term.says("ccbot done " + filepath.Base(tree(s)) + " --yes")
	}
	return life{name: "loop in a worktree", setup: func(s *stage) {
		s.repository()
		working(s)
		term = s.newTerminal()
	}, rows: []crash{
		row("loop-worktree-made", "the worktree exists, and the loop does not know it", "a `running` loop without a worktree; a worktree with ccbot's mark", "finds the worktree, starts the session, sends the first prompt"),
		row("loop-worktree-saved", "the loop has its worktree, and no session", "a `running` loop with its worktree", "starts the session there, sends the first prompt"),
		last, removal,
	}}
}
