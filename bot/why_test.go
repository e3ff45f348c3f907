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
	return chattest.Started.Add(time.Duration(n) * time.Hour).Local().Format(time.DateTime)
}

func TestWhy(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.History(t,
		session.Change{To: session.Starting, Rule: "start", Why: "a new session was asked for"},
		session.Change{From: session.Starting, To: session.Running, Why: "without a rule"},
		session.Change{From: session.Running, To: session.Running, Rule: "recovery.reattach"},
		session.Change{From: session.Running, To: session.Lost, Rule: "recovery.mark_lost", Why: "pane %3 is gone"})
	for _, asked := range []string{"/why", "/why api", "/why API", "/why " + naming.ShortID(r.ID)} {
		w.MustHear(t, asked)
		assert.Equal(t, chattest.Lines("api: lost, 2 h ago. History:",
			hour(0)+" → starting: a new session (a new session was asked for)",
			hour(1)+" starting → running (without a rule)",
			hour(2)+" • checked after a start of ccbot",
			hour(3)+" running → lost: checked after a start of ccbot (pane %3 is gone)"), w.Telegram.Last(t).Text.Text, asked)
		assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Last(t)))
	}
	w.MustHear(t, "/why none such")
	assert.Equal(t, w.Named(i18n.NoSuchSession, "none such"), w.Telegram.Last(t).Text.Text)

	w = chattest.NewWorld(t)
	w.MustHear(t, "/why")
	assert.Equal(t, w.Word(i18n.NoSession), w.Telegram.Last(t).Text.Text)
	w.Session(t, "web", session.Running)
	w.MustHear(t, "/why web")
	assert.Equal(t, "web: running. There is no history.", w.Telegram.Last(t).Text.Text)
}

func TestWhyFitsOneMessage(t *testing.T) {
	for name, why := range map[string]string{"many": "short", "long": strings.Repeat("long ", 1000), "wide": strings.Repeat("👩‍💻", 300)} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			var all []session.Change
			for n := range 100 {
				all = append(all, session.Change{From: session.Running, To: session.Running, Rule: "recovery.reattach", Why: fmt.Sprint(n, " ", why)})
			}
			r := w.History(t, all...)
			w.Records.Change(r.ID, func(r *session.Record) { r.Name = strings.Repeat("n", 48) })
			w.MustHear(t, "/why")
			require.Len(t, w.Telegram.Texts(), 1)
			text := strings.Split(w.Telegram.Texts()[0], "\n")
			shown := len(text) - 2
			assert.Equal(t, w.Word(i18n.WhyMore, i18n.Args{"Count": 100 - shown, "Command": "ccbot why " + r.ID.String()}), text[1])
			assert.Contains(t, text[len(text)-1], "(99 ", "the newest is the last")
			assert.Contains(t, text[2], fmt.Sprintf("(%d ", 100-shown))
			assert.Equal(t, 10, shown)
		})
	}
}

// What was noted is foreign text: it makes no line, no link and no entity of its own.
func TestP9_EvidenceIsData(t *testing.T) {
	w := chattest.NewWorld(t)
	evil := "\u202e<b>x</b> *y* /kill @eve https://example.com\n2026-01-01 running → archived"
	w.History(t, session.Change{From: session.Running, To: session.Lost, Rule: session.Rule("r\n/kill"), Why: evil})
	w.MustHear(t, "/why")
	m := w.Telegram.Last(t)
	text := strings.Split(m.Text.Text, "\n")
	require.Len(t, text, 2)
	assert.Equal(t, hour(0)+" running → lost (·<b>x</b> *y* /kill @eve https://example.com·2026-01-01 running → archived)", text[1])
	require.Len(t, m.Text.Entities, 2)
	assert.Equal(t, []string{"api"}, bold(m))
	for _, e := range m.Text.Entities[1:] {
		assert.Equal(t, "code", string(e.Type), "so that nothing in it can be tapped")
	}
}

func TestWhyIsAboutTheSessionThatGoesOn(t *testing.T) {
	w := chattest.NewWorld(t)
	source, _ := w.Transferred(t, "api")
	for _, name := range []string{source.ID.String(), "api"} {
		w.MustHear(t, "/why "+name)
		assert.Equal(t, "api: running. There is no history.", w.Telegram.Last(t).Text.Text)
	}
}
