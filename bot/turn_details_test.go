package bot_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// gitHangs keeps what git says until a test lets it go.
func gitHangs(w *turnWorld) (goOn func()) {
	hangs := make(chan struct{})
	w.Git.Since = map[folders.Since]folders.Changes{"a moment": {Of: "a moment", Files: []folders.ChangedFile{{Path: "a", Added: 4, Deleted: 1}}}}
	w.Git.OnAsk = func() { <-hangs }
	return func() {
		close(hangs)
		w.Work(w.t)
	}
}

func (w *turnWorld) aTurn() {
	w.t.Helper()
	w.phase("working")
	w.writes(chattest.PromptLine("go"), bash(fmt.Sprint("of ", w.n), "one"), toolResult("a", false), chattest.Says("done"), chattest.TurnEnd)
	w.phase("idle")
}

func TestTurnEndIgnoresSlowGit(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		goOn := gitHangs(w)
		w.types("go")
		w.aTurn()
		assert.Contains(t, w.card(), "1 step")
		assert.NotContains(t, w.card(), "1 file")
		w.types("more")
		assert.Len(t, w.cards(), 2, "nor does the next turn")
		goOn()
		assert.Contains(t, w.card2(), "done in 4 s · 1 step · 1 file +4 −1")
	})
}

func TestOtherTurnsFilesAreNotCounted(t *testing.T) {
	t.Run("a step came before git had looked", func(t *testing.T) {
		inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
			gitHangs(w)()
			w.Git.OnMark = func() { chattest.Grow(t, w.c, chattest.PromptLine("go"), bash("early", "rm -r x")) }
			w.types("go")
			w.phase("working")
			w.writes(bash("late", "ls"), chattest.TurnEnd)
			w.phase("idle")
			assert.Contains(t, w.card(), "2 steps")
			assert.NotContains(t, w.card(), "file")
		})
	})
	t.Run("the next turn has begun when git compares", func(t *testing.T) {
		inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
			goOn := gitHangs(w)
			w.types("go")
			w.aTurn()
			w.types("more")
			w.phase("working")
			w.writes(chattest.PromptLine("more"), bash("next", "rm -r x"))
			goOn()
			assert.Contains(t, w.card2(), "done in")
			assert.NotContains(t, w.card2(), "file")
		})
	})
}

// Between the end of a turn and the last edit of its card the agent may be at the next one.
func TestLateStopStopsNoOtherTurn(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		shown := w.Shows(t, w.cards()[0])
		stop := chattest.DataBehind(t, shown, w.Word(i18n.ButtonStop))
		tap := func() {
			require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Bob, chattest.Telegrams(w.cards()[0], shown), stop)))
		}
		chattest.Grow(t, w.c, chattest.TurnEnd, chattest.PromptLine("more"))
		tap()
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "interrupt")
		w.Work(t)
		w.phase("working")
		w.Later(time.Minute)
		w.Press(t, chattest.Bob, w.cards()[1], w.Word(i18n.ButtonStop))
		assert.Contains(t, w.Lifecycle.Done(), "interrupt "+w.r.ID.String())
	})
}

func TestDetailsOfATurnAcrossTranscripts(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"), bash("a", "in the first"))
		next := chattest.TranscriptOf(t, "next.jsonl", bash("old", "of an earlier turn"))
		data, err := os.ReadFile(next.Path)
		require.NoError(t, err)
		old := strings.Replace(string(data), "{", `{"timestamp":"1990-01-01T00:00:00Z",`, 1)
		require.NoError(t, os.WriteFile(next.Path, []byte(old), 0o600))
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Cursors = append(r.Cursors, next) })
		w.c = next
		w.Answers.Follow(chattest.ViewOf(w.Record(t, w.r.ID)))
		w.writes(bash("b", "in the second"), toolResult("b", false), chattest.TurnEnd)
		w.phase("idle")
		assert.Contains(t, w.card(), "2 steps")
		w.Press(t, chattest.Bob, w.cards()[0], w.Word(i18n.ButtonDetails))
		all := w.Shows(t, w.cards()[0]).Text.Text
		assert.Contains(t, all, "in the first")
		assert.Contains(t, all, "in the second")
		assert.NotContains(t, all, "earlier")
	})
}

// Details are the same message, so that two taps are one.
func TestDetailsAreShownInTheCard(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"))
		for i := range 50 {
			w.writes(bash(fmt.Sprint(i), fmt.Sprintf("command %d", i)), toolResult(fmt.Sprint(i), false))
		}
		w.writes(chattest.TurnEnd)
		w.phase("idle")
		id, sent := w.cards()[0], len(w.Telegram.Sent)
		line := w.card()
		w.Press(t, chattest.Bob, id, w.Word(i18n.ButtonDetails))
		w.PressLate(t, chattest.Alice, id, w.Word(i18n.ButtonDetails))
		assert.Contains(t, w.card(), "command 0")
		assert.NotContains(t, w.card(), "command 49")
		w.Press(t, chattest.Bob, id, "→")
		assert.Contains(t, w.card(), "command 49")
		w.Restart(t)
		w.Press(t, chattest.Bob, id, "←")
		assert.Contains(t, w.card(), "command 0")
		w.Press(t, chattest.Bob, id, w.Word(i18n.ButtonBack))
		assert.Equal(t, line, w.card())
		assert.Len(t, w.Telegram.Sent, sent)
		require.NoError(t, os.Remove(w.c.Path))
		chattest.Changed(w.c)
		w.Press(t, chattest.Bob, id, w.Word(i18n.ButtonDetails))
		assert.Contains(t, w.card(), w.Word(i18n.TurnUnreadable))
	})
}

func TestInterruptedTurnIsMarked(t *testing.T) {
	for name, back := range map[string]func(w *turnWorld){
		"and nobody goes on": func(w *turnWorld) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.State, r.EndedAt = session.Lost, time.Now() })
		},
		"and the session is back": func(w *turnWorld) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.StartedAt, r.Phase, r.PhaseAt = time.Now(), "idle", time.Now() })
		},
		"and the next prompt comes": func(w *turnWorld) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.StartedAt = time.Now() })
			w.writes(chattest.PromptLine("more"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
				w.types("go")
				w.phase("working")
				w.writes(chattest.PromptLine("go"), bash("a", "one"))
				w.Stops(t)
				w.Later(time.Minute)
				back(w)
				w.Restart(t)
				w.Later(time.Minute)
				assert.Contains(t, w.card2(), "session ended after")
				assert.NotContains(t, w.card2(), "2 h")
			})
		})
	}
}

// TestTurnEndsWhenTheNextPromptIsTyped: a prompt that waited is typed at the end of a turn, and Claude Code writes the last lines of
// that turn a moment later.
func TestTurnEndsWhenTheNextPromptIsTyped(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("fix it")
		w.writes(chattest.PromptLine("fix it"))
		w.Later(10 * time.Second)
		w.types("and test it")
		w.Later(outbox.CardsEach)
		assert.Equal(t, "api · done in 11 s", w.Shows(t, w.cards()[0]).Text.Text)
	})
}

func TestCardListsWaitingPrompts(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		var keys []string
		for i := range 5 {
			keys = append(keys, w.Prompt(t, w.r, fmt.Sprintf("prompt %d\nand more", i), inbox.Held).Key)
		}
		w.types("go")
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = keys[:2] })
		w.phase("working")
		assert.Contains(t, w.card(), "\n\n2 messages wait\n1. prompt 0 …\n2. prompt 1 …")
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = keys })
		w.phase("working")
		assert.Contains(t, w.card(), "3. prompt 2 …\nand 2 more")
		assert.NotContains(t, w.card(), "prompt 3")
	})
}

func TestCardLinksToOtherSessions(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		id := w.cards()[0]
		last := func() []string {
			w.Later(outbox.CardsEach)
			rows := w.Shows(t, id).Buttons
			var words []string
			for _, b := range rows[len(rows)-1] {
				words = append(words, b.Text)
			}
			return words
		}
		assert.NotContains(t, strings.Join(last(), ""), "✓", "there is no other session")
		web := w.Session(t, "web", session.Running)
		w.Session(t, "gone", session.Archived)
		edits := len(w.Telegram.Edited)
		w.Records.Change(web.ID, func(r *session.Record) { r.Phase = "waiting_permission" })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, web.ID), news.Doing{}))
		w.Work(t)
		assert.Len(t, w.Telegram.Edited, edits, "what others do is no reason to edit")
		w.writes(chattest.PromptLine("go"), bash("a", "one"))
		assert.Equal(t, []string{"web ❓"}, last())
		w.Press(t, chattest.Alice, id, "web ❓")
		w.CurrentIs(t, web.ID)
		assert.Equal(t, []string{"api ⏳"}, last(), "the way back")
		for _, name := range []string{"x", "y", "z"} {
			w.Session(t, name, session.Running)
		}
		w.writes(bash("b", "two"))
		assert.Equal(t, []string{"y", "z", w.Word(i18n.ButtonAll, i18n.Args{"Count": 5})}, last())
		w.writes(chattest.TurnEnd)
		w.phase("idle")
		assert.Equal(t, w.WordsOf(i18n.ButtonChanges, i18n.ButtonDetails), last())
	})
}

// The end of background work starts a turn without a prompt: it has a card only with a step.
func TestAgentsOwnTurnCardNeedsStep(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.aTurn()
		over := `{"type":"user","uuid":"over","origin":{"kind":"task-notification"},"message":{"role":"user","content":"<task-notification>\n<task-id>x</task-id>\n<tool-use-id>a</tool-use-id>\n<status>completed</status>\n</task-notification>"}}` + "\n"
		w.phase("working")
		thinks := `{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm"}],"usage":{}}}` + "\n"
		w.writes(over, thinks)
		assert.Len(t, w.cards(), 1)
		w.writes(chattest.Says("The subagent is done."), chattest.TurnEnd)
		w.phase("idle")
		assert.Len(t, w.cards(), 1)
		w.phase("working")
		w.writes(over, thinks, bash("look", "cat x"))
		assert.Len(t, w.cards(), 2)
	})
}

// The details of one turn may take long to read: other cards do not wait for them.
func TestSlowDetailsDelayNoOtherCard(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.aTurn()
		w.types("more")
		w.aTurn()
		goOn, read := make(chan struct{}), 0
		w.Talk.Gives = func(talk.Item) {
			if read++; read == 1 {
				<-goOn
			}
		}
		slow := make(chan error)
		go func() { slow <- w.Pressing(t, chattest.Alice, w.cards()[0], w.Word(i18n.ButtonDetails)) }()
		synctest.Wait()
		require.Equal(t, 1, read)
		w.Press(t, chattest.Bob, w.cards()[1], w.Word(i18n.ButtonDetails))
		assert.Contains(t, w.Shows(t, w.cards()[1]).Text.Text, "one")
		close(goOn)
		require.NoError(t, <-slow)
		w.Work(t)
		assert.Contains(t, w.Shows(t, w.cards()[0]).Text.Text, "one")
	})
}

// A double tap is one message.
func TestDoubleTapSendsOneMessage(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		w.types("go")
		w.phase("working")
		w.writes(chattest.PromptLine("go"))
		e := w.Prompt(t, w.r, "wait", inbox.Held)
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, e.Key) })
		w.phase("working")
		for _, word := range []string{w.Word(i18n.ButtonMode), w.Word(i18n.ButtonQueue, i18n.Args{"Count": 1})} {
			sent := w.Telegram.LastID()
			w.Press(t, chattest.Alice, w.cards()[0], word)
			w.Press(t, chattest.Alice, w.cards()[0], word)
			assert.Equal(t, sent+1, w.Telegram.LastID(), word)
			w.Later(2 * time.Minute)
			w.Press(t, chattest.Alice, w.cards()[0], word)
			assert.Equal(t, sent+2, w.Telegram.LastID(), word)
		}
	})
}
