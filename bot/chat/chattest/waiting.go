package chattest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Queued is a session that works while prompts with these texts wait.
func (w *World) Queued(t *testing.T, name string, texts ...string) (session.Record, []inbox.Entry) {
	t.Helper()
	r := w.NewCurrentSession(t, name, session.Running)
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWorking}
	var all []inbox.Entry
	for _, text := range texts {
		e := w.Prompt(t, r, text, inbox.Held)
		all = append(all, e)
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, e.Key) })
	}
	return w.Record(t, r.ID), all
}

// ShowsQueue reports under a prompt that it is queued, and shows the list of a queue of more than
// one page, and in another place one of its prompts.
func (w *World) ShowsQueue(t *testing.T) {
	t.Helper()
	var texts []string
	for n := range 20 {
		texts = append(texts, fmt.Sprintf("prompt %d", n))
	}
	r, all := w.Queued(t, "busy", texts...)
	held := news.Held{Why: news.Queued, Prompt: talk.Prompt{Key: all[0].Key, Text: all[0].Text}}
	require.NoError(t, w.SessionNews(t.Context(), r, held))
	w.MustHear(t, "/queue")
	w.Work(t)
	require.NoError(t, w.TapShown(t, Alice, w.LastSent(t), "→"))
	r, _ = w.Queued(t, "busier", "one", "two")
	w.MustHear(t, "/queue")
	w.Work(t)
	require.NoError(t, w.TapShown(t, Alice, w.LastSent(t), "2"))
	require.NoError(t, w.SessionNews(t.Context(), r, news.Requeued{}))
	w.Lifecycle.OnLook = view.Status{}
}
