package bot_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/recovery"
)

// slyWorld is a world in a language, whose sessions, folders, windows and files all have that name.
func slyWorld(t *testing.T, lang string) (d *chattest.FileWorld, r, old session.Record) {
	t.Helper()
	d = chattest.NewFileWorld(t)
	w := d.World
	w.Lang = lang
	w.Again()
	w.Connect(w.Lifecycle, w.Windows)
	dir := filepath.Join(filepath.Dir(d.Dir), chattest.Sly)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	w.Lifecycle.ByWindow = true
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) { // as lifecycle names it, after its folder
		r := session.Record{ID: uuid.New(), Name: filepath.Base(q.Dir), Dir: q.Dir, State: session.Running, Conversation: q.Conversation, Owner: q.Owner, Origin: q.Origin}
		w.Records.Put(r)
		return r, nil
	}
	old, r = w.Session(t, chattest.Sly, session.Archived), w.Session(t, chattest.Sly, session.Running)
	failed := w.Session(t, chattest.Sly, session.CleanupFailed)
	for _, one := range []session.Record{old, r, failed} {
		w.Records.Change(one.ID, func(r *session.Record) {
			r.Dir, r.Usage, r.Binding = dir, &port.Usage{Model: chattest.Sly}, &session.Binding{Window: "@4"}
			r.History = []session.Change{{From: session.Running, To: session.Lost, Rule: session.Rule(chattest.Sly), Why: "in " + dir}}
		})
	}
	window := chattest.AgentWindow(t, "@21", 4123)
	window.Pane.WindowName, window.Pane.Path, window.Pane.Command, window.Agent.Cwd, window.Agent.Pane.WindowName = chattest.Sly, dir, chattest.Sly, dir, chattest.Sly
	shell := chattest.ShellWindow(t, "@22")
	shell.Pane.WindowName, shell.Pane.Path, shell.Pane.Command = chattest.Sly, dir, chattest.Sly
	w.Windows.All = []evidence.Window{window, shell}
	return d, w.Record(t, r.ID), w.Record(t, old.ID)
}

// TestP9_NamesHideNothing: names of sessions, folders, windows, programs and files, in every
// place that shows them, and in every language.
func TestP9_NamesHideNothing(t *testing.T) {
	for _, lang := range i18n.Languages() {
		t.Run(lang, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, r, old := slyWorld(t, lang)
				d.Starts(t)
				w, id := d.World, r.ID.String()
				for _, text := range []string{"/list", "/new " + r.Dir, "/new other " + r.Dir, "/new " + r.Dir + "/none", "/list", "/list " + id, "/why " + id,
					"/why", "/resume", "/resume " + old.ID.String(), "/resume " + id, "/kill " + id, "/done " + id, "/stop " + id, "/kill " + chattest.Sly, "/unknown " + chattest.Sly, "hello"} {
					w.MustHear(t, text)
				}
				d.SlyNews(t, r, old)
				w.AsksFor(t, r, "Write", `{"file_path":"x","content":"x"}`)
				w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
				d.SlyFiles(t, r)
				w.Lost(t, chattest.Sly, session.ClosedReboot)
				w.Lost(t, chattest.Sly, session.ClosedTmux)
				require.NoError(t, w.Recovered(t.Context(), recovery.Report{Notices: []recovery.Notice{{Kind: recovery.Unreadable}}}))
				for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Sent) {
					for _, one := range chattest.Data(m) {
						_ = w.TapButton(t, chattest.Alice, one) // an error is also a sentence
					}
				}
				d.ShowsAll(t)
			})
		})
	}
}
