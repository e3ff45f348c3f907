package bot

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

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// lost is a session that a recovery has closed and that nobody was told of.
func (w *world) lost(t *testing.T, name, closed string) session.Record {
	t.Helper()
	r := w.session(t, name, session.Lost)
	w.records.change(r.ID, func(r *session.Record) { r.Closed, r.Unreported = closed, true })
	return w.record(t, r.ID)
}

// reportOf is what a recovery did with sessions: nothing failed.
func reportOf(do recovery.Do, all ...session.Record) (rep recovery.Report) {
	for _, r := range all {
		rep.Results = append(rep.Results, recovery.Result{Action: recovery.Action{Do: do, Record: r.ID}})
	}
	return rep
}

// recoveredMessage is what is told after a recovery that found nothing by itself.
func (w *world) recoveredMessage(t *testing.T) outbox.Message {
	t.Helper()
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	return w.sender.last(t)
}

// unreported are the sessions that nobody was told of.
func (w *world) unreported() (names []string) {
	for _, r := range w.records.List() {
		if r.Unreported {
			names = append(names, r.Name)
		}
	}
	return names
}

func TestTheReportSaysWhatMatters(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"api", "web"} {
		w.lost(t, name, session.ClosedReboot)
	}
	w.lost(t, "docs", session.ClosedTmux)
	w.lost(t, "by hand", "")
	old := w.lost(t, "old", "")
	w.records.change(old.ID, func(r *session.Record) { r.State = session.Abandoned })
	never := w.lost(t, "never", "")
	w.records.change(never.ID, func(r *session.Record) { r.State = session.Failed })
	open, odd, dark := w.session(t, "open", session.Running), w.session(t, "odd", session.Running), w.session(t, "dark", session.Running)
	rep := reportOf(recovery.Reattach, open)
	rep.Results = append(rep.Results, recovery.Result{Action: recovery.Action{Do: recovery.MarkLost, Record: odd.ID}, Err: errDisk})
	for _, kind := range []recovery.NoticeKind{recovery.Newer, recovery.Unreadable, recovery.Unreadable} {
		rep.Notices = append(rep.Notices, recovery.Notice{Kind: kind})
	}
	rep.Notices = append(rep.Notices, recovery.Notice{Kind: recovery.Unclear, Record: dark.ID},
		recovery.Notice{Kind: recovery.Pending, Record: dark.ID}, recovery.Notice{Kind: recovery.StaleWindow, Record: dark.ID})

	require.NoError(t, w.Recovered(t.Context(), rep))
	assert.Equal(t, []string{lines("I have looked at all sessions:",
		"• 2 sessions were lost when the machine went down: api, web.",
		"• 1 session was lost when tmux ended: docs.",
		"• 1 session lost its window, and I did not close it: by hand.",
		"• I gave up 1 session after a long time without a sign of life: old.",
		"• 1 session did not start: never.",
		"• I could not put 1 session in order: odd. The log says why, and the next start tries again.",
		"• I cannot tell how 1 session is doing, so I left it as it is: dark.",
		"• 1 session is from a newer ccbot, so I left it alone in ~/.ccbot/sessions. Update ccbot to use it.",
		"• I cannot read the records of 2 sessions; I keep them in ~/.ccbot/quarantine.",
		"• 1 session goes on: open.",
		"/resume NAME brings one back with its conversation, /why NAME says what happened.")}, w.sender.texts())
	assert.Equal(t, []string{"Resume all", "Pick"}, words(w.sender.last(t)))
	assert.Empty(t, w.unreported())
}

func TestWhatWentWellIsNoMessage(t *testing.T) {
	w := newWorld(t)
	open := w.session(t, "open", session.Running)
	w.sessions.look = lifecycle.Look{Phase: lifecycle.PhaseWaitingPermission}
	ended := w.session(t, "ended", session.Archived)
	rep := reportOf(recovery.Reattach, open, ended)
	rep.Notices = []recovery.Notice{{Kind: recovery.Pending, Record: ended.ID}, {Kind: recovery.StaleWindow, Record: ended.ID}}
	require.NoError(t, w.Recovered(t.Context(), rep))
	assert.Empty(t, w.sender.done())
}

// A session that somebody has brought back before it was told, or that goes on as another one,
// needs no word any more.
func TestP8_WhatIsBackIsNotCalledLost(t *testing.T) {
	w := newWorld(t)
	back, moved := w.lost(t, "back", session.ClosedReboot), w.lost(t, "moved", "")
	w.records.change(back.ID, func(r *session.Record) { r.State = session.Running })
	w.records.change(moved.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	require.NoError(t, w.Recovered(t.Context(), reportOf(recovery.Reattach, back)))
	assert.Empty(t, w.sender.texts())
	assert.Empty(t, w.unreported())
}

func TestARestoredSessionIsTheOneThatGoesOn(t *testing.T) {
	w := newWorld(t)
	source, target := w.transferred(t, "api")
	w.lost(t, "web", "")
	require.NoError(t, w.Recovered(t.Context(), reportOf(recovery.TakeOver, source, target)))
	assert.Contains(t, w.sender.last(t).Text.Text, w.word(i18n.RecoveredRestored, i18n.Args{"Count": 1, "Names": "api"}))
}

func TestP8_TheReportIsToldOnceMoreAfterACrash(t *testing.T) {
	w := newWorld(t)
	r := w.lost(t, "api", "")
	w.windows.all = []lifecycle.Window{shellWindow(t, "@21")}
	w.sender.post = refuse
	require.ErrorIs(t, w.Recovered(t.Context(), recovery.Report{}), errDisk)
	assert.Equal(t, []string{"api"}, w.unreported(), "what is not on disk was not told")
	assert.Empty(t, w.windows.told)

	w.sender.post = nil
	w.sessions.reported = func(uuid.UUID) error { return errDisk } // the crash comes between
	var points []string
	w.Failpoint = func(name string) { points = append(points, name) }
	require.ErrorIs(t, w.Recovered(t.Context(), recovery.Report{}), errDisk)
	assert.Equal(t, []string{"report-posted", "card-sent"}, points)
	assert.Len(t, w.sender.texts(), 1)

	w.again()
	w.sessions.reported, w.Failpoint = nil, nil
	w.windows.told = make(map[string]bool)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.sender.texts(), 2)
	assert.Equal(t, w.sender.texts()[0], w.sender.texts()[1])
	assert.False(t, w.record(t, r.ID).Unreported)
	assert.True(t, w.windows.told["@21"])

	w.again()
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Len(t, w.sender.texts(), 2, "then no more")
}

func TestP8_OneConversationThatCannotBeToldHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	w.lost(t, "api", "")
	web := w.lost(t, "web", "")
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	failing := true
	w.sender.post = func(m outbox.Message) error {
		if m.To == inGroup && failing {
			return errDisk
		}
		return nil
	}
	require.ErrorIs(t, w.Recovered(t.Context(), recovery.Report{}), errDisk)
	assert.Equal(t, []string{"web"}, w.unreported())
	failing = false
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.unreported())
	require.Len(t, w.sender.posted, 2)
	assert.Equal(t, []session.Conversation{atAlice, inGroup}, []session.Conversation{w.sender.posted[0].To, w.sender.posted[1].To})
	assert.NotContains(t, w.sender.posted[1].Text.Text, "api", "each conversation hears of its own sessions")
}

// What belongs to no conversation goes to the private chats of allowed people.
func TestP9_TheHomesHearOfWhatHasNoConversation(t *testing.T) {
	w := newWorld(t)
	nobodys, banned := w.lost(t, "nobodys", session.ClosedReboot), w.lost(t, "banned", "")
	w.records.change(nobodys.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	w.records.change(banned.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: eve} })
	topic := w.lost(t, "topic", "")
	w.records.change(topic.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: bob, ThreadID: 5} })
	require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: eve}, uuid.New()))
	require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.New()))
	w.windows.all = []lifecycle.Window{shellWindow(t, "@21")}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))

	var told []session.Conversation
	for _, m := range w.sender.posted {
		told = append(told, m.To)
		homeless := m.To.ThreadID == 0
		for _, text := range []string{"nobodys", "banned", "@21"} {
			assert.Equal(t, homeless, strings.Contains(m.Text.Text, text), "%s in %v", text, m.To)
		}
	}
	assert.ElementsMatch(t, []session.Conversation{atAlice, {ChatID: bob}, {ChatID: bob, ThreadID: 5}}, told)
	assert.Empty(t, w.unreported())

	i := slices.Index(told, session.Conversation{ChatID: bob})
	require.NoError(t, w.tapSpot(t, bob, spots(w.sender.posted[i])[0]))
	assert.Equal(t, []string{"restore " + nobodys.ID.String()}, w.restored(), "a home may bring it back")
	assert.Equal(t, session.Conversation{ChatID: bob}, w.record(t, nobodys.ID).Conversation)
}

func TestP8_WithoutAHomeNothingCountsAsTold(t *testing.T) {
	w := newWorld(t)
	r := w.lost(t, "api", session.ClosedReboot)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: eve} })
	w.windows.all = []lifecycle.Window{shellWindow(t, "@21")}
	w.resumeOnStart(ResumeAll)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.sender.done())
	assert.Empty(t, w.sessions.done())
	assert.Equal(t, []string{"api"}, w.unreported())
	assert.Empty(t, w.windows.told)
}

func TestWindowsAreToldOncePerLife(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.New()))
	w.windows.all = []lifecycle.Window{shellWindow(t, "@9"), agentWindow(t, "@21", 4123)}
	w.windows.told["@9"] = true
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.sender.last(t)
	assert.Equal(t, lines("1 window belongs to no session; I leave it alone:",
		"• @21 mine: claude, pid 4123, 2 h, pts/3, ~/proj, conversation 11111111"), m.Text.Text)
	assert.Equal(t, []string{"Adopt", "Archive", "Ignore"}, words(m))
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Len(t, w.sender.texts(), 1)

	w = newWorld(t)
	w.session(t, "api", session.Running)
	w.windows.err = errTable
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}), "windows that cannot be seen hold nothing up")
	assert.Empty(t, w.sender.done())
}

func TestNamesInAReportAreBoundedData(t *testing.T) {
	w := newWorld(t)
	for n := range 50 {
		w.lost(t, fmt.Sprintf("%02d-%s\n\u202e*x*", n, strings.Repeat("long", 30)), session.ClosedReboot)
	}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.sender.texts(), 1)
	m := w.sender.last(t)
	assert.Empty(t, m.Text.Entities)
	assert.Contains(t, m.Text.Text, "• 50 sessions were lost")
	assert.Contains(t, m.Text.Text, "and 44 more")
	assert.Len(t, strings.Split(m.Text.Text, "\n"), 3, "a name breaks no line")
}

func TestChatsKnowTheirConversations(t *testing.T) {
	w := newWorld(t)
	want := []session.Conversation{{ChatID: -100}, {ChatID: -100, ThreadID: 7}, {ChatID: 7}}
	for _, to := range want {
		require.NoError(t, w.Chats.SetCurrent(to, uuid.New()))
	}
	for _, name := range []string{"x.json", "7.json", "7-0.json.tmp", ".7-0.json123", "07-0.json", "7-0-0.json", "7--1"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "chats", name), []byte("{}"), 0o600))
	}
	got, err := w.Chats.All()
	require.NoError(t, err)
	assert.ElementsMatch(t, want, got)
}

func TestHistoryIsNotNeededForALostTime(t *testing.T) {
	w := newWorld(t)
	r := w.lost(t, "api", session.ClosedReboot)
	w.records.change(r.ID, func(r *session.Record) { r.EndedAt = time.Time{} })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.sender.last(t)
	require.NoError(t, w.tapSpot(t, alice, spots(m)[0]))
	assert.Equal(t, restores(r), w.restored())
}

func TestSessionsAndWindowsAreToldInOneMessage(t *testing.T) {
	head := "I have looked at all sessions:"
	foot := "/resume NAME brings one back with its conversation, /why NAME says what happened."
	for _, tt := range []struct {
		name string
		set  func(w *world)
		want []string
	}{
		{"a session", func(w *world) { w.lost(t, "api", session.ClosedReboot) },
			[]string{head, "• 1 session was lost when the machine went down: api.", foot}},
		{"a window", func(w *world) { w.windows.all = []lifecycle.Window{shellWindow(t, "@21")} },
			[]string{"1 window belongs to no session; I leave it alone:", "• @21 mine: vim, ~/x", "   At the desk: tmux attach -t mine"}},
		{"both", func(w *world) {
			w.lost(t, "api", "")
			w.windows.all = []lifecycle.Window{agentWindow(t, "@21", 4123)}
		}, []string{head, "• 1 session lost its window, and I did not close it: api.", foot, "",
			"1 window belongs to no session; I leave it alone:", "• @21 mine: claude, pid 4123, 2 h, pts/3, ~/proj, conversation 11111111"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.New()))
			tt.set(w)
			assert.Equal(t, lines(tt.want...), w.recoveredMessage(t).Text.Text)
		})
	}
}
