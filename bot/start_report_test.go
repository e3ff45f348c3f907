package bot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
	"ccbot/recovery"
)

func TestReportHasEssentials(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, name := range []string{"api", "web"} {
		w.Lost(t, name, session.ClosedReboot)
	}
	w.Lost(t, "docs", session.ClosedTmux)
	w.Lost(t, "by hand", "")
	old := w.Lost(t, "old", "")
	w.Records.Change(old.ID, func(r *session.Record) { r.State = session.Abandoned })
	never := w.Lost(t, "never", "")
	w.Records.Change(never.ID, func(r *session.Record) { r.State = session.Failed })
	open, odd, dark := w.Session(t, "open", session.Running), w.Session(t, "odd", session.Running), w.Session(t, "dark", session.Running)
	rep := chattest.ReportOf(lifecycle.Reattach, open)
	rep.Results = append(rep.Results, recovery.Result{Action: recovery.Action{Do: lifecycle.MarkLost, Record: odd.ID}, Err: chattest.ErrDisk})
	for _, kind := range []recovery.NoticeKind{recovery.Unreadable, recovery.Unreadable} {
		rep.Notices = append(rep.Notices, recovery.Notice{Kind: kind})
	}
	rep.Notices = append(rep.Notices, recovery.Notice{Kind: recovery.Unclear, Record: dark.ID},
		recovery.Notice{Kind: recovery.Pending, Record: dark.ID}, recovery.Notice{Kind: recovery.StaleWindow, Record: dark.ID})

	require.NoError(t, w.Recovered(t.Context(), rep))
	assert.Equal(t, []string{chattest.Lines("All sessions are checked. What has changed:",
		"• 2 sessions ended when the machine shut down: api, web.",
		"• 1 session ended together with tmux: docs.",
		"• The window of 1 session disappeared: by hand.",
		"• 1 session has been unreachable for too long and counts as ended: old.",
		"• 1 session did not start: never.",
		"• 1 session still has a problem: odd. The next start tries again; the log says why.",
		"• The state of 1 session is unknown, so nothing was changed: dark.",
		"• The files of 2 sessions cannot be read; they are kept in ~/.ccbot/quarantine.",
		"• 1 session continues: open.",
		"Resume one: /resume and its name. What happened: /why and its name.")}, w.Telegram.Texts())
	assert.Equal(t, []string{"Resume all", "Choose"}, chattest.Words(w.Telegram.Last(t)))
	assert.Empty(t, w.Unreported())
}

func TestReportThatSounds(t *testing.T) {
	w := chattest.NewWorld(t)
	w.SetResumeOnStart(chattest.ResumeContinue)
	w.Lost(t, "off", session.ClosedReboot)
	assert.False(t, w.RecoveredMessage(t).Sounds)
	w.Lost(t, "idle", session.ClosedTmux)
	assert.True(t, w.RecoveredMessage(t).Sounds)
	w.CutShort(t, "alone", session.ClosedReboot)
	assert.False(t, w.RecoveredMessage(t).Sounds, "it goes on")
	w.CutShort(t, "api", session.ClosedTmux)
	assert.True(t, w.RecoveredMessage(t).Sounds)
}

func TestSuccessSendsNoMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	open := w.Session(t, "open", session.Running)
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWaitingPermission}
	ended := w.Session(t, "ended", session.Archived)
	rep := chattest.ReportOf(lifecycle.Reattach, open, ended)
	rep.Notices = []recovery.Notice{{Kind: recovery.Pending, Record: ended.ID}, {Kind: recovery.StaleWindow, Record: ended.ID}}
	require.NoError(t, w.Recovered(t.Context(), rep))
	assert.Empty(t, w.Telegram.Done())
}

// A session restored before the report needs no report.
func TestP8_RestoredSessionIsNotReportedLost(t *testing.T) {
	w := chattest.NewWorld(t)
	back := w.Lost(t, "back", session.ClosedReboot)
	w.Records.Change(back.ID, func(r *session.Record) { r.State = session.Running })
	require.NoError(t, w.Recovered(t.Context(), chattest.ReportOf(lifecycle.Reattach, back)))
	assert.Empty(t, w.Telegram.Texts())
	assert.Empty(t, w.Unreported())
}

func TestReportCountsWaitingPrompts(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, name := range []string{"api", "web"} {
		r := w.Lost(t, name, session.ClosedTmux)
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{name} })
	}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "\n"+w.Word(i18n.ReceiptWaiting, i18n.Args{"Count": 2})+"\n")
}

func TestReportNamesContinuingSession(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Adopted(t, "api")
	w.Lost(t, "web", "")
	require.NoError(t, w.Recovered(t.Context(), chattest.ReportOf(recovery.TakeOver, r)))
	assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Word(i18n.RecoveredRestored, i18n.Args{"Count": 1, "Names": "api"}))
}

func TestP8_CrashRepeatsReportOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Lost(t, "api", "")
	w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")}
	w.Telegram.OnPost = chattest.Refuse
	require.ErrorContains(t, w.Recovered(t.Context(), recovery.Report{}), chattest.ErrDisk.Error())
	assert.Equal(t, []string{"api"}, w.Unreported(), "what is not on disk was not told")
	assert.Empty(t, w.Windows.WereTold)

	w.Telegram.OnPost = nil
	w.Lifecycle.OnReported = func(uuid.UUID) error { return chattest.ErrDisk } // the crash comes between
	var points []string
	w.Failpoint = func(name string) { points = append(points, name) }
	require.ErrorContains(t, w.Recovered(t.Context(), recovery.Report{}), chattest.ErrDisk.Error())
	assert.Equal(t, []string{"report-posted", "card-sent"}, points)
	assert.Len(t, w.Telegram.Texts(), 2, "one of the sessions, one of the windows")

	w.Again()
	w.Lifecycle.OnReported, w.Failpoint = nil, nil
	w.Windows.WereTold = make(map[string]bool)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.Telegram.Texts(), 4)
	assert.Equal(t, w.Telegram.Texts()[:2], w.Telegram.Texts()[2:])
	assert.False(t, w.Record(t, r.ID).Unreported)
	assert.True(t, w.Windows.WereTold["@21"])

	w.Again()
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Len(t, w.Telegram.Texts(), 4, "then no more")
}

func TestP8_UnreachableConversationDelaysNoReport(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lost(t, "api", "")
	web := w.Lost(t, "web", "")
	w.Records.Change(web.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	failing := true
	w.Telegram.OnPost = func(m outbox.Message) error {
		if m.To == chattest.InGroup && failing {
			return chattest.ErrDisk
		}
		return nil
	}
	require.ErrorContains(t, w.Recovered(t.Context(), recovery.Report{}), chattest.ErrDisk.Error())
	assert.Equal(t, []string{"web"}, w.Unreported())
	failing = false
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.Unreported())
	require.Len(t, w.Telegram.Posted, 2)
	assert.Equal(t, []session.Conversation{chattest.AtAlice, chattest.InGroup}, []session.Conversation{w.Telegram.Posted[0].To, w.Telegram.Posted[1].To})
	assert.NotContains(t, w.Telegram.Posted[1].Text.Text, "api", "each conversation hears of its own sessions")
}

// Reports without a conversation go to the private chats of allowed people.
func TestP9_HomesGetReportsWithoutConversation(t *testing.T) {
	w := chattest.NewWorld(t)
	nobodys, banned := w.Lost(t, "nobodys", session.ClosedReboot), w.Lost(t, "banned", "")
	w.Records.Change(nobodys.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	w.Records.Change(banned.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
	topic := w.Lost(t, "topic", "")
	w.Records.Change(topic.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Bob, ThreadID: 5} })
	require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chattest.Eve}, uuid.New()))
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.New()))
	w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))

	var reported []session.Conversation
	said := make(map[session.Conversation]string)
	for _, m := range w.Telegram.Posted {
		if said[m.To] == "" {
			reported = append(reported, m.To)
		}
		said[m.To] += m.Text.Text
	}
	for to, all := range said {
		for _, text := range []string{"nobodys", "banned", "@21"} {
			assert.Equal(t, to.ThreadID == 0, strings.Contains(all, text), "%s in %v", text, to)
		}
	}
	assert.ElementsMatch(t, []session.Conversation{chattest.AtAlice, {ChatID: chattest.Bob}, {ChatID: chattest.Bob, ThreadID: 5}}, reported)
	assert.Empty(t, w.Unreported())

	i := slices.IndexFunc(w.Telegram.Posted, func(m outbox.Message) bool { return m.To == session.Conversation{ChatID: chattest.Bob} })
	require.NoError(t, w.TapSpot(t, chattest.Bob, chattest.Spots(w.Telegram.Posted[i])[0]))
	assert.Equal(t, []string{"restore " + nobodys.ID.String()}, w.Restored(), "a home may bring it back")
	assert.Equal(t, session.Conversation{ChatID: chattest.Bob}, w.Record(t, nobodys.ID).Conversation)
}

func TestP8_WithoutHomeNothingIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Lost(t, "api", session.ClosedReboot)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
	w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")}
	w.SetResumeOnStart(chattest.ResumeAll)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.Telegram.Done())
	assert.Empty(t, w.Lifecycle.Done())
	assert.Equal(t, []string{"api"}, w.Unreported())
	assert.Empty(t, w.Windows.WereTold)
}

func TestWindowsAreToldOncePerLife(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.New()))
	w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@9"), chattest.AgentWindow(t, "@21", 4123)}
	w.Windows.WereTold["@9"] = true
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.Telegram.Last(t)
	assert.Equal(t, chattest.Lines("1 window with no session (nothing happens to it):",
		"• @21 mine: claude (pid 4123, 2 h, pts/3), ~/proj, conversation 11111111"), m.Text.Text)
	assert.Equal(t, []string{"Connect", "Archive", "Hide"}, chattest.Words(m))
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Len(t, w.Telegram.Texts(), 1)

	w = chattest.NewWorld(t)
	w.Session(t, "api", session.Running)
	w.Windows.Err = chattest.ErrTable
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}), "windows that cannot be seen hold nothing up")
	assert.Empty(t, w.Telegram.Done())
}

func TestReportNamesAreBoundedData(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 50 {
		w.Lost(t, fmt.Sprintf("%02d-%s\n\u202e*x*", n, strings.Repeat("long", 30)), session.ClosedReboot)
	}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.Telegram.Texts(), 1)
	m := w.Telegram.Last(t)
	require.Len(t, m.Text.Entities, 1, "the names are bold, and nothing in them is markup")
	assert.Len(t, bold(m), 1)
	assert.Contains(t, m.Text.Text, "• 50 sessions ended")
	assert.Contains(t, m.Text.Text, "and 44 more")
	assert.Len(t, strings.Split(m.Text.Text, "\n"), 3, "a name breaks no line")
}

func TestChatsKnowTheirConversations(t *testing.T) {
	w := chattest.NewWorld(t)
	want := []session.Conversation{{ChatID: -100}, {ChatID: -100, ThreadID: 7}, {ChatID: 7}}
	for _, to := range want {
		require.NoError(t, w.Chats.SetCurrent(to, uuid.New()))
	}
	for _, name := range []string{"x.json", "7.json", "7-0.json.tmp", ".7-0.json123", "07-0.json", "7-0-0.json", "7--1"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "chats", name), []byte("{}"), 0o600))
	}
	w.Reopened(t)
	got := w.Chats.All()
	assert.ElementsMatch(t, want, got)
}

func TestLostTimeNeedsNoHistory(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Lost(t, "api", session.ClosedReboot)
	w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt = time.Time{} })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.Telegram.Last(t)
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Equal(t, chattest.Restores(r), w.Restored())
}

func TestSessionsAndWindowsHaveSeparateMessages(t *testing.T) {
	head := "All sessions are checked. What has changed:"
	foot := "Resume one: /resume and its name. What happened: /why and its name."
	for _, tt := range []struct {
		name string
		set  func(w *chattest.World)
		want []string
	}{
		{"a session", func(w *chattest.World) { w.Lost(t, "api", session.ClosedReboot) },
			[]string{head, "• 1 session ended when the machine shut down: api.", foot}},
		{"a window", func(w *chattest.World) { w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")} },
			[]string{"1 window with no session (nothing happens to it):", "• @21 mine: vim, ~/x", "   In a terminal: tmux attach -t mine"}},
		{"both", func(w *chattest.World) {
			w.Lost(t, "api", "")
			w.Windows.All = []evidence.Window{chattest.AgentWindow(t, "@21", 4123)}
		}, []string{head, "• The window of 1 session disappeared: api.", foot,
			"1 window with no session (nothing happens to it):", "• @21 mine: claude (pid 4123, 2 h, pts/3), ~/proj, conversation 11111111"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.New()))
			tt.set(w)
			require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
			assert.Equal(t, chattest.Lines(tt.want...), chattest.Lines(w.Telegram.Texts()...))
		})
	}
}
