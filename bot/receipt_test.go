package bot

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func claude(pid int) process.Process {
	return process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid) * 10, Boot: "boot"}, Args: []string{"/opt/bin/claude"}}
}

func ended(pid int, how process.How, age time.Duration) lifecycle.Ending {
	return lifecycle.Ending{Outcome: process.Outcome{Process: claude(pid), How: how, Ended: true, Verified: true}, Age: age}
}

func spared(pid int, reason string) lifecycle.Ending {
	return lifecycle.Ending{Outcome: process.Outcome{Process: claude(pid), Spared: "in English", Reason: reason}}
}

// receiptText is the receipt of an archive as Alice gets it.
func (w *world) receiptText(t *testing.T, r session.Record, receipt lifecycle.Receipt) string {
	t.Helper()
	r.Conversation = atAlice
	r.Prompts = make([]string, receipt.Waiting)
	if len(receipt.Failures) > 0 {
		r.Cleanup = &session.CleanupError{}
	}
	for _, f := range receipt.Failures {
		r.Cleanup.Failures = append(r.Cleanup.Failures, session.CleanupFailure{Kind: string(f.Kind), PID: f.PID, Detail: f.Detail})
	}
	return w.shown(t, lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &receipt}).Text.Text
}

func TestReceiptText(t *testing.T) {
	agent := ended(10, process.HowHangUp, 2*time.Hour)
	gone := ended(10, process.HowAlreadyGone, 0)
	for _, tt := range []struct {
		name    string
		state   session.State
		receipt lifecycle.Receipt
		want    []string
	}{
		{"archived, nothing lived", session.Archived, lifecycle.Receipt{}, []string{"api is archived."}},
		{"the agent had just ended", session.Archived, lifecycle.Receipt{Agent: &gone}, []string{"api is archived."}},
		{"completed", session.Completed, lifecycle.Receipt{Agent: &agent},
			[]string{"api is completed.", "• claude, pid 10, 2 h ended with its window."}},
		{"one leftover and one second writer", session.Archived,
			lifecycle.Receipt{Others: []lifecycle.Ending{ended(4123, process.HowTerm, 2*time.Hour), spared(4130, lifecycle.ReasonSecond)}},
			[]string{"api is archived.",
				"• claude, pid 4123, 2 h ended with TERM.", "• claude, pid 4130 was left alone: opened later or elsewhere, not by me."}},
		{"leftovers", session.Archived,
			lifecycle.Receipt{Agent: &agent, Others: []lifecycle.Ending{ended(11, process.HowTerm, 0), spared(12, "tmux"),
				ended(13, process.HowKill, 0), ended(14, process.HowAlreadyGone, 0), ended(15, process.HowTerm, 3*time.Minute)}},
			[]string{"api is archived.", "• claude, pid 10, 2 h ended with its window.", "• claude, pid 11 ended with TERM.",
				"• claude, pid 12 was left alone: it is tmux itself.", "• claude, pid 13 ended with KILL.", "• claude, pid 15, 3 min ended with TERM."}},
		{"split and waiting", session.Archived, lifecycle.Receipt{Split: true, Waiting: 1},
			[]string{"api is archived.", "What is not mine in its window stays open.",
				"1 message was not typed yet. It waits for the session to come back."}},
		{"adopted", session.Archived, lifecycle.Receipt{Adopted: true}, []string{"api is archived.", "What is not mine in its window stays open."}},
		{"quiet", session.Archived, lifecycle.Receipt{Quiet: 6 * time.Hour, Agent: &agent},
			[]string{"api is archived: nothing has happened for 6 h.", "• claude, pid 10, 2 h ended with its window."}},
		{"not cleaned up", session.CleanupFailed, lifecycle.Receipt{Failures: []lifecycle.Failure{
			{Kind: lifecycle.FailureSurvived, PID: 1, Detail: "x"}, {Kind: lifecycle.FailureTmux, Detail: "y"}, {Kind: lifecycle.FailureTmux, Detail: "z"}},
			Others: []lifecycle.Ending{{Outcome: process.Outcome{Process: claude(1), How: process.HowKill}}, ended(2, process.HowTerm, 0)}},
			[]string{"api is not cleaned up: pid 1 is alive even after KILL; tmux did not prove that its window is closed. " +
				"I go on trying by myself; Retry tries now.", "• claude, pid 2 ended with TERM."}},
		{"not cleaned up, nobody knows what", session.CleanupFailed, lifecycle.Receipt{Failures: []lifecycle.Failure{{Kind: lifecycle.FailureUnknown}}},
			[]string{"api is not cleaned up: nobody can tell whether all of it has ended. I go on trying by myself; Retry tries now."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			assert.Equal(t, lines(tt.want...), w.receiptText(t, session.Record{Name: "api", State: tt.state}, tt.receipt))
		})
	}
}

func TestALongReceiptCountsTheRest(t *testing.T) {
	w := newWorld(t)
	var receipt lifecycle.Receipt
	for pid := range 200 {
		receipt.Others = append(receipt.Others, spared(pid+1, lifecycle.ReasonSecond))
	}
	text := w.receiptText(t, session.Record{Name: "api", State: session.Archived}, receipt)
	assert.Contains(t, text, "and 194 more")
	assert.Less(t, len(text), 1000)
}

// consts reads the values of a package's constants whose name begins with prefix, so that a new one
// gets its sentence.
func consts(t *testing.T, dir, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var values []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				values = append(values, value)
			}
			return true
		})
	}
	require.NotEmpty(t, values, "%s %s", dir, prefix)
	return values
}

// Every code that another package may give has a sentence in every language.
func TestEveryCodeHasASentence(t *testing.T) {
	w := newWorld(t)
	var keys []i18n.Key
	for _, code := range append(consts(t, "../lifecycle", "Reason"), append(consts(t, "../internal/process", "Reason"),
		consts(t, "../internal/process", "Guard")...)...) {
		keys = append(keys, i18n.ReasonKey(code))
	}
	for _, kind := range consts(t, "../lifecycle", "Failure") {
		keys = append(keys, i18n.FailureKey(kind))
	}
	for _, source := range consts(t, "../internal/process", "Source") {
		keys = append(keys, i18n.SourceKey(source))
	}
	for _, fault := range consts(t, "../internal/transcript", "Fault") {
		keys = append(keys, i18n.FaultKey(fault))
	}
	for _, how := range consts(t, "../internal/process", "How") {
		keys = append(keys, i18n.HowKey(how))
	}
	for _, state := range session.States() {
		keys = append(keys, i18n.StateKey(string(state)))
	}
	for _, lang := range i18n.Languages() {
		for _, key := range keys {
			assert.NotEqual(t, string(key), w.Words.For(lang).Say(key), "%s %s", lang, key)
		}
	}
}

func TestP3_ReceiptOffersWhatFits(t *testing.T) {
	end := started.Add(time.Hour)
	for _, tt := range []struct {
		name    string
		state   session.State
		receipt lifecycle.Receipt
		word    i18n.Key
		does    string
		later   string // the same more than a minute after the end
	}{
		{"archived", session.Archived, lifecycle.Receipt{}, i18n.ButtonUndo, "restore %s", ""},
		{"completed", session.Completed, lifecycle.Receipt{}, i18n.ButtonUndo, "restore %s", ""},
		{"quiet", session.Archived, lifecycle.Receipt{Quiet: time.Hour}, i18n.ButtonRestore, "restore %s", "restore %s"},
		{"not clean", session.CleanupFailed, lifecycle.Receipt{}, i18n.ButtonRetry, "archive %s as archived", "archive %s as archived"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for after, does := range map[time.Duration]string{time.Minute: tt.does, 61 * time.Second: tt.later} {
				w := newWorld(t)
				w.Now = func() time.Time { return end.Add(after) }
				r := w.session(t, "api", tt.state)
				r.EndedAt = end
				require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &tt.receipt}))
				assert.Equal(t, w.wordsOf(tt.word), words(w.sender.last(t)))
				require.NoError(t, w.tapShown(t, alice, w.sender.last(t), tt.word))
				assert.Equal(t, strings.ReplaceAll(does, "%s", r.ID.String()), strings.Join(w.sessions.done(), "\n"), after)
			}
		})
	}
}

// notCleanShown is the receipt of a session that is not cleaned up, with [Retry].
func (w *world) notCleanShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	r.State = session.CleanupFailed
	return w.shown(t, lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r,
		Receipt: &lifecycle.Receipt{}})
}

func TestP3_RetryTriesAgain(t *testing.T) {
	for _, tt := range []struct {
		name        string
		final, want session.State
	}{
		{"as it was meant", session.Completed, session.Completed},
		{"an edited file", "", session.Archived},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.CleanupFailed)
			m := w.notCleanShown(t, r)
			w.records.change(r.ID, func(r *session.Record) { r.Final, r.Conversation = tt.final, inGroup })
			w.again()
			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonRetry), "any allowed person may, after a restart too")
			assert.Equal(t, []string{"move " + r.ID.String() + " to 7", "archive " + r.ID.String() + " as " + string(tt.want)}, w.sessions.done())
			assert.Equal(t, []string{"answer query: " + w.word(i18n.Retrying)}, w.sender.done(), "the receipt comes as news")
		})
	}
}

func TestARetryThatIsOverIsStale(t *testing.T) {
	for _, state := range []session.State{session.Archived, session.Running, session.Stopping} {
		w := newWorld(t)
		r := w.session(t, "api", state)
		require.NoError(t, w.tapShown(t, alice, w.notCleanShown(t, r), i18n.ButtonRetry))
		assert.Empty(t, w.sessions.done(), state)
		assert.Equal(t, 1, w.sender.spent)
	}
	w := newWorld(t)
	r := w.session(t, "api", session.CleanupFailed)
	w.sessions.archive = func(uuid.UUID) error { return errors.New("no") }
	require.NoError(t, w.tapShown(t, alice, w.notCleanShown(t, r), i18n.ButtonRetry))
	assert.Equal(t, []string{w.word(i18n.InternalError)}, w.sender.texts())
}

// A session that came back and is not cleaned up again has another launch, of which people have seen
// nothing under the older buttons.
func TestP2_ARetryIsForTheLaunchThatWasShown(t *testing.T) {
	for name, show := range map[string]func(t *testing.T, w *world, r session.Record) outbox.Message{
		"receipt": func(t *testing.T, w *world, r session.Record) outbox.Message { return w.notCleanShown(t, r) },
		"list": func(t *testing.T, w *world, _ session.Record) outbox.Message {
			w.mustHear(t, "/list")
			return w.sender.last(t)
		},
		"link": func(t *testing.T, w *world, _ session.Record) outbox.Message {
			w.mustHear(t, "/resume api")
			return w.sender.last(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.CleanupFailed)
			launch := func(at time.Time) {
				w.records.change(r.ID, func(r *session.Record) { r.StartedAt = at })
				r = w.record(t, r.ID)
				w.sessions.forget()
			}
			launch(started)
			old := show(t, w, r)
			for _, data := range data(old) {
				assert.LessOrEqual(t, len(data), 64)
			}
			launch(started.Add(time.Nanosecond))
			require.NoError(t, w.tapSpot(t, alice, spots(old)[0]))
			assert.Empty(t, w.sessions.done())
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))

			fresh := show(t, w, r)
			w.sessions.forget()
			require.NoError(t, w.tapSpot(t, alice, spots(fresh)[0]))
			assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.sessions.done())
		})
	}
	w := newWorld(t)
	r := w.session(t, "api", session.CleanupFailed)
	require.NoError(t, w.tap(t, alice, "try:"+ref(r.ID)))
	assert.Empty(t, w.sessions.done(), "a link that names no launch")
}

func TestWhatIsNotCleanIsToldByItsRecord(t *testing.T) {
	w := newWorld(t)
	r := session.Record{Name: "api"}
	assert.Contains(t, w.NotCleanText(host.View(r)), w.word(i18n.FailureSome), "a file that was edited")
	r.Cleanup = &session.CleanupError{Reason: "in English", Processes: []process.Identity{{PID: 5}, {PID: 6}}}
	assert.Contains(t, w.NotCleanText(host.View(r)), w.word(i18n.FailureSome))
	assert.NotContains(t, w.NotCleanText(host.View(r)), "in English")
}

func TestP3_TheRecordSaysTheSameAsTheReceipt(t *testing.T) {
	w := newWorld(t)
	r := session.Record{Name: "api", State: session.CleanupFailed, Cleanup: &session.CleanupError{Reason: "in English"}}
	var receipt lifecycle.Receipt
	kinds := append(consts(t, "../lifecycle", "Failure"), "of_a_later_day")
	for i, kind := range kinds {
		receipt.Failures = append(receipt.Failures, lifecycle.Failure{Kind: lifecycle.FailureKind(kind), PID: i, Detail: "in English"})
		r.Cleanup.Failures = append(r.Cleanup.Failures, session.CleanupFailure{Kind: kind, PID: i, Detail: "in English"})
	}
	assert.Equal(t, w.receiptText(t, r, receipt), w.NotCleanText(host.View(r)))
	assert.NotContains(t, w.NotCleanText(host.View(r)), "of_a_later_day")

	r.Cleanup.Failures = []session.CleanupFailure{{Kind: "unknown", PID: 5, Detail: "it may write the session"}, {Kind: "later", PID: 6, Detail: "odd"}}
	assert.Contains(t, w.NotCleanText(host.View(r)), "pid 5: I cannot tell whether it writes this session; process 6: odd.")
}

func TestProcessText(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		name string
		p    process.Process
		age  time.Duration
		want string
	}{
		{"everything", process.Process{Identity: process.Identity{PID: 1}, Args: []string{"/x/claude", "--resume"}}, time.Hour, "claude, pid 1, 1 h"},
		{"nothing", process.Process{Identity: process.Identity{PID: 1}}, 0, "pid 1"},
		{"no arguments", process.Process{Identity: process.Identity{PID: 1}, Exe: "/usr/bin/node", Comm: "x"}, 0, "node, pid 1"},
		{"only a short name", process.Process{Identity: process.Identity{PID: 1}, Comm: "MainThread"}, 0, "MainThread, pid 1"},
		{"an empty first argument", process.Process{Identity: process.Identity{PID: 1}, Args: []string{""}, Comm: "x"}, 0, "x, pid 1"},
		{"a name that turns the line around", process.Process{Identity: process.Identity{PID: 1}, Args: []string{"cla\u202eude\nx"}}, 0, "cla·ude·x, pid 1"},
		{"a long name", process.Process{Identity: process.Identity{PID: 1}, Args: []string{strings.Repeat("x", 30) + "end"}}, 0,
			"…" + strings.Repeat("x", 20) + "end, pid 1"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, w.ProcessText(host.Process(tt.p, tt.age))) })
	}
}
