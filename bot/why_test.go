package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/naming"
	"ccbot/internal/session"
)

// hour is the time of a change in history, as people read it.
func hour(n int) string {
	return chattest.Started.Add(time.Duration(n) * time.Hour).Local().Format("Jan 2 15:04:05")
}

func TestWhy(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.History(t,
		session.Change{To: session.Starting, Rule: "start", Why: "a new session was requested"},
		session.Change{From: session.Starting, To: session.Running, Rule: "ready"},
		session.Change{From: session.Running, To: session.Running, Rule: "recovery.mark_lost", Why: "begins: its pane is gone"},
		session.Change{From: session.Running, To: session.Lost, Rule: "recovery.mark_lost", Why: "pane %3 is gone"},
		session.Change{From: session.Lost, To: session.Lost, Rule: "recovery.mark_lost", Why: "done"})
	for _, asked := range []string{"/why", "/why api", "/why API", "/why " + naming.ShortID(r.ID)} {
		w.MustHear(t, asked)
		assert.Equal(t, chattest.Lines("api: lost, 2 h ago. History:",
			moment(0)+" It was started.",
			moment(1)+" It became ready for messages.",
			moment(2)+" Its window was gone when ccbot started."), w.Telegram.Last(t).Text.Text, asked)
		assert.Equal(t, []string{"Resume", "Details"}, chattest.Words(w.Telegram.Last(t)))
	}
	m := w.Telegram.Last(t)
	w.Restart(t)
	more := tapped(t, w, m, "Details")
	assert.Equal(t, chattest.Lines("api: what was noted, in the words of the log",
		hour(0)+" → starting start a new session was requested",
		hour(1)+" starting → running ready",
		hour(2)+" • recovery.mark_lost begins: its pane is gone",
		hour(3)+" running → lost recovery.mark_lost pane %3 is gone",
		hour(4)+" • recovery.mark_lost done",
		"", "In a terminal: ccbot why "+r.ID.String()), more.Text.Text)
	assert.Equal(t, []string{w.Word(i18n.ButtonBack)}, chattest.Words(more))
	assert.Equal(t, m.Text, tapped(t, w, more, w.Word(i18n.ButtonBack)).Text)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Now(4), i18n.ButtonResume))
	assert.Equal(t, chattest.Restores(r), w.Restored())

	w.MustHear(t, "/why none such")
	assert.Equal(t, w.Named(i18n.NoSuchSession, "none such"), w.Telegram.Last(t).Text.Text)

	w = chattest.NewWorld(t)
	w.MustHear(t, "/why")
	assert.Equal(t, w.Word(i18n.NoSession), w.Telegram.Last(t).Text.Text)
	w.Session(t, "web", session.Running)
	w.MustHear(t, "/why web")
	assert.Equal(t, "web: running. There is no history.", w.Telegram.Last(t).Text.Text)
}

// moment is the time of a change in history, as people read it.
func moment(n int) string {
	return at(time.Duration(n) * time.Hour)
}

// The reply names the person who asked for an end.
func TestWhyTellsWhoEndedIt(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, tt := range []struct {
		change session.Change
		want   string
	}{
		{session.Change{Rule: "stop", By: 7, Why: "asked for by 8"}, "You ended it."},
		{session.Change{Rule: "stop", By: 77}, "Somebody else ended it."},
		{session.Change{Rule: "stop", Why: "asked for by 7, as a program words it"}, "Somebody asked to end it."},
		{session.Change{Rule: "stop.idle"}, "It was idle for long, so ccbot ended it."},
	} {
		tt.change.From, tt.change.To = session.Running, session.Stopping
		r := w.History(t, tt.change, session.Change{From: session.Stopping, To: session.Archived, Rule: "stopped"})
		w.MustHear(t, "/why "+r.ID.String())
		assert.Equal(t, []string{moment(0) + " " + tt.want, moment(1) + " It was archived."},
			strings.Split(w.Telegram.Last(t).Text.Text, "\n")[1:], tt.change)
	}
	r := w.History(t, session.Change{From: session.Running, To: session.Lost, Rule: "of a later program"},
		session.Change{From: session.Lost, To: session.Lost, Rule: "of a later program"},
		session.Change{From: session.Lost, To: session.Running, Rule: "resume.second_writer"},
		session.Change{From: session.Running, To: session.Running, Rule: "resume.current_session_active"},
		session.Change{From: session.Running, To: session.Running, Rule: "resume.current_session_followed"},
		session.Change{From: session.Lost, To: session.Running, Rule: "resume.resumed_same_agent_session", Why: "it came back"})
	w.MustHear(t, "/why "+r.ID.String())
	assert.Equal(t, []string{moment(0) + " It is now: lost.", moment(2) + " Its conversation was opened in a terminal.",
		moment(4) + " Its agent went on to another conversation.", moment(5) + " Its conversation went on in another window, so it moved there."}, strings.Split(w.Telegram.Last(t).Text.Text, "\n")[1:])
}

// The change is on disk in two steps, and shown in one sentence.
func TestWhyTellsHowTheAgentEnded(t *testing.T) {
	w := chattest.NewWorld(t)
	for want, change := range map[string]session.Change{
		"It ended on its own.":             {},
		"Its agent was ended by signal 9.": {Signal: 9},
		"Its agent crashed (exit code 3).": {Status: 3},
	} {
		change.From, change.To, change.Rule = session.Running, session.Stopping, "ended"
		r := w.History(t, change, session.Change{From: session.Stopping, To: session.Completed, Rule: "ended", Why: "its process is gone"})
		w.MustHear(t, "/why "+r.ID.String())
		assert.Equal(t, []string{moment(0) + " " + want}, strings.Split(w.Telegram.Last(t).Text.Text, "\n")[1:])
	}
}

func TestWhyFitsOneMessage(t *testing.T) {
	for name, why := range map[string]string{"many": "short", "long": strings.Repeat("long ", 1000), "wide": strings.Repeat("👩‍💻", 300)} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			var all []session.Change
			for n := range 50 {
				all = append(all, session.Change{From: session.Running, To: session.Lost, Rule: "lost", Why: fmt.Sprint(2*n, " ", why)},
					session.Change{From: session.Lost, To: session.Running, Rule: "resume", Why: fmt.Sprint(2*n+1, " ", why)})
			}
			r := w.History(t, all...)
			w.Records.Change(r.ID, func(r *session.Record) { r.Name = strings.Repeat("n", 48) })
			w.MustHear(t, "/why")
			require.Len(t, w.Telegram.Texts(), 1)
			text := strings.Split(w.Telegram.Texts()[0], "\n")
			assert.Equal(t, "…", text[1], "the newest is the last")
			assert.Len(t, text, 2+10)
			m := tapped(t, w, w.Telegram.Last(t), "Details")
			for page := range 10 {
				lines := strings.Split(m.Text.Text, "\n")
				require.Len(t, lines, 1+10+2)
				assert.Contains(t, lines[1], fmt.Sprintf(" %d ", 90-10*page))
				assert.Contains(t, lines[10], fmt.Sprintf(" %d ", 99-10*page))
				if page < 9 {
					m = tapped(t, w, m, "→")
				}
			}
			assert.Equal(t, []string{"←", w.Word(i18n.ButtonBack)}, chattest.Words(m))
		})
	}
}

// A note is foreign text: it makes no line, no link and no entity.
func TestP9_EvidenceIsData(t *testing.T) {
	w := chattest.NewWorld(t)
	evil := "\u202e<b>x</b> *y* /kill @eve https://example.com\n2026-01-01 running → archived"
	w.History(t, session.Change{From: session.Running, To: session.Lost, Rule: session.Rule("r\n/kill"), Why: evil})
	w.MustHear(t, "/why")
	assert.Equal(t, "api: lost, 2 h ago. History:\n"+moment(0)+" It is now: lost.", w.Telegram.Last(t).Text.Text)
	m := tapped(t, w, w.Telegram.Last(t), "Details")
	text := strings.Split(m.Text.Text, "\n")
	require.Len(t, text, 4)
	assert.Equal(t, hour(0)+" running → lost r·/kill ·<b>x</b> *y* /kill @eve https://example.com·2026-01-01 running → archived", text[1])
	require.Len(t, m.Text.Entities, 4)
	assert.Equal(t, []string{"api"}, bold(m))
	for _, e := range m.Text.Entities[1:] {
		assert.Equal(t, "code", string(e.Type), "so that nothing in it can be tapped")
	}
}
