package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// Members of a group who are not allowed read its pages: of sessions of a private chat these have the
// name, the state and the last element of the folder, and no word that a person or an agent wrote.
func TestP9_PagesOfGroupHaveNoPrivateWords(t *testing.T) {
	w := chattest.NewWorld(t)
	private := w.Session(t, "diary", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.PromptLine("my salary"), chattest.Says("salary, of course"), chattest.TurnEnd))
	over := w.Session(t, "letters", session.Archived, chattest.TranscriptOf(t, "o.jsonl", chattest.PromptLine("my salary"), chattest.Says("salary, of course"), chattest.TurnEnd))
	own := w.Session(t, "shop", session.Starting)
	for _, id := range []uuid.UUID{private.ID, over.ID} {
		w.Records.Change(id, func(r *session.Record) { r.Conversation, r.Dir = chattest.AtAlice, "/home/alice/secrets/salary/work" })
	}
	w.Records.Change(own.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWaitingPermission, Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "salary"}}
	span := talk.Span{All: talk.Sum{Input: 9, Cost: 7}, Sessions: []talk.Line{{Name: "diary", Session: private.ID, Sum: talk.Sum{Input: 9, Cost: 7}},
		{Name: "shop", Session: own.ID, Sum: talk.Sum{Input: 1}}, {Session: uuid.New(), Dir: "/home/alice/salary", Sum: talk.Sum{Input: 1}}}}
	w.Spent.Answer(func(context.Context) (talk.Report, error) {
		return talk.Report{Spans: []talk.Span{span, span, span}}, nil
	})
	b := border{World: w}
	for _, command := range []string{"/list", "/archive", "/usage", "/history diary", "/history letters", "/queue diary", "/status diary", "/why letters", "/changes diary",
		"/screenshot diary", "/mode diary", "/resume"} {
		b.says(t, command, chattest.InGroup)
		w.Telegram.Deliver(t.Context())
		last := w.Telegram.Last(t)
		text := last.Text.Text
		assert.NotContains(t, text+strings.Join(chattest.Words(last), "\n"), "salary", command)
		switch name, about, _ := strings.Cut(command, " "); {
		case name == "/list":
			assert.Contains(t, text, "diary")
			assert.Contains(t, text, "work")
		case name == "/archive":
			assert.Contains(t, text, "letters")
		case name == "/usage":
			assert.NotContains(t, text, "diary")
			assert.Contains(t, text, "shop")
			assert.Contains(t, text, "$7")
		case about != "":
			assert.Equal(t, w.Word(i18n.HiddenHere, i18n.Args{"Name": about}), text, command)
		}
	}
}

// One person alone who names a session of his private chat in a group reads it there.
func TestOnePersonReadsPrivateSessionsInGroup(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Bob: true}, Groups: map[int64]bool{chattest.Ours: true}})
	r := w.Session(t, "diary", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Progress.Turns = atBob, 42 })
	span := talk.Span{All: talk.Sum{Input: 9}, Sessions: []talk.Line{{Name: "diary", Session: r.ID, Sum: talk.Sum{Input: 9}}}}
	w.Spent.Answer(func(context.Context) (talk.Report, error) {
		return talk.Report{Spans: []talk.Span{span, span, span}}, nil
	})
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWaitingPermission, Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Salaries"}}
	b := border{World: w}
	for _, command := range []string{"/history diary", "/queue diary", "/status diary", "/changes diary", "/screenshot diary", "/get diary x", "/list", "/usage"} {
		b.says(t, command, chattest.InGroup)
		w.Work(t)
		text := w.Telegram.Last(t).Text.Text
		assert.NotEqual(t, w.Word(i18n.HiddenHere, i18n.Args{"Name": "diary"}), text, command)
		switch command {
		case "/list":
			assert.Contains(t, text, "Salaries")
		case "/usage":
			assert.Contains(t, text, "diary")
		}
	}
}

// A session of another chat is offered to be ended with the idle ones only if it may be: what waits for
// it counts, though the group does not see it.
func TestHiddenSessionWithPromptsIsNotOfferedToEnd(t *testing.T) {
	for name, own := range map[string]struct{ prompts, schedules int }{"idle": {}, "a prompt waits": {prompts: 1}, "schedules of its own": {schedules: 2}} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "diary", session.Running)
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Progress.Turns = chattest.AtAlice, 42 })
			for range own.prompts {
				e := w.Prompt(t, r, "my salary", inbox.Held)
				w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, e.Key) })
			}
			w.Lifecycle.OnLook = quiet
			w.Lifecycle.OnLook.Schedules = own.schedules
			border{World: w}.says(t, "/list", chattest.InGroup)
			w.Work(t)
			words := chattest.Words(w.Telegram.Last(t))
			assert.Equal(t, name == "idle", slices.Contains(words, w.Word(i18n.ButtonEndIdle)))
			assert.NotContains(t, strings.Join(words, "\n"), "anyway")
		})
	}
}

// The question whether to end the idle sessions names those of another chat in a group by their names
// and states alone.
func TestP9_EndIdleInGroupHasNoPrivateWords(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "shop", session.Running)
	private := w.Session(t, "diary", session.Running)
	idle := w.Session(t, "letters", session.Running)
	for _, id := range []uuid.UUID{private.ID, idle.ID} {
		w.Records.Change(id, func(r *session.Record) {
			r.Conversation, r.Dir, r.Progress.Turns = chattest.AtAlice, "/home/alice/salary/work", 42
		})
	}
	w.Lifecycle.OnLook = quiet
	w.Lifecycle.Doing = map[uuid.UUID]view.Status{private.ID: {Phase: talk.PhaseBlocked, Now: talk.Activity{Phase: talk.PhaseBlocked, What: "salary"}}}
	border{World: w}.says(t, "/list", chattest.InGroup)
	w.Work(t)
	require.NoError(t, w.TapShown(t, chattest.Bob, w.Telegram.Last(t), i18n.ButtonEndIdle))
	w.Work(t)
	text := w.Telegram.Last(t).Text.Text
	assert.Contains(t, text, "diary")
	assert.Contains(t, text, "letters")
	assert.NotContains(t, text, "salary")
}
