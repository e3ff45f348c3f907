package bot

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// TestEverySentenceIsSaidInEveryLanguage says what this package can say and looks for a field that
// was not filled, and for a key that says itself.
func TestEverySentenceIsSaidInEveryLanguage(t *testing.T) {
	var keys []string
	for _, key := range consts(t, "../i18n", "") {
		if strings.Contains(key, "_") {
			keys = append(keys, key)
		}
	}
	for _, lang := range i18n.Languages() {
		runsAs(t, lang, func(t *testing.T, w *world) {
			w.stops(t)
			w.Lang = lang
			w.again()
			w.starts(t)
			w.sayReceipts(t)
			w.sayRefusals(t)
			for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
				w.sayWriters(t, k)
			}
			w.sayAsks(t)
			w.sayRecovery(t)
			w.sayWindows(t)
			var said []string
			for _, m := range slices.Concat(w.sender.posted, w.sender.edited, w.sender.sent) {
				said = append(said, m.Text.Text)
				for _, row := range m.Buttons {
					for _, button := range row {
						said = append(said, button.Text)
					}
				}
			}
			for _, text := range append(said, w.sender.done()...) {
				assert.NotContains(t, text, "<no value>")
				for _, key := range keys {
					assert.NotContains(t, text, key)
				}
			}
			assert.Greater(t, len(said), 100)
		})
	}
}

func (w *world) sayReceipts(t *testing.T) {
	t.Helper()
	agent := ended(1, process.HowKill, 50*time.Hour)
	receipt := lifecycle.Receipt{Agent: &agent, Split: true, Adopted: true,
		Others: []lifecycle.Ending{ended(2, process.HowTerm, time.Second), ended(3, process.HowKill, time.Minute)}}
	for _, code := range append(consts(t, "../lifecycle", "Reason"), append(consts(t, "../internal/process", "Reason"),
		consts(t, "../internal/process", "Guard")...)...) {
		receipt.Others = append(receipt.Others, spared(4, code))
	}
	left := &session.CleanupError{}
	for _, kind := range consts(t, "../lifecycle", "Failure") {
		left.Failures = append(left.Failures, session.CleanupFailure{Kind: kind, PID: 5})
	}
	for _, state := range []session.State{session.Archived, session.Completed, session.CleanupFailed} {
		for _, quiet := range []time.Duration{0, time.Hour} {
			receipt.Quiet = quiet
			r := w.session(t, "api", state)
			r.Cleanup, r.Prompts = left, []string{"one", "two"}
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &receipt}))
		}
	}
	for _, desk := range []lifecycle.Desk{lifecycle.DeskAway, lifecycle.DeskAttached, lifecycle.DeskTyping} {
		w.sessions.look = lifecycle.Look{Phase: lifecycle.PhaseIdle, Desk: desk, Background: true}
		w.session(t, "web", session.Running)
		w.mustHear(t, "/list")
	}
}

func (w *world) sayRefusals(t *testing.T) {
	t.Helper()
	r := w.session(t, "old", session.Archived)
	undo := func(ago time.Duration) {
		r.EndedAt = w.Now().Add(-ago)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r, Receipt: &lifecycle.Receipt{}}))
		require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonUndo))
	}
	for _, err := range []error{&lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirMissing}, &lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirNotADir},
		&lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirNoAccess}, &lifecycle.StateError{State: session.Stopping}, &lifecycle.StateError{State: session.Running},
		&lifecycle.StateError{State: session.CleanupFailed}, session.ErrNotFound, lifecycle.ErrEvidence, &lifecycle.TranscriptError{Nothing: true},
		&lifecycle.TranscriptError{Health: transcript.Health{Faults: []transcript.Fault{"half_line", "nul", "duplicate"}}}} {
		w.sessions.restore = func(uuid.UUID) (session.Record, error) { return r, err }
		w.mustHear(t, "/resume old")
		undo(0)
	}
	w.sessions.restore = nil
	undo(time.Hour)
	undo(0)
	w.session(t, "stuck", session.CleanupFailed)
	w.mustHear(t, "/resume stuck")
	w.sessions.archive = func(uuid.UUID) error { return lifecycle.ErrEvidence }
	require.NoError(t, w.pressOn(t, alice, 55, w.sender.last(t), w.word(i18n.ButtonRetry)))
	w.sessions.archive = nil
	e := w.prompt(t, r, "text", inbox.Held)
	n := lifecycle.Note{Session: r, Prompt: lifecycle.Prompt{Key: e.Key}, Draft: "draft"}
	for _, n.Kind = range []lifecycle.NoteKind{lifecycle.NoteHeldBash, lifecycle.NoteDraftCleared, lifecycle.NoteHeldDraft} {
		require.NoError(t, w.SessionNews(t.Context(), n))
	}
	held := w.lastSent(t)
	for _, err := range []error{lifecycle.ErrBoxBusy, lifecycle.ErrDraftHidden, nil} {
		w.sessions.decide = func(uuid.UUID, string) error { return err }
		require.NoError(t, w.tapShown(t, alice, held, i18n.ButtonSendAnyway))
	}
}

func (w *world) sayWriters(t *testing.T, k conflict) {
	t.Helper()
	kept := inWindow(t, 3)
	kept.Spared, kept.Source = process.GuardTmux, process.SourceHook
	for _, all := range [][]lifecycle.Writer{{atDesk(1)}, {inWindow(t, 1)}, {atDesk(1), atDesk(2)}, {kept, unsure(4), agentOf(5, "web")}, nil} {
		_, m := w.told(t, k, all...)
		for n := range spots(m) {
			r, m := w.told(t, k, all...)
			require.NoError(t, w.tapSpot(t, alice, spots(m)[n]))
			w.records.forget(r.ID)
		}
		for _, how := range []lifecycle.Ending{ended(1, process.HowTerm, 0), spared(1, process.ReasonUnproven), {}} {
			r, m := w.told(t, k, all...)
			w.sessions.ends = func([]process.Identity) ([]lifecycle.Ending, error) { return []lifecycle.Ending{how}, nil }
			if w.has(m, takeWord(k)) {
				require.NoError(t, w.tapShown(t, alice, w.takeOver(t, m, takeWord(k)), takeWord(k)))
			}
			w.records.forget(r.ID)
		}
		w.sessions.writers = func(uuid.UUID) ([]lifecycle.Writer, error) { return nil, errTable }
		if w.has(m, i18n.ButtonShow) {
			require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonShow))
		}
	}
	w.sessions.restore = nil
}

// sayRecovery tells of a start everything that it can have found.
func (w *world) sayRecovery(t *testing.T) {
	t.Helper()
	rep := recovery.Report{Results: []recovery.Result{{Err: errDisk}},
		Notices: []recovery.Notice{{Kind: recovery.Newer}, {Kind: recovery.Unreadable}}}
	open := w.session(t, "open", session.Running)
	rep.Results = append(rep.Results, reportOf(recovery.Reattach, open).Results...)
	rep.Notices = append(rep.Notices, recovery.Notice{Kind: recovery.Unclear, Record: open.ID})
	w.sessions.look = lifecycle.Look{Phase: lifecycle.PhaseWaitingAnswer}
	for _, what := range []string{ResumeAsk, ResumeAll} {
		w.resumeOnStart(what)
		for _, closed := range []string{session.ClosedReboot, session.ClosedTmux, ""} {
			w.lost(t, "lost", closed)
		}
		for _, state := range []session.State{session.Abandoned, session.Failed} {
			r := w.lost(t, "over", "")
			w.records.change(r.ID, func(r *session.Record) { r.State = state })
		}
		require.NoError(t, w.Recovered(t.Context(), rep))
	}
	w.lost(t, "lost", session.ClosedTmux)
	w.lost(t, "another", session.ClosedTmux)
	require.NoError(t, w.Recovered(t.Context(), rep))
	m := w.sender.last(t)
	for _, word := range []i18n.Key{i18n.ButtonPick, i18n.ButtonResumeAll} {
		require.NoError(t, w.tapShown(t, alice, m, word))
	}
	_, target := w.transferred(t, "api")
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteTransferred, Session: target}))
}

// sayWindows shows windows of nobody and taps on all that they offer, and tells histories.
func (w *world) sayWindows(t *testing.T) {
	t.Helper()
	dead := shellWindow(t, "@22")
	dead.Pane.Dead = true
	for _, ours := range []bool{false, true} {
		one := agentWindow(t, "@21", 4123)
		if one.Ours = ours; ours {
			one.Agent.Pane.PID = one.Agent.PID
		}
		for _, word := range []i18n.Key{i18n.ButtonArchive, i18n.ButtonIgnore, i18n.ButtonAdopt} {
			m := w.unbound(t, one, dead)
			require.NoError(t, w.tapShown(t, alice, m, i18n.Key(wordWith(t, m, w.word(word)))))
		}
		w.records.forget(w.records.List()[len(w.records.List())-1].ID)
	}
	m := w.unbound(t, shellWindow(t, "@21"))
	w.windows.err = errTable
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonIgnore))
	source, _ := w.transferred(t, "api")
	w.records.change(source.ID, func(r *session.Record) { r.History = make([]session.Change, 50) })
	w.mustHear(t, "/why "+source.ID.String())
	w.mustHear(t, "/why api")
}

// sayAsks lets agents ask, and taps on what that shows.
func (w *world) sayAsks(t *testing.T) {
	t.Helper()
	r, q := w.asking(t)
	allow := dataBehind(t, w.shows(t, w.message(t, q)), w.word(i18n.AskAllow))
	_, notice := w.heldBehind(t, r)
	w.press(t, alice, notice, w.word(i18n.ButtonSendAfter))
	w.tapsOn(t, alice, q, i18n.AskDenyWhy)
	w.tapsOn(t, alice, q, i18n.AskCancel)
	w.tapsLate(t, alice, q, i18n.AskCancel)
	w.tapsOn(t, alice, q, i18n.AskDenyWhy)
	w.pressLate(t, alice, notice, w.word(i18n.ButtonDenyWith))
	w.tapsLate(t, alice, q, i18n.AskDeny)
	w.result(t, q, "", "it ran", false)
	hidden := w.asksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
	w.tapAt(t, alice, privateChat(alice), w.message(t, hidden), ofCard(allow, dataBehind(t, w.shows(t, w.message(t, hidden)), w.word(i18n.AskDeny))))
	_, notice = w.heldBehind(t, r)
	w.sessions.withdraw = func(uuid.UUID, string) error { return fs.ErrNotExist }
	w.press(t, alice, notice, w.word(i18n.ButtonDenyWith))
	w.hangsUp(hidden)
	w.tapsOn(t, alice, hidden, i18n.AskDeny)
	w.dialog(t, r, trust)
	id := w.sender.lastID()
	for _, err := range []error{lifecycle.ErrRelayed, lifecycle.ErrUnseen, lifecycle.ErrNoDialog} {
		w.sessions.press = func(string) (lifecycle.Dialog, error) { return trust, err }
		w.press(t, alice, id, "↑")
	}
	w.sessions.look = lifecycle.Look{Usage: &session.Usage{Model: "Opus", Context: 41.7}}
	w.mustHear(t, "/list")
}
