package chattest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/phase"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/recovery"
)

// NoteKinds are the kinds of news there are, read from their source: a new one must be told
// too.
func NoteKinds(t *testing.T) []lifecycle.NoteKind {
	t.Helper()
	files, err := filepath.Glob("port/news/*.go")
	require.NoError(t, err)
	var kinds []lifecycle.NoteKind
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, ok := spec.Type.(*ast.Ident)
			lit, isText := spec.Values[0].(*ast.BasicLit)
			if ok && isText && kind.Name == "Kind" {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				kinds = append(kinds, lifecycle.NoteKind(text))
			}
			return true
		})
	}
	require.Greater(t, len(kinds), 10)
	return kinds
}

// News is a note with everything that some kind needs. The session is shown in the group, the
// prompt came from Alice's chat.
func (w *World) News(t *testing.T, kind lifecycle.NoteKind) lifecycle.Note {
	t.Helper()
	r := w.Session(t, "api", session.Archived)
	r.Conversation, r.Prompts, r.Binding = InGroup, []string{"1", "2"}, &session.Binding{Window: "@21"}
	e := w.Prompt(t, r, "the prompt", inbox.Typing)
	return lifecycle.Note{Kind: kind, Session: r, Prompt: lifecycle.Prompt{Key: e.Key, Text: e.Text}, Screen: "the screen\n\n",
		Attach: "tmux attach", Now: phase.Now{Phase: phase.APIError, What: "529 Overloaded.", Until: Started}, Receipt: &lifecycle.Receipt{}, Draft: "a draft", Writers: []evidence.Writer{AtDesk(4123)}}
}

// Lost is a session that a recovery has closed and that nobody was told of.
func (w *World) Lost(t *testing.T, name, closed string) session.Record {
	t.Helper()
	r := w.Session(t, name, session.Lost)
	w.Records.Change(r.ID, func(r *session.Record) { r.Closed, r.Unreported = closed, true })
	return w.Record(t, r.ID)
}

// ReportOf is what a recovery did with sessions: nothing failed.
func ReportOf(do recovery.Do, all ...session.Record) (rep recovery.Report) {
	for _, r := range all {
		rep.Results = append(rep.Results, recovery.Result{Action: recovery.Action{Do: do, Record: r.ID}})
	}
	return rep
}

// RecoveredMessage is what is told after a recovery that found nothing by itself.
func (w *World) RecoveredMessage(t *testing.T) outbox.Message {
	t.Helper()
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	return w.Telegram.Last(t)
}

// Unreported are the sessions that nobody was told of.
func (w *World) Unreported() (names []string) {
	for _, r := range w.Records.List() {
		if r.Unreported {
			names = append(names, r.Name)
		}
	}
	return names
}

// Restored are the resumes that were asked for, sorted.
func (w *World) Restored() []string {
	all := slices.DeleteFunc(w.Lifecycle.Done(), func(line string) bool { return !strings.HasPrefix(line, "restore ") })
	slices.Sort(all)
	return all
}

func Restores(all ...session.Record) (lines []string) {
	for _, r := range all {
		lines = append(lines, "restore "+r.ID.String())
	}
	slices.Sort(lines)
	return lines
}

// WentDownWorld has two sessions that a reboot took, one that tmux took, one that was lost
// otherwise, one of another chat, and one that went down long before.
func WentDownWorld(t *testing.T) (w *World, offered []session.Record, m outbox.Message) {
	t.Helper()
	w = NewWorld(t)
	long := w.Lost(t, "long ago", session.ClosedReboot)
	w.Records.Change(long.ID, func(r *session.Record) { r.Unreported = false })
	for name, closed := range map[string]string{"api": session.ClosedReboot, "web": session.ClosedReboot, "docs": session.ClosedTmux} {
		offered = append(offered, w.Lost(t, name, closed))
	}
	w.Lost(t, "by hand", "")
	other := w.Lost(t, "other", session.ClosedReboot)
	w.Records.Change(other.ID, func(r *session.Record) { r.Conversation = InGroup })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	i := slices.IndexFunc(w.Telegram.Posted, func(m outbox.Message) bool { return m.To == AtAlice })
	return w, offered, w.Telegram.Posted[i]
}

// UndoShown is the receipt of a session that was archived so long ago.
func (w *World) UndoShown(t *testing.T, r session.Record, ago time.Duration) outbox.Message {
	t.Helper()
	r.EndedAt = w.Now().Add(-ago)
	return w.ReceiptShown(t, r)
}

func (w *World) Restoring(r session.Record) string {
	return w.Word(i18n.Resuming, i18n.Args{"Name": r.Name, "Dir": "~/" + r.Name})
}

func (w *World) CurrentIs(t *testing.T, want uuid.UUID) {
	t.Helper()
	got, err := w.Chats.Current(AtAlice)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// History makes a session with these changes, an hour apart.
func (w *World) History(t *testing.T, changes ...session.Change) session.Record {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Lost)
	w.Records.Change(r.ID, func(r *session.Record) {
		for n, c := range changes {
			c.At = Started.Add(time.Duration(n) * time.Hour)
			r.History = append(r.History, c)
		}
	})
	return w.Record(t, r.ID)
}
