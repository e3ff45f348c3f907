package chattest

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// SecondWriter is the news of other writers where the session runs.
const SecondWriter = "OtherWriters of a running session"

// NewsNames returns all types of news, read from their source: a new type needs a report. The news
// of a waiting prompt have a name for each reason.
func NewsNames(t *testing.T) []string {
	t.Helper()
	names := []string{SecondWriter}
	for _, name := range []string{"../port/news/news.go", "../port/news/parts.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if kind := n.Name.Name; strings.HasSuffix(name, "news.go") && kind != "News" && kind != "Piece" && kind != "Held" {
					names = append(names, kind)
				}
			case *ast.ValueSpec:
				text, err := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				names = append(names, text)
			}
			return true
		})
	}
	require.Greater(t, len(names), 20)
	return names
}

// Sample holds the subjects of a test's news.
type Sample struct {
	Prompt        talk.Prompt
	Screen, Draft string
	Writer        evidence.Writer
}

// News returns the news of a name. News of a running session come with no running one.
func (s Sample) News(t *testing.T, name string) news.News {
	t.Helper()
	now := talk.Activity{Phase: talk.PhaseAPIError, What: "529 Overloaded.", Until: Started}
	at := news.Terminal{Screen: s.Screen, Attach: "tmux attach"}
	all := map[string]news.News{"Ready": news.Ready{}, "NotReporting": news.NotReporting{Waited: lifecycle.StartNotice, Terminal: at},
		"Dialog": news.Dialog{Terminal: at}, "DialogGone": news.DialogGone{}, "Ended": news.Ended{Screen: s.Screen},
		"Failed": news.Failed{Screen: s.Screen}, "Lost": news.Lost{}, "Stopped": ending.Receipt{}, "Typed": news.Typed{Prompt: s.Prompt},
		"Delivered": news.Delivered{Prompt: s.Prompt}, "TakenBack": news.TakenBack{Prompt: s.Prompt}, "Unproven": news.Unproven{Prompt: s.Prompt},
		"DraftCleared": news.DraftCleared{Draft: s.Draft}, "OtherWriters": lifecycle.OtherWriters{s.Writer},
		SecondWriter: lifecycle.OtherWriters{s.Writer}, "Retrying": news.Retrying{Now: now}, "Transcript": news.Transcript{}, "Doing": news.Doing{},
		"Switched": news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModePlan, Waited: true},
		"Moved":    news.Moved{}, "Spared": news.Spared{Quiet: time.Hour, Schedules: 1}, "Renamed": news.Renamed{}, "Transferred": news.Transferred{}, "Opened": news.Opened{}, "FileOffered": news.FileOffered{ID: uuid.New(), Path: "/none"}, "Requeued": news.Requeued{}, "Scheduled": news.Scheduled{Schedule: port.Schedule{When: "at 09:00", Text: "run"}}, "Looped": news.Looped{Loop: port.Loop{State: port.LoopRunning, Step: port.LoopTurn, Check: "make test"}}}
	for _, why := range []news.Wait{news.Queued, news.HeldDraft, news.HeldBash, news.HeldUnknown, news.HeldScroll, news.HeldKeys,
		news.HeldSync, news.HeldSmall, news.HeldBudget, news.HeldCosts, news.HeldDialog} {
		all[string(why)] = news.Held{Why: why, Prompt: s.Prompt, Now: now}
	}
	require.NotNil(t, all[name], "make a sample of %s", name)
	return all[name]
}

// TellsAll reports all news of r; news of an ended session are old's.
func (w *World) TellsAll(t *testing.T, r, old session.Record, s Sample) {
	t.Helper()
	for _, name := range NewsNames(t) {
		of := r
		if name == "OtherWriters" || name == "Stopped" {
			of = old
		}
		require.NoError(t, w.SessionNews(t.Context(), of, s.News(t, name)))
	}
}

// News are the news of a name, with the session that they are of. The session is shown in the
// group, the prompt came from Alice's chat.
func (w *World) News(t *testing.T, name string) (session.Record, news.News) {
	t.Helper()
	r := w.Session(t, "api", session.Archived)
	r.Conversation, r.Prompts, r.Binding = InGroup, []string{"1", "2"}, &session.Binding{Window: "@21"}
	if name == SecondWriter || name == "Spared" {
		r.State = session.Running
	}
	state := inbox.Typing
	if name == string(news.HeldDialog) {
		state = inbox.Held
	}
	e := w.Prompt(t, r, "the prompt", state)
	return r, Sample{Prompt: talk.Prompt{Key: e.Key, Text: e.Text}, Screen: "the screen\n\n", Draft: "a draft", Writer: InTerminal(4123)}.News(t, name)
}

// Lost makes a session that a recovery has closed, without a report.
func (w *World) Lost(t *testing.T, name, closed string) session.Record {
	t.Helper()
	r := w.Session(t, name, session.Lost)
	w.Records.Change(r.ID, func(r *session.Record) { r.ClosedReason, r.Unreported = closed, true })
	return w.Record(t, r.ID)
}

// ReportOf is the report of a recovery's action on sessions: nothing failed.
func ReportOf(do lifecycle.Do, all ...session.Record) (rep recovery.Report) {
	for _, r := range all {
		rep.Results = append(rep.Results, recovery.Result{Action: recovery.Action{Do: do, Record: r.ID}})
	}
	return rep
}

// RecoveredMessage returns the message after a recovery that found nothing by itself.
func (w *World) RecoveredMessage(t *testing.T) outbox.Message {
	t.Helper()
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	return w.Telegram.Last(t)
}

// Unreported returns the sessions without a report.
func (w *World) Unreported() (names []string) {
	for _, r := range w.Records.List() {
		if r.Unreported {
			names = append(names, r.Name)
		}
	}
	return names
}

// Restored returns the requested resumes, sorted.
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

// UndoShown returns the receipt of a session whose archive is ago old.
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
	got := w.Chats.Current(AtAlice)
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
