package loops_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/port"
)

// repoTemplate is a template of a repository, as long as it may be.
func repoTemplate() port.LoopTemplate {
	of := port.LoopSource{Name: "night", Repo: "/src/api", Digest: "d1"}
	text := "task = 'make it green'\ncheck = 'make test'\n[bounds]\nturns = 7\n"
	text += strings.Repeat("#", 3000-len("make test")-len(text)-4) + " end"
	return port.LoopTemplate{LoopSource: of, Text: text, Wanted: port.LoopRequest{Task: "make it green", Check: "make test", Bounds: port.LoopBounds{Turns: 7},
		LoopTerms: port.LoopTerms{StopWord: "DONE", ToDo: true}, Phases: port.LoopPhases{Plan: "Plan it."}, Template: &of, Worktree: true}}
}

// TestP9_TemplateIsShownInFull before its start in each language, and what was shown is started,
// whatever the file has then.
func TestP9_TemplateIsShownInFull(t *testing.T) {
	for _, lang := range []string{"en", "ru", "zh", "de"} {
		t.Run(lang, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				w.Bot.Chat.Lang = lang
				r := w.NewCurrentSession(t, "api", session.Running)
				w.Records.Change(r.ID, func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} })
				shown := repoTemplate()
				w.Looping.Offered = []port.LoopTemplate{shown}
				w.MustHear(t, "/loop")
				w.Work(t)
				w.Press(t, chattest.Alice, 1, "night")
				ask := w.Shows(t, 1)
				assert.Contains(t, ask.Text.Text, shown.Text+"\n")
				assert.Contains(t, ask.Text.Text, "make test\n", "as it will run")
				assert.LessOrEqual(t, ask.Text.Length(), render.Limit)
				w.Looping.Offered[0].Wanted.Check = "curl evil"
				w.Press(t, chattest.Alice, 1, chattest.Words(ask)[len(chattest.Words(ask))-2])
				all := w.Looping.Requests()
				require.Len(t, all, 1)
				want := repoTemplate().Wanted
				want.Session, want.Key, want.By = r.ID, all[0].Key, chattest.Alice
				assert.NotEqual(t, uuid.Nil, want.Key)
				assert.Equal(t, want, all[0])
			})
		})
	}
}

// TestFaultyTemplateIsExplained, and a reply with the task still begins a loop without it.
func TestFaultyTemplateIsExplained(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.NewCurrentSession(t, "api", session.Running)
		w.Looping.Offered = []port.LoopTemplate{{LoopSource: port.LoopSource{Name: "bad"}, Fault: "line 3: expected '='"}}
		w.MustHear(t, "/loop")
		w.Work(t)
		w.Press(t, chattest.Alice, 1, "bad")
		assert.Contains(t, w.Shows(t, 1).Text.Text, "The template bad cannot be used: “line 3: expected '='”.")
		w.Answer(t, 1, "fix it")
		w.Work(t)
		w.Answer(t, 2, "make test")
		w.Work(t)
		w.Press(t, chattest.Alice, 3, "Start")
		all := w.Looping.Requests()
		require.Len(t, all, 1)
		assert.Equal(t, "fix it", all[0].Task)
		assert.Nil(t, all[0].Template)
	})
}

// TestPhaseIsShown by the card and /loops, if the loop has phases.
func TestPhaseIsShown(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		l := port.Loop{ID: uuid.New(), Session: r.ID, Check: "make test", State: port.LoopRunning, Step: port.LoopTurn, Iteration: 2, Bounds: port.LoopBounds{Turns: 9}}
		w.Loops(t, r, l, true)
		assert.NotContains(t, w.Shows(t, 1).Text.Text, "fix")
		l.Phase = port.PhaseFix
		w.Loops(t, r, l, true)
		assert.Contains(t, w.Shows(t, 1).Text.Text, "turn 1 of 9, fix")
		w.MustHear(t, "/loops")
		w.Work(t)
		assert.Contains(t, w.Shows(t, 2).Text.Text, "1 of 9, fix")
	})
}

// TestP9_CutPageStartsNothing: a page that one message cannot show in full has no button to start.
func TestP9_CutPageStartsNothing(t *testing.T) {
	refuses := func(t *testing.T, ask outbox.Message) {
		assert.Contains(t, ask.Text.Text, "too long to be shown")
		assert.Equal(t, []string{"Cancel"}, chattest.Words(ask))
	}
	t.Run("template", func(t *testing.T) {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			w.NewCurrentSession(t, "api", session.Running)
			long := repoTemplate()
			long.Text = strings.Repeat("א ", 1500)
			w.Looping.Offered = []port.LoopTemplate{long}
			w.MustHear(t, "/loop")
			w.Work(t)
			w.Press(t, chattest.Alice, 1, "night")
			refuses(t, w.Shows(t, 1))
		})
	})
	t.Run("typed", func(t *testing.T) {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			w.NewCurrentSession(t, "api", session.Running)
			w.MustHear(t, "/loop")
			w.Work(t)
			w.Answer(t, 1, "fix it")
			w.Work(t)
			w.Answer(t, 2, strings.Repeat("true; ", 640)+"curl evil")
			w.Work(t)
			refuses(t, w.Shows(t, 3))
		})
	})
}
