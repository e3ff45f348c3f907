package bot_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
	"ccbot/recovery"
)

// picked are the names of the sessions that a message offers to bring back.
func picked(m outbox.Message) (names []string) {
	for _, word := range chattest.Words(m) {
		name, _, _ := strings.Cut(word, ", ")
		names = append(names, name)
	}
	return names
}

func TestP8_ResumeAllWorksAfterAnotherRestart(t *testing.T) {
	w, offered, m := chattest.WentDownWorld(t)
	assert.Equal(t, []string{"Resume all", "Choose"}, chattest.Words(m))
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonResumeAll), "any allowed person may")
	assert.Equal(t, chattest.Restores(offered...), w.Restored())
	assert.Equal(t, 1, w.Telegram.Spent)
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.RecoveredComing, i18n.Args{"Count": len(offered)}))
	assert.Len(t, w.Telegram.Texts(), 2, "each speaks when it is ready")

	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll), "a double tap")
	assert.Equal(t, chattest.Restores(offered...), w.Restored())
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
	assert.Len(t, w.Telegram.Texts(), 2)
}

func TestReportShowsAllRestored(t *testing.T) {
	for _, word := range []i18n.Key{i18n.ButtonResumeAll, i18n.ButtonPick} {
		w, offered, m := chattest.WentDownWorld(t)
		for _, r := range offered {
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
		}
		require.NoError(t, w.TapShown(t, chattest.Alice, m, word))
		assert.Empty(t, w.Restored())
		assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.RecoveredOver))
		assert.Equal(t, 1, w.Telegram.Spent)
	}
}

// A later reboot has a separate message: an old button is only for its own message.
func TestOldButtonRestoresNoLaterLoss(t *testing.T) {
	w, offered, m := chattest.WentDownWorld(t)
	later := w.Lost(t, "later", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	fresh := w.Telegram.Last(t)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonPick))
	assert.ElementsMatch(t, []string{"api", "docs", "web"}, picked(w.Telegram.Last(t)), "and not "+later.Name)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	assert.Equal(t, chattest.Restores(offered...), w.Restored())
	assert.Equal(t, 1, w.Telegram.Spent, "nothing of its own is left")
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(fresh)[0]))
	assert.Equal(t, chattest.Restores(append(offered, later)...), w.Restored())
}

// If another button or the terminal has restored a session in between, its worker refuses.
func TestP1_ConcurrentTapsResumeOnce(t *testing.T) {
	w, _, m := chattest.WentDownWorld(t)
	var mu sync.Mutex
	back := make(map[uuid.UUID]int)
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		mu.Lock()
		defer mu.Unlock()
		if back[id]++; back[id] > 1 {
			return w.Record(t, id), chattest.Deep(&lifecycle.StateError{State: session.Restoring})
		}
		return w.Record(t, id), nil // the record shows it a little later
	}
	for range 2 {
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	}
	assert.Len(t, w.Telegram.Texts(), 2, "of what is open already nothing is said")
}

func TestResumeAllLeavesTheCurrentSession(t *testing.T) {
	w, _, m := chattest.WentDownWorld(t)
	open := w.NewCurrentSession(t, "open", session.Running)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	w.CurrentIs(t, open.ID)

	w, offered, m := chattest.WentDownWorld(t)
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, offered[0].ID))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	w.CurrentIs(t, offered[0].ID)

	w, _, m = chattest.WentDownWorld(t)
	w.NewCurrentSession(t, "ended", session.Archived)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	now, ok := w.CurrentSession(chattest.AtAlice, 0)
	assert.True(t, ok && now.State.Live(), "one of them takes an ended one's place")
}

func TestResumeAllExplainsWhatFails(t *testing.T) {
	w, offered, m := chattest.WentDownWorld(t)
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		if id == offered[0].ID {
			return w.Record(t, id), chattest.Deep(&lifecycle.DirError{Dir: "/gone", Why: lifecycle.DirMissing})
		}
		w.Records.Change(id, func(r *session.Record) { r.State = session.Restoring })
		return w.Record(t, id), nil
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.DirGone, i18n.Args{"Name": offered[0].Name, "Dir": "/gone"}))
	assert.Zero(t, w.Telegram.Spent, "the button stays for the one that is still lost")
	w.Lifecycle.OnRestore = nil
	left := w.Telegram.Now(w.IDOf(chattest.Data(m)[0]))
	assert.Equal(t, []string{"Resume"}, chattest.Words(left))
	require.NoError(t, w.TapShown(t, chattest.Alice, left, i18n.ButtonResume))
	assert.Equal(t, 1, w.Telegram.Spent)
	assert.Equal(t, session.Restoring, w.Record(t, offered[0].ID).State)
}

func TestResumeAllLeavesOtherButtons(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lost(t, "api", session.ClosedReboot)
	w.Lost(t, "web", session.ClosedReboot)
	w.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.Telegram.Posted, 2)
	m, windows := w.Telegram.Posted[0], w.Telegram.Posted[1]
	assert.Equal(t, []string{"Resume all", "Choose"}, chattest.Words(m))
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Empty(t, w.Telegram.Buttons)
	now := w.Telegram.Now(w.IDOf(chattest.Data(windows)[0]))
	assert.Equal(t, []string{"Hide"}, chattest.Words(now))
}

func TestPickShowsWhatIsStillLost(t *testing.T) {
	w, offered, m := chattest.WentDownWorld(t)
	w.Records.Change(offered[0].ID, func(r *session.Record) { r.State = session.Running })
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonPick))
	pick := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.ResumePick), pick.Text.Text)
	assert.ElementsMatch(t, []string{offered[1].Name, offered[2].Name}, picked(pick))
	assert.Empty(t, w.Restored())
	assert.Zero(t, w.Telegram.Spent)
}

func TestSingleLostSessionHasOneButton(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Lost(t, "api", session.ClosedTmux)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.Telegram.Last(t)
	assert.Equal(t, []string{"Resume"}, chattest.Words(m))
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Equal(t, chattest.Restores(r), w.Restored())
}

func TestP9_StrangersResumeNothing(t *testing.T) {
	w, _, m := chattest.WentDownWorld(t)
	said := len(w.Telegram.Done())
	for _, s := range chattest.Spots(m) {
		require.NoError(t, w.TapSpot(t, chattest.Eve, s))
	}
	assert.Len(t, w.Telegram.Done(), said, "strangers get silence")
	assert.Empty(t, w.Restored())
}

func TestNeverAsksNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.SetResumeOnStart(chattest.ResumeNever)
	w.Lost(t, "api", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Empty(t, w.Telegram.Last(t).Buttons)
	assert.Empty(t, w.Restored())
	w.MustHear(t, "/resume api")
	assert.Len(t, w.Restored(), 1)
}

func TestAllComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.SetResumeOnStart(chattest.ResumeAll)
		var all []session.Record
		for n := range 9 {
			all = append(all, w.Lost(t, fmt.Sprint("api-", n), session.ClosedReboot))
		}
		tmux := w.Lost(t, "docs", session.ClosedTmux)
		var now, most atomic.Int32
		w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
			assert.True(t, w.Record(t, id).Unreported, "it is noted after it came back")
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			w.Records.Change(id, func(r *session.Record) { r.State = session.Restoring })
			return w.Record(t, id), nil
		}
		require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
		assert.Equal(t, chattest.Restores(all...), w.Restored())
		assert.EqualValues(t, 4, most.Load())
		said := w.Telegram.Texts()
		assert.Len(t, said, 1, "each speaks when it is ready")
		assert.Contains(t, said[0], w.Word(i18n.RecoveredComing, i18n.Args{"Count": 9}), "the message comes first, and says so")
		assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Posted[0]), "what went down with tmux is asked about")
		assert.Equal(t, session.Lost, w.Record(t, tmux.ID).State)
		assert.Empty(t, w.Unreported())
	})
}

// Sessions without a conversation are reported in every home, and restored in one.
func TestAutomaticRestoreIsNotOffered(t *testing.T) {
	w := chattest.NewWorld(t)
	w.SetResumeOnStart(chattest.ResumeAll)
	for _, home := range []int64{chattest.Alice, chattest.Bob} {
		require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: home}, uuid.New()))
	}
	r := w.Lost(t, "nobodys", session.ClosedReboot)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.Telegram.Posted, 2)
	for _, m := range w.Telegram.Posted {
		assert.Contains(t, m.Text.Text, w.Word(i18n.RecoveredComing, i18n.Args{"Count": 1}))
		assert.Empty(t, m.Buttons)
	}
	assert.Equal(t, chattest.Restores(r), w.Restored())
	assert.Equal(t, chattest.AtAlice, w.Record(t, r.ID).Conversation)
}

func TestPickShowsAllByPages(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 12 {
		w.Lost(t, fmt.Sprint("api-", n), session.ClosedReboot)
	}
	m := w.RecoveredMessage(t)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonPick))
	pick := w.Telegram.Last(t)
	assert.Len(t, pick.Buttons, 9, "eight sessions, and the way to the others")
	assert.Equal(t, "Which session do you want to resume?\n1–8 of 12", pick.Text.Text)
}

// A crash in the middle: what did not come back is tried by the next start.
func TestP8_FailedRestoreIsRetried(t *testing.T) {
	w := chattest.NewWorld(t)
	w.SetResumeOnStart(chattest.ResumeAll)
	api := w.Lost(t, "api", session.ClosedReboot)
	w.Lifecycle.OnReported = func(uuid.UUID) error { return chattest.ErrDisk }
	require.ErrorContains(t, w.Recovered(t.Context(), recovery.Report{}), chattest.ErrDisk.Error())
	assert.Equal(t, chattest.Restores(api), w.Restored())
	w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Lost }) // the crash came before its window
	w.Again()
	w.Lifecycle.OnReported = nil
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Equal(t, chattest.Restores(api, api), w.Restored())
	assert.Empty(t, w.Unreported())
}
