package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
)

const modesText = "api\nPermission mode: Manual\nModel: Opus 5.5\nThe model changes for this session only."

// modesCard is the card of a session that runs in manual mode with Opus.
func modesCard(t *testing.T, w *chattest.World) session.Record {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnModes = port.ModeState{Mode: port.ModeManual, Model: "Opus 5.5"}
	w.MustHear(t, "/mode")
	w.Work(t)
	require.Equal(t, modesText, w.Shows(t, 1).Text.Text)
	return r
}

// rows are the words of the buttons under a card.
func rows(m outbox.Message) (all [][]string) {
	for _, row := range m.Buttons {
		var words []string
		for _, b := range row {
			words = append(words, b.Text)
		}
		all = append(all, words)
	}
	return all
}

// switched reports an outcome. From then on the terminal shows it, and the request has ended.
func switched(t *testing.T, w *chattest.World, r session.Record, n news.Switched) {
	t.Helper()
	now := &w.Lifecycle.OnModes
	now.Mode = n.Seen
	if n.Mode != "" {
		now.Want.Mode = ""
	}
	if n.Model != "" {
		now.Want.Model = ""
	}
	if n.Model != "" && n.Outcome == port.SwitchDone {
		now.Model = n.Model
	}
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	w.Work(t)
}

func TestModeSwitchIsReportedAfterReadback(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		assert.Equal(t, [][]string{{"✓ Manual", "Accept edits"}, {"Plan"}, {"✓ Opus", "Sonnet"}, {"Haiku", "Fable"}}, rows(w.Shows(t, 1)))

		w.Press(t, chattest.Bob, 1, "Plan")
		assert.Empty(t, w.Lifecycle.Done(), "only who asked may switch")
		w.Press(t, chattest.Alice, 1, "Plan")
		assert.Equal(t, []string{"switch " + r.ID.String() + " to plan"}, w.Lifecycle.Done())
		assert.Equal(t, modesText+"\n\nSwitching to Plan…", w.Shows(t, 1).Text.Text)
		assert.Equal(t, [][]string{{"✓ Manual", "Accept edits"}, {"… Plan"}}, rows(w.Shows(t, 1))[:2])

		for range 2 { // news may come twice
			switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModePlan})
			assert.Equal(t, "api\nPermission mode: Plan\nModel: Opus 5.5\nThe model changes for this session only.", w.Shows(t, 1).Text.Text)
			assert.Equal(t, [][]string{{"Manual", "Accept edits"}, {"✓ Plan"}}, rows(w.Shows(t, 1))[:2])
		}

		w.Lifecycle.OnModes.Mode = port.ModePlan
		w.Press(t, chattest.Alice, 1, "Haiku")
		assert.Equal(t, [][]string{{"✓ Opus", "Sonnet"}, {"… Haiku", "Fable"}}, rows(w.Shows(t, 1))[2:])
		switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Model: "Haiku"}, Seen: port.ModePlan})
		assert.Equal(t, [][]string{{"Opus", "Sonnet"}, {"✓ Haiku", "Fable"}}, rows(w.Shows(t, 1))[2:])
		assert.Equal(t, 1, w.Telegram.LastID(), "the card itself says it")
	})
}

func TestDelayedModeSwitchIsReported(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		w.Lifecycle.OnModes.Waits = true
		w.Press(t, chattest.Alice, 1, "Plan")
		assert.Equal(t, modesText+"\n\nAs soon as the agent is free: Plan", w.Shows(t, 1).Text.Text)
		w.Lifecycle.OnModes.Want = port.ModeChange{Mode: port.ModePlan}
		w.Press(t, chattest.Alice, 1, "Sonnet")
		assert.Equal(t, modesText+"\n\nAs soon as the agent is free: Plan, Sonnet", w.Shows(t, 1).Text.Text)

		switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModePlan, Waited: true})
		m := w.Telegram.Last(t)
		assert.Equal(t, "api: the permission mode is now Plan.", m.Text.Text)
		assert.False(t, m.Sounds)
		switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Model: "Sonnet"}, Seen: port.ModePlan, Outcome: port.SwitchNoSuch, Waited: true})
		m = w.Telegram.Last(t)
		assert.Equal(t, "Sonnet is not offered by api.", m.Text.Text)
		assert.True(t, m.Sounds)
		assert.Equal(t, [][]string{{"✓ Opus", "Sonnet"}, {"Haiku", "Fable"}}, rows(w.Shows(t, 1))[2:])
	})
}

func TestRefusedModeReportsPresentMode(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		w.Lifecycle.OnModes.Waits = true
		w.Press(t, chattest.Alice, 1, "Plan")
		n := news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModeAcceptEdits, Outcome: port.SwitchNoSuch, Waited: true}
		switched(t, w, r, n)
		assert.Equal(t, "Plan is not offered by api.\nPermission mode: Accept edits", w.Telegram.Last(t).Text.Text)
		n.Seen = ""
		switched(t, w, r, n)
		assert.Equal(t, "Plan is not offered by api.", w.Telegram.Last(t).Text.Text)
	})
}

func TestModeCardShowsUnknownAndBypass(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		for outcome, said := range map[port.SwitchOutcome]string{port.SwitchUnread: "does not show", port.SwitchNotTaken: "did not react", port.SwitchNewAgent: "restarted"} {
			switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Outcome: outcome})
			assert.Contains(t, w.Shows(t, 1).Text.Text, "Permission mode: not visible in the terminal")
			assert.Contains(t, w.Telegram.Last(t).Text.Text, said)
			assert.Equal(t, [][]string{{"Manual", "Accept edits"}, {"Plan"}}, rows(w.Shows(t, 1))[:2])
		}
		w.Lifecycle.OnModes = port.ModeState{Mode: port.ModeBypass}
		w.MustHear(t, "/mode api")
		w.Work(t)
		m := w.Shows(t, w.Telegram.LastID())
		assert.Contains(t, m.Text.Text, "Permission mode: Bypass\nModel: not known\n")
		assert.Contains(t, m.Text.Text, "Bypass can be switched on again only in the terminal.")
		assert.Empty(t, rows(w.Shows(t, 1)), "the earlier card has lost its buttons")
		w.Press(t, chattest.Alice, w.Telegram.LastID(), "Manual")
		assert.Equal(t, []string{"switch " + r.ID.String() + " to default"}, w.Lifecycle.Done(), "leaving it is fine")
	})
}

func TestModesOfGoneAgent(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		w.Lifecycle.ModesErr = chattest.Deep(view.ErrUnseen)
		w.Press(t, chattest.Alice, 1, "Plan")
		assert.Equal(t, w.Named(i18n.KeysUnseen, "api"), w.Shows(t, 1).Text.Text, "nothing is known, and nothing is to come")
		assert.Equal(t, [][]string{{w.Word(i18n.ButtonRefresh)}}, rows(w.Shows(t, 1)))
		assert.Equal(t, w.Named(i18n.KeysUnseen, "api"), w.Telegram.Last(t).Text.Text)
		w.MustHear(t, "/mode")
		w.Work(t)
		assert.Equal(t, w.Named(i18n.KeysUnseen, "api"), w.Telegram.Last(t).Text.Text)

		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
		require.NoError(t, w.SessionNews(t.Context(), r, news.Lost{}))
		w.Work(t)
		assert.Empty(t, rows(w.Shows(t, 1)))
		w.MustHear(t, "/mode api")
		w.Work(t)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "archived")
	})
}

// A restart between the request and its end changes nothing: the card continues.
func TestModeCardSurvivesRestart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := modesCard(t, w)
		w.Press(t, chattest.Alice, 1, "Plan")
		w.Restart(t)
		switched(t, w, r, news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModePlan})
		assert.Contains(t, w.Shows(t, 1).Text.Text, "Permission mode: Plan")
	})
}
