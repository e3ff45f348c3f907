package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/internal/session"
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
			programtest.Require(s.t, "git")
			for _, args := range [][]string{{"init", "-q", "-b", "main"},
				{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
				git := exec.Command("git", args...)
				git.Dir = s.dir
				require.NoError(s.t, git.Run())
			}
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
