package bot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// quiet is an idle agent that may be ended.
var quiet = view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached}

// asksIdle makes Alice ask to end the idle ones of these sessions, and returns the question.
func asksIdle(t *testing.T, w *chattest.World) (question string, id int) {
	t.Helper()
	w.MustHear(t, "/list")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonEndIdle))
	w.Work(t)
	return w.LastSent(t).Text.Text, len(w.Telegram.Sent)
}

func endedWith(w *chattest.World, t *testing.T, receipt ending.Receipt) func(uuid.UUID, port.Silence) error {
	return func(id uuid.UUID, q port.Silence) error {
		receipt.Together = q.Together
		w.Records.Change(id, func(r *session.Record) { r.State, r.EndedAt = session.Archived, w.Now() })
		return w.SessionNews(t.Context(), w.Record(t, id), receipt)
	}
}

func ordinary() ending.Receipt {
	agent := chattest.Ended(1, process.HowTerm, time.Hour)
	return ending.Receipt{Agent: &agent}
}

func TestOnlyIdleSessionsAreOffered(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.Doing = map[uuid.UUID]view.Status{}
	add := func(name string, change func(l *view.Status, r *session.Record)) {
		r, l := w.Session(t, name, session.Running), quiet
		w.Records.Change(r.ID, func(r *session.Record) { change(&l, r) })
		w.Lifecycle.Doing[r.ID] = l
	}
	add("calm", func(*view.Status, *session.Record) {})
	add("works", func(l *view.Status, _ *session.Record) { l.Phase = talk.PhaseWorking })
	add("asks", func(l *view.Status, _ *session.Record) { l.Phase = talk.PhaseWaitingPermission })
	add("unseen", func(l *view.Status, _ *session.Record) { l.Attachment = view.AttachmentUnknown })
	add("torn", func(l *view.Status, _ *session.Record) { l.Phase = talk.PhaseUnknown })
	add("busy", func(l *view.Status, _ *session.Record) { l.Background = true })
	add("parent", func(l *view.Status, _ *session.Record) { l.Agents = 1 })
	add("planner", func(l *view.Status, _ *session.Record) { l.Schedules = 1 })
	add("written", func(l *view.Status, _ *session.Record) { l.Draft = true })
	add("watched", func(l *view.Status, _ *session.Record) { l.Attachment = view.Attached })
	add("queued", func(_ *view.Status, r *session.Record) { r.Prompts = []string{"p"} })
	add("theirs", func(_ *view.Status, r *session.Record) { r.Binding = &session.Binding{Shell: 7, Adopted: true} })
	add("going", func(_ *view.Status, r *session.Record) { r.State = session.Stopping })
	text, _ := asksIdle(t, w)
	assert.Equal(t, `End 1 idle session and archive it? Its conversation is kept.
• calm

Not ended:
• works: working
• asks: waiting for an answer
• unseen: state unknown
• torn: state unknown
• busy: background commands running
• parent: 1 agent in the background
• planner: 1 schedule of its own
• written: a draft in the prompt box
• watched: open in a terminal
• queued: messages are queued
• theirs: its window was opened by hand
• going: ending`, text)
	assert.Equal(t, 3, w.Lifecycle.Rounds, "one for the list, one for the question, and one for the list below it")
	assert.Empty(t, w.Lifecycle.Done(), "nothing is ended before the question is answered")
}

// A session that stays open for schedules of its own is archived by its own button, and the question says what ends with it.
func TestScheduledSessionIsArchivedAnyway(t *testing.T) {
	w := chattest.NewWorld(t)
	api, busy := w.NewCurrentSession(t, "api", session.Running), w.Session(t, "busy", session.Running)
	scheduled, works := quiet, quiet
	scheduled.Schedules, works.Schedules, works.Background, works.Commands = 2, 1, true, 1
	w.Lifecycle.Doing = map[uuid.UUID]view.Status{api.ID: scheduled, busy.ID: works}
	w.MustHear(t, "/list")
	assert.NotContains(t, chattest.Words(w.Telegram.Last(t)), "Archive busy anyway", "more than schedules would end")
	w.Press(t, chattest.Alice, len(w.Telegram.Sent), "Archive api anyway")
	assert.Contains(t, w.LastSent(t).Text.Text, "This also ends: 2 schedules of its own.")
	assert.Empty(t, w.Lifecycle.Done(), "nothing is ended before the question is answered")

	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), news.Spared{Quiet: 24 * time.Hour, Schedules: 2}))
	said := w.LastSent(t)
	assert.Equal(t, "api has been idle for 1 d. It is not archived, because its agent has 2 schedules of its own, which would end with it.", said.Text.Text)
	w.Press(t, chattest.Alice, len(w.Telegram.Sent), w.Word(i18n.ButtonArchiveAnyway))
	assert.Contains(t, w.LastSent(t).Text.Text, "This also ends: 2 schedules of its own.")
	w.Press(t, chattest.Alice, len(w.Telegram.Sent), w.Word(i18n.ButtonArchive))
	assert.Contains(t, w.Lifecycle.Done(), "archive "+api.ID.String()+" as archived")
}

func TestP3_IdleSessionsEndWithOneReceipt(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnLook = quiet
	api, web, db := w.NewCurrentSession(t, "api", session.Running), w.Session(t, "web", session.Running), w.Session(t, "db", session.Running)
	_, id := asksIdle(t, w)
	posted := len(w.Telegram.Texts())
	w.Press(t, chattest.Bob, id, w.Word(i18n.ButtonEndAll))
	assert.NotContains(t, w.Lifecycle.Done(), "archive "+api.ID.String()+" when quiet", "only who asked may end them")

	hard := chattest.Ended(9, process.HowKill, time.Hour)
	w.Lifecycle.OnArchiveQuiet = func(id uuid.UUID, q port.Silence) error {
		switch id {
		case db.ID: // a person has begun to work there
			w.Lifecycle.Doing = map[uuid.UUID]view.Status{id: {Phase: talk.PhaseWorking}}
			return lifecycle.ErrChanged
		case web.ID:
			return endedWith(w, t, ending.Receipt{Agent: &hard})(id, q)
		}
		return endedWith(w, t, ordinary())(id, q)
	}
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll))
	w.PressLate(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll))
	assert.Equal(t, "2 sessions are archived: api, web. Resume one with /resume.\n\nNot ended:\n• db: working", w.Shows(t, id).Text.Text)
	assert.Empty(t, w.Shows(t, id).Buttons)
	require.Len(t, w.Telegram.Texts(), posted+1, "one that needed force has a receipt of its own")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "pid 9")
}

func TestP8_EndOfIdleSessionsSurvivesCrash(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnLook = quiet
	api, web := w.NewCurrentSession(t, "api", session.Running), w.Session(t, "web", session.Running)
	_, id := asksIdle(t, w)
	w.Lifecycle.OnArchiveQuiet = func(one uuid.UUID, q port.Silence) error {
		if one == api.ID {
			w.Records.Change(one, func(r *session.Record) { r.State = session.Stopping })
		}
		panic("kill -9")
	}
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll))
	assert.Equal(t, "Ending api, web…", w.Shows(t, id).Text.Text)
	w.Restart(t)
	require.NoError(t, w.Feature("idle").Run(t.Context()))
	w.Work(t)
	assert.Contains(t, w.Shows(t, id).Text.Text, "web: perhaps in use again")
	assert.Equal(t, session.Running, w.Record(t, web.ID).State)
	require.NoError(t, endedWith(w, t, ordinary())(api.ID, port.Silence{}))
	w.Work(t)
	assert.Equal(t, "1 session is archived: api. Resume it with /resume.\n\nNot ended:\n• web: perhaps in use again", w.Shows(t, id).Text.Text)
}

// TestP3_FailedEndIsNotReportedArchived: of one that is ending all the same its own end tells.
func TestP3_FailedEndIsNotReportedArchived(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnLook = quiet
	api, web := w.NewCurrentSession(t, "api", session.Running), w.Session(t, "web", session.Running)
	_, id := asksIdle(t, w)
	w.Lifecycle.OnArchiveQuiet = func(one uuid.UUID, _ port.Silence) error {
		if one == api.ID {
			w.Records.Change(one, func(r *session.Record) { r.State = session.Stopping })
		}
		return errors.New("no space left on device")
	}
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll))
	assert.Equal(t, "Ending api…\n\nNot ended:\n• web: it could not be ended", w.Shows(t, id).Text.Text)
	assert.Equal(t, session.Running, w.Record(t, web.ID).State)
	require.NoError(t, endedWith(w, t, ordinary())(api.ID, port.Silence{}))
	w.Work(t)
	assert.Contains(t, w.Shows(t, id).Text.Text, "1 session is archived: api.")
}

// Sessions beyond the limit of one message are counted, and stay open.
func TestFurtherIdleSessionsAreCounted(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnLook = quiet
	for n := range 32 {
		w.Session(t, fmt.Sprintf("s%02d", n), session.Running)
	}
	text, id := asksIdle(t, w)
	assert.True(t, strings.HasPrefix(text, "End these 30 idle sessions and archive them? Their conversations are kept.\n• s00"), text)
	assert.True(t, strings.HasSuffix(text, "\n• s29\n\n2 more sessions are idle and stay open for now."), text)
	assert.Len(t, bold(w.LastSent(t)), 30, "names are bold")
	w.Lifecycle.OnArchiveQuiet = func(one uuid.UUID, q port.Silence) error {
		if w.Record(t, one).Name == "s07" {
			return lifecycle.ErrChanged
		}
		return endedWith(w, t, ordinary())(one, q)
	}
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll))
	assert.True(t, strings.HasSuffix(w.Shows(t, id).Text.Text, "2 more sessions are idle and stay open for now.\n\nNot ended:\n• s07: perhaps in use again"),
		w.Shows(t, id).Text.Text)
	assert.Len(t, bold(w.Shows(t, id)), 30)
}
