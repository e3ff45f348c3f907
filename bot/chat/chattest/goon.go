package chattest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/bot/report"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/recovery"
)

// GoOn is the prompt for an interrupted session.
const GoOn = "Look at what is done, then go on."

// ResumeContinue lets interrupted sessions continue at a start.
const ResumeContinue = report.ResumeContinue

// CutShort is a session that a recovery has closed, whose agent was at work.
func (w *World) CutShort(t *testing.T, name, closed string) session.Record {
	t.Helper()
	r := w.Lost(t, name, closed)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Launch = &session.Launch{PermissionMode: "ask"}
		r.StartedAt = Started
		r.Interruption = &session.Interruption{At: Started, Step: "make test", TasksDone: 3, TasksTotal: 5}
	})
	return w.Record(t, r.ID)
}

// sayInterruptions causes each report of interrupted work, and continues the work.
func (w *World) sayInterruptions(t *testing.T) {
	t.Helper()
	for _, what := range []string{ResumeContinue, ResumeAsk} {
		w.SetResumeOnStart(what)
		r := w.CutShort(t, "cut", session.ClosedReboot)
		waits := w.CutShort(t, "waits", "")
		w.Records.Change(waits.ID, func(r *session.Record) { r.Interruption.Waited = true })
		require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
		w.MustHear(t, "/why "+waits.ID.String())
		shown := w.Telegram.Last(t)
		for range 2 {
			require.NoError(t, w.TapShown(t, Alice, shown, i18n.ButtonContinue))
		}
		r.Exit = &session.Exit{Known: true, Status: 3}
		require.NoError(t, w.SessionNews(t.Context(), r, news.Ended{}))
		r.State = session.Restoring
		require.NoError(t, w.SessionNews(t.Context(), r, news.Ready{}))
		again := w.CutShort(t, "again", "")
		w.MustHear(t, "/why "+again.ID.String())
		shown = w.Telegram.Last(t)
		w.Records.Change(again.ID, func(r *session.Record) { r.Interruption.Followed = true })
		require.NoError(t, w.TapShown(t, Alice, shown, i18n.ButtonContinue))
	}
}
