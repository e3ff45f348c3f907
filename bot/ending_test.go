package bot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func message(text render.Text, buttons [][]outbox.Button) outbox.Message {
	return outbox.Message{Text: text, Buttons: buttons}
}

func TestEndingAsksFirst(t *testing.T) {
	for _, tt := range []struct {
		verb     string
		question i18n.Key
		final    session.State
	}{
		{"kill", i18n.KillConfirm, session.Archived},
		{"done", i18n.DoneConfirm, session.Completed},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.mustHear(t, "/"+tt.verb)
			assert.Equal(t, []string{w.named(tt.question, "api")}, w.sender.texts())
			yes, no := tt.verb+":"+r.ID.String()+":7", "no:7"
			assert.Equal(t, []string{yes, no}, data(w.sender.last(t)))
			assert.Empty(t, w.sessions.done(), "nothing is done before the answer")

			require.NoError(t, w.tap(t, bob, yes))
			require.NoError(t, w.tap(t, bob, no))
			assert.Empty(t, w.sessions.done(), "only who asked")
			refusal := "answer query: " + w.word(i18n.NotForYou)
			assert.Equal(t, []string{refusal, refusal}, w.sender.done()[1:])

			require.NoError(t, w.tap(t, alice, yes))
			assert.Equal(t, []string{fmt.Sprintf("archive %s as %s", r.ID, tt.final)}, w.sessions.done())
			assert.Equal(t, w.named(i18n.Archiving, "api"), w.sender.lastEdit(t).Text.Text)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
		})
	}
}

func TestCancelEndsNothing(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.mustHear(t, "/kill")
	require.NoError(t, w.tap(t, alice, "no:7"))
	assert.Equal(t, w.word(i18n.Cancelled), w.sender.lastEdit(t).Text.Text)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
	assert.Empty(t, w.sessions.done())
}

func TestWhoCanBeEnded(t *testing.T) {
	for _, s := range session.States() {
		t.Run(string(s), func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", s)
			w.mustHear(t, "/kill api")
			asked := len(data(w.sender.last(t))) > 0
			assert.Equal(t, s.Live() || s == session.CleanupFailed, asked)
			require.NoError(t, w.tap(t, alice, "kill:"+r.ID.String()+":7"))
			assert.Equal(t, asked, len(w.sessions.done()) > 0, "an old button does no more than the command")
			if !asked {
				assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
			}
		})
	}
}

// The receipt is told where the session is shown, so it moves to who ends it;
// what is current there stays.
func TestEndingAnotherSessionKeepsTheCurrentOne(t *testing.T) {
	w := newWorld(t)
	current := w.currentSession(t, "web", session.Running)
	r := w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	require.NoError(t, w.tap(t, alice, "kill:"+r.ID.String()+":7"))
	assert.Equal(t, []string{"move " + r.ID.String() + " to 7", "archive " + r.ID.String() + " as archived"}, w.sessions.done())
	got, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, current.ID, got)
}

func TestAnEndThatFailsIsTold(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.archive = func(uuid.UUID) error { return deep(&lifecycle.StateError{State: session.Archived}) }
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errDisk} }
	require.NoError(t, w.tap(t, alice, "kill:"+r.ID.String()+":7"))
	assert.Equal(t, []string{w.named(i18n.AlreadyEnded, "api")}, w.sender.texts())
	w.sessions.archive = func(uuid.UUID) error { return errDisk }
	require.NoError(t, w.tap(t, alice, "done:"+r.ID.String()+":7"))
	assert.Equal(t, w.word(i18n.InternalError), w.sender.last(t).Text.Text)
}

func outcome(pid int, how process.How, spared string) process.Outcome {
	return process.Outcome{Process: process.Process{Identity: process.Identity{PID: pid}}, How: how, Ended: how != "",
		Verified: how != "", Spared: spared}
}

func TestReceiptText(t *testing.T) {
	agent := outcome(10, process.HowHangUp, "")
	for _, tt := range []struct {
		name    string
		record  session.Record
		receipt lifecycle.Receipt
		want    []string
	}{
		{"archived, nothing lived", session.Record{State: session.Archived}, lifecycle.Receipt{}, []string{"api is archived."}},
		{"completed", session.Record{State: session.Completed}, lifecycle.Receipt{Agent: &agent},
			[]string{"api is completed.", "pid 10: ended when its window closed"}},
		{"leftovers", session.Record{State: session.Archived},
			lifecycle.Receipt{Agent: &agent, Others: []process.Outcome{outcome(11, process.HowTerm, ""), outcome(12, "", "guard tmux"),
				outcome(13, process.HowKill, ""), outcome(14, process.HowAlreadyGone, "")}},
			[]string{"api is archived.", "pid 10: ended when its window closed",
				"2 leftover processes ended (pid 11: asked to end (TERM); pid 13: forced (KILL)).",
				"1 process left alone (pid 12: guard tmux)."}},
		{"split and waiting", session.Record{State: session.Archived}, lifecycle.Receipt{Split: true, Waiting: 1},
			[]string{"api is archived.", "The window had panes that are not mine; they stay open.",
				"1 message was not typed yet. It waits for the session to come back."}},
		{"not cleaned up", session.Record{State: session.CleanupFailed, Cleanup: &session.CleanupError{
			Processes: []process.Identity{{PID: 1}, {PID: 2}}}}, lifecycle.Receipt{Failures: []string{"process 1", "process 2"}},
			[]string{"api is not cleaned up: 2 processes may still be alive (process 1; process 2). /kill tries again; at the desk, look at them with ps."}},
		{"not cleaned up, nobody knows what", session.Record{State: session.CleanupFailed, Cleanup: &session.CleanupError{}},
			lifecycle.Receipt{Failures: []string{"tmux is silent"}},
			[]string{"api is not cleaned up: 1 process may still be alive (tmux is silent). /kill tries again; at the desk, look at it with ps."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.record.Name = "api"
			assert.Equal(t, lines(tt.want...), w.receiptText(tt.record, tt.receipt))
		})
	}
}

func TestReceiptOffersUndoWhereItCanComeBack(t *testing.T) {
	for state, want := range map[session.State]bool{session.Archived: true, session.Completed: true, session.CleanupFailed: false} {
		w := newWorld(t)
		r := w.session(t, "api", state)
		r.Cleanup = &session.CleanupError{}
		n := lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &lifecycle.Receipt{}}
		require.NoError(t, w.SessionNews(t.Context(), n))
		var undo []string
		if want {
			undo = []string{"undo:" + r.ID.String()}
		}
		assert.Equal(t, undo, data(w.sender.last(t)), state)
	}
}

func TestUndoAndResumeBringBack(t *testing.T) {
	for _, verb := range []string{"undo", "res"} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Archived)
			w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
			require.NoError(t, w.tap(t, bob, verb+":"+r.ID.String()), "any allowed person may")
			assert.Equal(t, []string{"restore " + r.ID.String(), "move " + r.ID.String() + " to 7"}, w.sessions.done())
			assert.Equal(t, []string{w.word(i18n.Resuming, i18n.Args{"Name": "api", "Dir": "~/api"})}, w.sender.texts())
			assert.Equal(t, 1, w.sender.spent)
			current, err := w.Chats.Current(atAlice)
			require.NoError(t, err)
			assert.Equal(t, r.ID, current)
		})
	}
}

func TestAResumeThatFailsCanBeTappedAgain(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) { return session.Record{}, lifecycle.ErrNoClaude }
	require.NoError(t, w.tap(t, alice, "res:"+r.ID.String()))
	assert.Len(t, w.sender.texts(), 1)
	assert.Zero(t, w.sender.spent)
	current, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Zero(t, current)
}

// "Your messages go to it now" must be true.
func TestAResumeOfAnOpenSessionMakesItCurrent(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.currentSession(t, "web", session.Running)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return r, deep(&lifecycle.StateError{State: session.Running, Want: "resumed"})
	}
	require.NoError(t, w.tap(t, alice, "res:"+r.ID.String()))
	assert.Equal(t, []string{w.named(i18n.ResumeAlreadyOpen, "api")}, w.sender.texts())
	current, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, r.ID, current)
}

func TestResumeOfWhatIsNotCleanedUpIsExplained(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.CleanupFailed)
	w.records.change(r.ID, func(r *session.Record) {
		r.Cleanup = &session.CleanupError{Processes: []process.Identity{{PID: 5}}, Reason: "process 5 lives"}
	})
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return r, &lifecycle.StateError{State: session.CleanupFailed, Want: "resumed"}
	}
	want := w.word(i18n.CleanupFailed, i18n.Args{"Name": "api", "Count": 1, "Details": "process 5 lives"})
	require.NoError(t, w.tap(t, alice, "undo:"+r.ID.String()))
	w.mustHear(t, "/resume api")
	assert.Equal(t, []string{want, want}, w.sender.texts())
}

func TestResumeCommand(t *testing.T) {
	w := newWorld(t)
	w.mustHear(t, "/resume")
	assert.Equal(t, w.word(i18n.ResumeNone), w.sender.last(t).Text.Text)

	open := w.session(t, "open", session.Running)
	w.mustHear(t, "/resume open")
	assert.Equal(t, w.named(i18n.ResumeAlreadyOpen, "open"), w.sender.last(t).Text.Text)
	current, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, open.ID, current)

	old := w.session(t, "old", session.Lost)
	w.mustHear(t, "/resume old")
	assert.Contains(t, w.sessions.done(), "restore "+old.ID.String())
}

func TestResumePicksTheLatest(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for n := range 12 {
		r := w.session(t, fmt.Sprintf("s%d", n), session.Archived)
		ids = append([]string{"res:" + r.ID.String()}, ids...)
	}
	w.session(t, "open", session.Running)
	w.mustHear(t, "/resume")
	m := w.sender.last(t)
	assert.Equal(t, w.word(i18n.ResumePick), m.Text.Text)
	assert.Equal(t, ids[:10], data(m))
	assert.True(t, strings.HasPrefix(m.Buttons[0][0].Text, "s11, "), m.Buttons[0][0].Text)
	for _, row := range m.Buttons {
		assert.Len(t, row, 1)
	}
}
