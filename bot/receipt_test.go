package bot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port/news"
)

// TestReceiptQuotesQueuedTexts: the first words of texts that stay queued are quoted, and those of
// another chat are not.
func TestReceiptQuotesQueuedTexts(t *testing.T) {
	for _, over := range []news.News{news.Stopped{}, news.Ended{}} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Archived)
		one, two := w.Prompt(t, r, "deploy it\nand watch", inbox.Held), w.Prompt(t, r, chattest.Long(100), inbox.Held)
		other := w.Prompt(t, r, "secret", inbox.Held)
		require.NoError(t, w.Inbox.Change(other.Key, func(e *inbox.Entry) error { e.Conversation = chattest.InGroup; return nil }))
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{one.Key, two.Key, other.Key} })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), over))
		text := w.Telegram.Last(t).Text.Text
		assert.Contains(t, text, w.Word(i18n.ReceiptWaiting, i18n.Args{"Count": 3})+"\n“deploy it …”, “word00000 ")
		assert.Less(t, len(text), 250)
		assert.NotContains(t, text, "secret")
	}
}

func TestReceiptText(t *testing.T) {
	agent := chattest.Ended(10, process.HowHangUp, 2*time.Hour)
	polite, forced := chattest.Ended(10, process.HowTerm, 2*time.Hour), chattest.Ended(10, process.HowKill, 2*time.Hour)
	gone := chattest.Ended(10, process.HowAlreadyGone, 0)
	for _, tt := range []struct {
		name    string
		state   session.State
		receipt ending.Receipt
		want    []string
	}{
		{"archived, nothing lived", session.Archived, ending.Receipt{}, []string{"api is archived."}},
		{"the agent had just ended", session.Archived, ending.Receipt{Agent: &gone}, []string{"api is archived."}},
		{"completed", session.Completed, ending.Receipt{Agent: &agent},
			[]string{"api is archived as done."}},
		{"an ordinary end", session.Archived, ending.Receipt{Agent: &agent}, []string{"api is archived."}},
		{"after TERM", session.Archived, ending.Receipt{Agent: &polite}, []string{"api is archived."}},
		{"by force", session.Archived, ending.Receipt{Agent: &forced},
			[]string{"api is archived.", "• claude (pid 10, 2 h) ended by force (KILL)."}},
		{"a pane of a person's stays", session.Archived, ending.Receipt{Agent: &agent, Split: true},
			[]string{"api is archived.", "• claude (pid 10, 2 h) closed with its window.", "Everything else in its window stays open."}},
		{"one leftover and one second writer", session.Archived,
			ending.Receipt{Others: []ending.Ending{chattest.Ended(4123, process.HowTerm, 2*time.Hour), chattest.Spared(4130, ending.ReasonSecond)}},
			[]string{"api is archived.",
				"• claude (pid 4123, 2 h) ended on request (TERM).", "• claude (pid 4130) still runs: somebody else opened it."}},
		{"leftovers", session.Archived,
			ending.Receipt{Agent: &agent, Others: []ending.Ending{chattest.Ended(11, process.HowTerm, 0), chattest.Spared(12, "tmux"),
				chattest.Ended(13, process.HowKill, 0), chattest.Ended(14, process.HowAlreadyGone, 0), chattest.Ended(15, process.HowTerm, 3*time.Minute)}},
			[]string{"api is archived.", "• claude (pid 10, 2 h) closed with its window.", "• claude (pid 11) ended on request (TERM).",
				"• claude (pid 12) still runs: it is tmux itself.", "• claude (pid 13) ended by force (KILL).", "• claude (pid 15, 3 min) ended on request (TERM)."}},
		{"split and waiting", session.Archived, ending.Receipt{Split: true},
			[]string{"api is archived.", "Everything else in its window stays open.",
				"1 message is still queued; it is sent when you resume the session."}},
		{"adopted", session.Archived, ending.Receipt{Adopted: true}, []string{"api is archived.", "Everything else in its window stays open."}},
		{"quiet", session.Archived, ending.Receipt{Quiet: 6 * time.Hour, Agent: &agent},
			[]string{"api was idle for 6 h, so it is archived."}},
		{"not cleaned up", session.CleanupFailed, ending.Receipt{Failures: []ending.Failure{
			{Kind: ending.FailureSurvived, ID: process.Identity{PID: 1}, Detail: "x"}, {Kind: ending.FailureTmux, Detail: "y"}, {Kind: ending.FailureTmux, Detail: "z"}},
			Others: []ending.Ending{{Outcome: process.Outcome{Process: chattest.Claude(1), How: process.HowKill}}, chattest.Ended(2, process.HowTerm, 0)}},
			[]string{"api has not fully ended: pid 1 still runs, even after KILL; tmux did not confirm that its window is closed. " +
				"It is retried automatically; “Retry” does it now.", "• claude (pid 2) ended on request (TERM)."}},
		{"not cleaned up, nobody knows what", session.CleanupFailed, ending.Receipt{Failures: []ending.Failure{{Kind: ending.FailureUnknown}}},
			[]string{"api has not fully ended: it is not certain that everything has ended. It is retried automatically; “Retry” does it now."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := session.Record{Name: "api", State: tt.state}
			if strings.HasSuffix(tt.name, "waiting") {
				r.Prompts = []string{"one"}
			}
			assert.Equal(t, chattest.Lines(tt.want...), w.ReceiptText(t, r, tt.receipt))
		})
	}
}

func TestLongReceiptCountsRest(t *testing.T) {
	w := chattest.NewWorld(t)
	var receipt ending.Receipt
	for pid := range 200 {
		receipt.Others = append(receipt.Others, chattest.Spared(pid+1, ending.ReasonSecond))
	}
	text := w.ReceiptText(t, session.Record{Name: "api", State: session.Archived}, receipt)
	assert.Contains(t, text, "and 194 more")
	assert.Less(t, len(text), 1000)
}

func TestP3_ReceiptOffersWhatFits(t *testing.T) {
	end := chattest.Started.Add(time.Hour)
	for _, tt := range []struct {
		name    string
		state   session.State
		receipt ending.Receipt
		word    i18n.Key
		does    string
	}{
		{"archived", session.Archived, ending.Receipt{}, i18n.ButtonUndo, "restore %s"},
		{"completed", session.Completed, ending.Receipt{}, i18n.ButtonUndo, "restore %s"},
		{"quiet", session.Archived, ending.Receipt{Quiet: time.Hour}, i18n.ButtonResume, "restore %s"},
		{"not clean", session.CleanupFailed, ending.Receipt{}, i18n.ButtonRetry, "archive %s as archived"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, after := range []time.Duration{time.Minute, 24 * time.Hour} {
				w := chattest.NewWorld(t)
				w.Now = func() time.Time { return end.Add(after) }
				r := w.Session(t, "api", tt.state)
				r.EndedAt = end
				require.NoError(t, w.SessionNews(t.Context(), r, tt.receipt))
				assert.Equal(t, w.WordsOf(tt.word), chattest.Words(w.Telegram.Last(t)))
				require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), tt.word))
				assert.Equal(t, strings.ReplaceAll(tt.does, "%s", r.ID.String()), strings.Join(w.Lifecycle.Done(), "\n"), after)
			}
		})
	}
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
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.CleanupFailed)
			m := w.NotCleanShown(t, r)
			w.Records.Change(r.ID, func(r *session.Record) { r.Final, r.Conversation = tt.final, chattest.InGroup })
			w.Again()
			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonRetry), "any allowed person may, after a restart too")
			assert.Equal(t, []string{"archive " + r.ID.String() + " as " + string(tt.want)}, w.Lifecycle.Done())
			assert.Equal(t, []string{"answer query: " + w.Word(i18n.Retrying)}, w.Telegram.Done(), "the receipt comes as news")
		})
	}
}

func TestFinishedRetryIsStale(t *testing.T) {
	for _, state := range []session.State{session.Archived, session.Running, session.Stopping} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", state)
		require.NoError(t, w.TapShown(t, chattest.Alice, w.NotCleanShown(t, r), i18n.ButtonRetry))
		assert.Empty(t, w.Lifecycle.Done(), state)
		assert.Equal(t, 1, w.Telegram.Spent)
	}
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.CleanupFailed)
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return errors.New("no") }
	require.NoError(t, w.TapShown(t, chattest.Alice, w.NotCleanShown(t, r), i18n.ButtonRetry))
	assert.Equal(t, []string{w.Word(i18n.InternalError)}, w.Telegram.Texts())
}

// A restored session that needs another cleanup has a new launch, which the older buttons do not
// show.
func TestP2_RetryIsForShownLaunch(t *testing.T) {
	for name, show := range map[string]func(t *testing.T, w *chattest.World, r session.Record) outbox.Message{
		"receipt": func(t *testing.T, w *chattest.World, r session.Record) outbox.Message { return w.NotCleanShown(t, r) },
		"list": func(t *testing.T, w *chattest.World, _ session.Record) outbox.Message {
			w.MustHear(t, "/list")
			return w.Telegram.Last(t)
		},
		"link": func(t *testing.T, w *chattest.World, _ session.Record) outbox.Message {
			w.MustHear(t, "/resume api")
			return w.Telegram.Last(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.CleanupFailed)
			launch := func(at time.Time) {
				w.Records.Change(r.ID, func(r *session.Record) { r.StartedAt = at })
				r = w.Record(t, r.ID)
				w.Lifecycle.Forget()
			}
			launch(chattest.Started)
			old := show(t, w, r)
			for _, data := range chattest.Data(old) {
				assert.LessOrEqual(t, len(data), 64)
			}
			launch(chattest.Started.Add(time.Nanosecond))
			require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(old)[0]))
			assert.Empty(t, w.Lifecycle.Done())
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))

			fresh := show(t, w, r)
			w.Lifecycle.Forget()
			require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(fresh)[0]))
			assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.Lifecycle.Done())
		})
	}
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.CleanupFailed)
	require.NoError(t, w.TapButton(t, chattest.Alice, "try:"+chattest.Ref(r.ID)))
	assert.Empty(t, w.Lifecycle.Done(), "a link that names no launch")
}

func TestCleanupFailureComesFromRecord(t *testing.T) {
	w := chattest.NewWorld(t)
	r := session.Record{Name: "api"}
	assert.Contains(t, w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, w.Word(i18n.FailureSome), "a file that was edited")
	r.Cleanup = &session.CleanupError{Reason: "in English", Processes: []process.Identity{{PID: 5}, {PID: 6}}}
	assert.Contains(t, w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, w.Word(i18n.FailureSome))
	assert.NotContains(t, w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, "in English")
}

func TestP3_RecordMatchesReceipt(t *testing.T) {
	w := chattest.NewWorld(t)
	r := session.Record{Name: "api", State: session.CleanupFailed, Closing: session.Closing{Cleanup: &session.CleanupError{Reason: "in English"}}}
	var receipt ending.Receipt
	kinds := append(chattest.Consts(t, "../lifecycle/ending", "Failure"), "of_a_later_day")
	for i, kind := range kinds {
		receipt.Failures = append(receipt.Failures, ending.Failure{Kind: ending.FailureKind(kind), ID: process.Identity{PID: i}, Detail: "in English"})
		r.Cleanup.Failures = append(r.Cleanup.Failures, session.CleanupFailure{Kind: kind, PID: i, Detail: "in English"})
	}
	assert.Equal(t, w.ReceiptText(t, r, receipt), w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text)
	assert.NotContains(t, w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, "of_a_later_day")

	r.Cleanup.Failures = []session.CleanupFailure{{Kind: "unknown", PID: 5, Detail: "it may write the session"}, {Kind: "later", PID: 6, Detail: "odd"}}
	assert.Contains(t, w.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text, "pid 5 may still belong to it; process 6: odd.")
}

func TestProcessText(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, tt := range []struct {
		name string
		p    process.Process
		age  time.Duration
		want string
	}{
		{"everything", process.Process{Identity: process.Identity{PID: 1}, Args: []string{"/x/claude", "--resume"}}, time.Hour, "claude (pid 1, 1 h)"},
		{"nothing", process.Process{Identity: process.Identity{PID: 1}}, 0, "pid 1"},
		{"no arguments", process.Process{Identity: process.Identity{PID: 1}, Exe: "/usr/bin/node", Comm: "x"}, 0, "node (pid 1)"},
		{"only a short name", process.Process{Identity: process.Identity{PID: 1}, Comm: "MainThread"}, 0, "MainThread (pid 1)"},
		{"an empty first argument", process.Process{Identity: process.Identity{PID: 1}, Args: []string{""}, Comm: "x"}, 0, "x (pid 1)"},
		{"a name that turns the line around", process.Process{Identity: process.Identity{PID: 1}, Args: []string{"cla\u202eude\nx"}}, 0, "cla·ude·x (pid 1)"},
		{"a long name", process.Process{Identity: process.Identity{PID: 1}, Args: []string{strings.Repeat("x", 30) + "end"}}, 0,
			"…" + strings.Repeat("x", 20) + "end (pid 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, w.In(chattest.AtAlice).ProcessText(host.Process(tt.p, tt.age)))
		})
	}
}
