package bot

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// restored are the resumes that were asked for, sorted.
func (w *world) restored() []string {
	all := slices.DeleteFunc(w.sessions.done(), func(line string) bool { return !strings.HasPrefix(line, "restore ") })
	slices.Sort(all)
	return all
}

func restores(all ...session.Record) (lines []string) {
	for _, r := range all {
		lines = append(lines, "restore "+r.ID.String())
	}
	slices.Sort(lines)
	return lines
}

// picked are the names of the sessions that a message offers to bring back.
func picked(m outbox.Message) (names []string) {
	for _, word := range words(m) {
		name, _, _ := strings.Cut(word, ", ")
		names = append(names, name)
	}
	return names
}

// wentDownWorld has two sessions that a reboot took, one that tmux took, one that was lost
// otherwise, one of another chat, and one that went down long before.
func wentDownWorld(t *testing.T) (w *world, offered []session.Record, m outbox.Message) {
	t.Helper()
	w = newWorld(t)
	long := w.lost(t, "long ago", session.ClosedReboot)
	w.records.change(long.ID, func(r *session.Record) { r.Unreported = false })
	for name, closed := range map[string]string{"api": session.ClosedReboot, "web": session.ClosedReboot, "docs": session.ClosedTmux} {
		offered = append(offered, w.lost(t, name, closed))
	}
	w.lost(t, "by hand", "")
	other := w.lost(t, "other", session.ClosedReboot)
	w.records.change(other.ID, func(r *session.Record) { r.Conversation = inGroup })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	i := slices.IndexFunc(w.sender.posted, func(m outbox.Message) bool { return m.To == atAlice })
	return w, offered, w.sender.posted[i]
}

func TestP8_ResumeAllWorksAfterAnotherRestart(t *testing.T) {
	w, offered, m := wentDownWorld(t)
	assert.Equal(t, []string{"Resume all", "Pick"}, words(m))
	w.again()
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonResumeAll), "any allowed person may")
	assert.Equal(t, restores(offered...), w.restored())
	assert.Equal(t, 1, w.sender.spent)
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.RecoveredComing, i18n.Args{"Count": len(offered)}))
	assert.Len(t, w.sender.texts(), 2, "each speaks when it is ready")

	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll), "a double tap")
	assert.Equal(t, restores(offered...), w.restored())
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
	assert.Len(t, w.sender.texts(), 2)
}

func TestAReportSaysThatAllIsBack(t *testing.T) {
	for _, word := range []i18n.Key{i18n.ButtonResumeAll, i18n.ButtonPick} {
		w, offered, m := wentDownWorld(t)
		for _, r := range offered {
			w.records.change(r.ID, func(r *session.Record) { r.State = session.Running })
		}
		require.NoError(t, w.tapShown(t, alice, m, word))
		assert.Empty(t, w.restored())
		assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.RecoveredOver))
		assert.Equal(t, 1, w.sender.spent)
	}
}

// A later reboot has a message of its own: an old button means what it stands under.
func TestAnOldButtonBringsNoLaterLossBack(t *testing.T) {
	w, offered, m := wentDownWorld(t)
	later := w.lost(t, "later", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	fresh := w.sender.last(t)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonPick))
	assert.ElementsMatch(t, []string{"api", "docs", "web"}, picked(w.sender.last(t)), "and not "+later.Name)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	assert.Equal(t, restores(offered...), w.restored())
	assert.Equal(t, 1, w.sender.spent, "nothing of its own is left")
	require.NoError(t, w.tapSpot(t, alice, spots(fresh)[0]))
	assert.Equal(t, restores(append(offered, later)...), w.restored())
}

// What a tap on another button, or at the desk, has brought back meanwhile is for its worker to
// refuse.
func TestP1_TwoTapsAtOnceResumeNothingTwice(t *testing.T) {
	w, _, m := wentDownWorld(t)
	var mu sync.Mutex
	back := make(map[uuid.UUID]int)
	w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
		mu.Lock()
		defer mu.Unlock()
		if back[id]++; back[id] > 1 {
			return w.record(t, id), deep(&lifecycle.StateError{State: session.Restoring})
		}
		return w.record(t, id), nil // the record shows it a little later
	}
	for range 2 {
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	}
	assert.Len(t, w.sender.texts(), 2, "of what is open already nothing is said")
}

func TestResumeAllLeavesTheCurrentSession(t *testing.T) {
	w, _, m := wentDownWorld(t)
	open := w.currentSession(t, "open", session.Running)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	w.currentIs(t, open.ID)

	w, offered, m := wentDownWorld(t)
	require.NoError(t, w.Chats.SetCurrent(atAlice, offered[0].ID))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	w.currentIs(t, offered[0].ID)

	w, _, m = wentDownWorld(t)
	w.currentSession(t, "ended", session.Archived)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	now, ok, err := w.CurrentSession(atAlice)
	require.NoError(t, err)
	assert.True(t, ok && now.Live, "one of them takes an ended one's place")
}

func TestResumeAllExplainsWhatFails(t *testing.T) {
	w, offered, m := wentDownWorld(t)
	w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
		if id == offered[0].ID {
			return w.record(t, id), deep(&lifecycle.DirError{Dir: "/gone", Why: lifecycle.DirMissing})
		}
		w.records.change(id, func(r *session.Record) { r.State = session.Restoring })
		return w.record(t, id), nil
	}
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	assert.Contains(t, w.sender.texts(), w.word(i18n.DirGone, i18n.Args{"Name": offered[0].Name, "Dir": "/gone"}))
	assert.Zero(t, w.sender.spent, "the button stays for the one that is still lost")
	w.sessions.restore = nil
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	assert.Equal(t, 1, w.sender.spent)
	assert.Equal(t, session.Restoring, w.record(t, offered[0].ID).State)
}

func TestResumeAllLeavesOtherButtons(t *testing.T) {
	w := newWorld(t)
	w.lost(t, "api", session.ClosedReboot)
	w.lost(t, "web", session.ClosedReboot)
	w.windows.all = []lifecycle.Window{shellWindow(t, "@21")}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.sender.last(t)
	assert.Equal(t, []string{"Resume all", "Pick", "Ignore"}, words(m))
	require.NoError(t, w.tapSpot(t, alice, spots(m)[0]))
	require.Len(t, w.sender.buttons, 1)
	assert.Equal(t, faces(m.Buttons)[1], faces(w.sender.buttons)[0])
}

func TestPickShowsWhatIsStillLost(t *testing.T) {
	w, offered, m := wentDownWorld(t)
	w.records.change(offered[0].ID, func(r *session.Record) { r.State = session.Running })
	w.again()
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonPick))
	pick := w.sender.last(t)
	assert.Equal(t, w.word(i18n.ResumePick), pick.Text.Text)
	assert.ElementsMatch(t, []string{offered[1].Name, offered[2].Name}, picked(pick))
	assert.Empty(t, w.restored())
	assert.Zero(t, w.sender.spent)
}

func TestOneLostSessionIsOneButton(t *testing.T) {
	w := newWorld(t)
	r := w.lost(t, "api", session.ClosedTmux)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.sender.last(t)
	assert.Equal(t, []string{"Resume"}, words(m))
	require.NoError(t, w.tapSpot(t, alice, spots(m)[0]))
	assert.Equal(t, restores(r), w.restored())
}

func TestP9_StrangersResumeNothing(t *testing.T) {
	w, _, m := wentDownWorld(t)
	said := len(w.sender.done())
	for _, s := range spots(m) {
		require.NoError(t, w.tapSpot(t, eve, s))
	}
	assert.Len(t, w.sender.done(), said, "strangers get silence")
	assert.Empty(t, w.restored())
}

func TestNeverAsksNothing(t *testing.T) {
	w := newWorld(t)
	w.resumeOnStart(ResumeNever)
	w.lost(t, "api", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.sender.last(t).Buttons)
	assert.Empty(t, w.restored())
	w.mustHear(t, "/resume api")
	assert.Len(t, w.restored(), 1)
}

func TestAllComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.resumeOnStart(ResumeAll)
		var all []session.Record
		for n := range 9 {
			all = append(all, w.lost(t, fmt.Sprint("api-", n), session.ClosedReboot))
		}
		tmux := w.lost(t, "docs", session.ClosedTmux)
		var now, most atomic.Int32
		w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
			assert.True(t, w.record(t, id).Unreported, "it is noted after it came back")
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			w.records.change(id, func(r *session.Record) { r.State = session.Restoring })
			return w.record(t, id), nil
		}
		require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
		assert.Equal(t, restores(all...), w.restored())
		assert.EqualValues(t, 4, most.Load())
		said := w.sender.texts()
		assert.Len(t, said, 1, "each speaks when it is ready")
		assert.Contains(t, said[0], w.word(i18n.RecoveredComing, i18n.Args{"Count": 9}), "the message comes first, and says so")
		assert.Equal(t, []string{"Resume"}, words(w.sender.posted[0]), "what went down with tmux is asked about")
		assert.Equal(t, session.Lost, w.record(t, tmux.ID).State)
		assert.Empty(t, w.unreported())
	})
}

// What belongs to no conversation is told in every home, and comes back in one.
func TestWhatComesBackByItselfIsOfferedNowhere(t *testing.T) {
	w := newWorld(t)
	w.resumeOnStart(ResumeAll)
	for _, home := range []int64{alice, bob} {
		require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: home}, uuid.New()))
	}
	r := w.lost(t, "nobodys", session.ClosedReboot)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.sender.posted, 2)
	for _, m := range w.sender.posted {
		assert.Contains(t, m.Text.Text, w.word(i18n.RecoveredComing, i18n.Args{"Count": 1}))
		assert.Empty(t, m.Buttons)
	}
	assert.Equal(t, restores(r), w.restored())
	assert.Equal(t, atAlice, w.record(t, r.ID).Conversation)
}

func TestPickSaysWhatItDoesNotShow(t *testing.T) {
	w := newWorld(t)
	for n := range 12 {
		w.lost(t, fmt.Sprint("api-", n), session.ClosedReboot)
	}
	m := w.recoveredMessage(t)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonPick))
	pick := w.sender.last(t)
	assert.Len(t, pick.Buttons, 10)
	assert.Equal(t, "Which session shall I bring back?\n2 more are not shown; /resume NAME brings them back.", pick.Text.Text)
}

// A crash in the middle: what did not come back is tried by the next start.
func TestP8_WhatDidNotComeBackIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.resumeOnStart(ResumeAll)
	api := w.lost(t, "api", session.ClosedReboot)
	w.sessions.reported = func(uuid.UUID) error { return errDisk }
	require.ErrorIs(t, w.Recovered(t.Context(), recovery.Report{}), errDisk)
	assert.Equal(t, restores(api), w.restored())
	w.records.change(api.ID, func(r *session.Record) { r.State = session.Lost }) // the crash came before its window
	w.again()
	w.sessions.reported = nil
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Equal(t, restores(api, api), w.restored())
	assert.Empty(t, w.unreported())
}
