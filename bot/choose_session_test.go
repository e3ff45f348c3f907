package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/naming"
	"ccbot/internal/session"
)

// Each command about a session takes the beginning of its name, and the end of its id.
func TestNamePrefixIsEnough(t *testing.T) {
	for command, want := range map[string]string{"/stop": "interrupt %s", "/kill": "archive %s as archived", "/done": "archive %s as completed"} {
		for _, byID := range []bool{false, true} {
			w := chattest.NewWorld(t)
			w.Session(t, "beta", session.Running)
			r := w.Session(t, "alpha", session.Running)
			w.Session(t, "alpine", session.Archived)
			what := "Al"
			if byID {
				what = naming.ShortID(r.ID)
			}
			w.MustHear(t, command+" "+what)
			if command != "/stop" {
				require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(w.Telegram.Last(t))[0]))
			}
			assert.Equal(t, []string{fmt.Sprintf(want, r.ID)}, w.Lifecycle.Done(), command)
		}
	}
	w := chattest.NewWorld(t)
	w.Session(t, "alpha", session.Running)
	for _, command := range []string{"/why al", "/status al"} {
		w.MustHear(t, command)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "alpha: ", command)
	}
}

// The session with the full name has ended: a session whose name only starts so is not meant.
func TestFullNameIsNotPrefix(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "alpha", session.Archived)
	w.Session(t, "alphabet", session.Running)
	for _, command := range []string{"/kill alpha", "/stop alpha"} {
		w.MustHear(t, command)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "alpha: archived, ", command)
		assert.Empty(t, w.Lifecycle.Done(), command)
	}
}

// If several sessions match, buttons ask which one. Only the person who sent the command may
// choose.
func TestOfSeveralSessionsThePersonChooses(t *testing.T) {
	for command, want := range map[string]string{"/stop al": "interrupt %s", "/kill al": "archive %s as archived"} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "alpha", session.Running)
		w.Session(t, "alpine", session.Running)
		w.Session(t, "allegro", session.Archived) // does not fit
		w.MustHear(t, command)
		m := w.Telegram.Last(t)
		assert.Equal(t, w.Word(i18n.WhichSession, i18n.Args{"Command": strings.Fields(command)[0]}), m.Text.Text, command)
		assert.Equal(t, []string{"alpine, ~/alpine", "alpha, ~/alpha"}, chattest.Words(m))
		assert.Empty(t, w.Lifecycle.Done())
		w.Again()
		require.NoError(t, w.TapSpot(t, chattest.Bob, chattest.Spots(m)[1]))
		assert.Empty(t, w.Lifecycle.Done(), "another person asked")
		require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[1]))
		assert.Equal(t, "→ alpha", w.Telegram.LastEdit(t).Text.Text)
		if command == "/kill al" {
			assert.Equal(t, w.Named(i18n.KillConfirm, "alpha"), w.Telegram.Last(t).Text.Text, "it asks all the same")
			require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(w.Telegram.Last(t))[0]))
		}
		assert.Equal(t, []string{fmt.Sprintf(want, r.ID)}, w.Lifecycle.Done(), command)
	}
}

// The session may have ended, or be forgotten, when it is chosen.
func TestChosenSessionIsCheckedAgain(t *testing.T) {
	w := chattest.NewWorld(t)
	over, gone := w.Session(t, "alpha", session.Running), w.Session(t, "alpine", session.Running)
	w.MustHear(t, "/stop al")
	m := w.Telegram.Last(t)
	w.Records.Forget(gone.ID)
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.SessionGone))
	assert.Equal(t, []string{"alpha, ~/alpha"}, chattest.Words(w.Telegram.LastEdit(t)))
	w.Records.Change(over.ID, func(r *session.Record) { r.State, r.EndedAt = session.Archived, w.Now() })
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(w.Telegram.LastEdit(t))[0]))
	assert.Equal(t, "alpha: archived, 0 s ago", w.Telegram.Last(t).Text.Text)
	assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Last(t)))
	assert.Empty(t, w.Lifecycle.Done())
}

// /why and /status of an ended session show since when, and offer to restore it.
func TestWhyAndStatusOfEndedSession(t *testing.T) {
	for command, words := range map[string][]string{"/why": {"Resume"}, "/status": {"Resume", "Rename", "Delete record"}} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "alpha", session.Archived)
		w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt = w.Now().Add(-5 * time.Minute) })
		w.MustHear(t, command+" alpha")
		m := w.Telegram.Last(t)
		assert.Contains(t, m.Text.Text, "alpha: archived, 5 min ago", command)
		assert.Equal(t, words, chattest.Words(m), command)
		require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
		assert.Equal(t, chattest.Restores(r), w.Restored(), command)
	}
}

// A command without a name means the current session, even if it has ended.
func TestNamelessCommandReportsEndedSession(t *testing.T) {
	for _, command := range []string{"/stop", "/kill", "/done"} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "alpha", session.Archived)
		w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt = w.Now().Add(-5 * time.Minute) })
		w.MustHear(t, command)
		assert.Equal(t, "alpha: archived, 5 min ago", w.Telegram.Last(t).Text.Text, command)
		assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Last(t)), command)
	}
}

// The buttons of /resume show the folder, and all sessions are reached by pages.
func TestResumeTurnsPages(t *testing.T) {
	w := chattest.NewWorld(t)
	var all []uuid.UUID
	for n := range 20 {
		all = append(all, w.Session(t, fmt.Sprintf("s%d", n), session.Archived).ID)
	}
	slices.Reverse(all)
	w.MustHear(t, "/resume")
	m := w.Telegram.Last(t)
	for _, want := range []struct {
		text string
		last string // of the sessions on the page
		turn []string
	}{
		{"1–8 of 20", "s12, ~/s12, ", []string{"→"}}, {"9–16 of 20", "s4, ~/s4, ", []string{"←", "→"}},
		{"17–20 of 20", "s0, ~/s0, ", []string{"←"}}, {"9–16 of 20", "s4, ~/s4, ", []string{"←", "→"}},
	} {
		assert.Equal(t, chattest.Lines(w.Word(i18n.ResumePick), want.text), m.Text.Text)
		last := len(m.Buttons) - 1
		assert.Contains(t, m.Buttons[last-1][0].Text, want.last)
		assert.Equal(t, want.turn, chattest.Words(outbox.Message{Buttons: m.Buttons[last:]}))
		for _, data := range chattest.Data(m) {
			assert.LessOrEqual(t, len(data), 64)
		}
		if want.last == "s4, ~/s4, " && len(w.Telegram.Edited) > 2 {
			break
		}
		at := slices.IndexFunc(chattest.Words(m), func(word string) bool { return word == want.turn[len(want.turn)-1] })
		require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[at]))
		m = w.Telegram.LastEdit(t)
	}
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Equal(t, []string{"restore " + all[8].String()}, w.Lifecycle.Done())
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
}

// An argument of /new with a slash may be a folder or part of the name: a question asks which.
func TestNewAsksAboutPathWithoutDot(t *testing.T) {
	for _, tt := range []struct{ args, question, folder, name, asFolder, asName string }{
		{"rel proj/api", "proj/api", "~/proj/api", "rel-proj/api", `"rel" in /home/alice/proj/api`, `"rel-proj/api" in /home/alice`},
		{"feature/x", "feature/x", "~/feature/x", "feature/x", `"" in /home/alice/feature/x`, `"feature/x" in /home/alice`},
		{"a “my proj/api x”", "proj/api x", "~/proj/api x", "a-“my-proj/api-x", `"a-“my" in /home/alice/proj/api x`, `"a-“my-proj/api-x" in /home/alice`},
	} {
		for option, want := range []string{tt.asFolder, tt.asName} {
			w := chattest.NewWorld(t)
			w.MustHear(t, "/new "+tt.args)
			m := w.Telegram.Last(t)
			assert.Equal(t, w.Word(i18n.NewUnclear, i18n.Args{"Path": tt.question}), m.Text.Text)
			assert.Equal(t, []string{"Folder " + tt.folder, "Name " + tt.name, "Cancel"}, chattest.Words(m))
			assert.Empty(t, w.Lifecycle.Done())
			w.Again()
			require.NoError(t, w.TapSpot(t, chattest.Bob, chattest.Spots(m)[option]))
			assert.Empty(t, w.Lifecycle.Done(), "another person asked")
			require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[option]))
			assert.Equal(t, []string{"start " + want}, w.Lifecycle.Done())
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		}
	}
}

// A user that is not there is named.
func TestNewInTheHomeOfNobody(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/new api ~nobody-of-this-name")
	assert.Equal(t, w.Word(i18n.PathMissing, i18n.Args{"Path": "~nobody-of-this-name"}), w.Telegram.Last(t).Text.Text)
	assert.Empty(t, w.Lifecycle.Done())
}

// The path that the command names stays while the person chooses.
func TestResumeOfSeveralKeepsThePath(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "alpha", session.Archived)
	r := w.Session(t, "alpine", session.Archived)
	w.MustHear(t, "/resume al /srv")
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(w.Telegram.Last(t))[0]))
	assert.Equal(t, []string{"restore " + r.ID.String() + " in /srv"}, w.Lifecycle.Done())
}

// A minute later /stop would stop another turn than the person saw.
func TestStopChoiceExpiresSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Session(t, "alpha", session.Running)
		w.Session(t, "alpine", session.Running)
		w.MustHear(t, "/stop al")
		m := w.Telegram.Last(t)
		time.Sleep(time.Minute)
		require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
		assert.Empty(t, w.Lifecycle.Done())
	})
}
