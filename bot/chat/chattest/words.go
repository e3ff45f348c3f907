package chattest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

func (w *World) SayReceipts(t *testing.T) {
	t.Helper()
	agent := Ended(1, process.HowKill, 50*time.Hour)
	receipt := ending.Receipt{Agent: &agent, Split: true, Adopted: true,
		Others: []ending.Ending{Ended(2, process.HowTerm, time.Second), Ended(3, process.HowKill, time.Minute)}}
	for _, code := range append(Consts(t, "../lifecycle/ending", "Reason"), append(Consts(t, "../internal/process", "Reason"),
		Consts(t, "../internal/process", "Guard")...)...) {
		receipt.Others = append(receipt.Others, Spared(4, code))
	}
	left := &session.CleanupError{}
	for _, kind := range Consts(t, "../lifecycle/ending", "Failure") {
		left.Failures = append(left.Failures, session.CleanupFailure{Kind: kind, PID: 5})
	}
	for _, state := range []session.State{session.Archived, session.Completed, session.CleanupFailed} {
		for _, quiet := range []time.Duration{0, time.Hour} {
			receipt.Quiet = quiet
			r := w.Session(t, "api", state)
			r.Cleanup, r.Prompts = left, []string{"one", "two"}
			require.NoError(t, w.SessionNews(t.Context(), r, receipt))
		}
	}
	for _, desk := range []view.Attachment{view.Detached, view.Attached, view.PersonTyping} {
		w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Attachment: desk, Background: true}
		w.Session(t, "web", session.Running)
		w.MustHear(t, "/list")
	}
}

func (w *World) SayRefusals(t *testing.T) {
	t.Helper()
	r := w.Session(t, "old", session.Archived)
	undo := func(ago time.Duration) {
		r.EndedAt = w.Now().Add(-ago)
		require.NoError(t, w.SessionNews(t.Context(), r, ending.Receipt{}))
		require.NoError(t, w.TapShown(t, Alice, w.Telegram.Last(t), i18n.ButtonUndo))
	}
	for _, err := range []error{&lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirMissing}, &lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirNotADir},
		&lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirNoAccess}, &lifecycle.StateError{State: session.Stopping}, &lifecycle.StateError{State: session.Running},
		&lifecycle.StateError{State: session.CleanupFailed}, session.ErrNotFound, evidence.ErrUnreadable, &lifecycle.TranscriptError{Nothing: true},
		&lifecycle.TranscriptError{Nothing: true, Deleted: true},
		&lifecycle.TranscriptError{Health: agent.Health{Faults: []agent.Fault{"half_line", "nul", "duplicate"}}}} {
		w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return r, err }
		w.MustHear(t, "/resume old")
		undo(0)
	}
	w.Lifecycle.OnRestore = nil
	undo(time.Hour)
	undo(0)
	w.Session(t, "stuck", session.CleanupFailed)
	w.MustHear(t, "/resume stuck")
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return evidence.ErrUnreadable }
	require.NoError(t, w.pressOn(t, Alice, 55, w.Telegram.Last(t), w.Word(i18n.ButtonRetry)))
	w.Lifecycle.OnArchive = nil
	e := w.Prompt(t, r, "text", inbox.Held)
	about := talk.Prompt{Key: e.Key}
	for _, n := range []news.News{news.Held{Why: news.HeldBash, Prompt: about}, news.DraftCleared{Draft: "draft"},
		news.Held{Why: news.HeldDraft, Prompt: about}} {
		require.NoError(t, w.SessionNews(t.Context(), r, n))
	}
	held := w.LastSent(t)
	for _, err := range []error{typing.ErrBoxBusy, typing.ErrDraftHidden, view.ErrSilent, nil} {
		w.Lifecycle.Decide = func(uuid.UUID, string) error { return err }
		require.NoError(t, w.TapShown(t, Alice, held, i18n.ButtonSendAnyway))
	}
}

func (w *World) SayWriters(t *testing.T, k Conflict) {
	t.Helper()
	kept := InWindow(t, 3)
	kept.Spared, kept.Source = process.GuardTmux, process.SourceHook
	for _, all := range [][]evidence.Writer{{InTerminal(1)}, {InWindow(t, 1)}, {InTerminal(1), InTerminal(2)}, {kept, Unsure(4), AgentOf(5, "web")}, nil} {
		_, m := w.MarkReported(t, k, all...)
		for n := range Spots(m) {
			r, m := w.MarkReported(t, k, all...)
			require.NoError(t, w.TapSpot(t, Alice, Spots(m)[n]))
			w.Records.Forget(r.ID)
		}
		for _, how := range []ending.Ending{Ended(1, process.HowTerm, 0), Spared(1, process.ReasonUnproven), {}} {
			r, m := w.MarkReported(t, k, all...)
			w.Lifecycle.Ends = func([]process.Identity) ([]ending.Ending, error) { return []ending.Ending{how}, nil }
			if w.Has(m, TakeWord(k)) {
				require.NoError(t, w.TapShown(t, Alice, w.TakeOver(t, m, TakeWord(k)), TakeWord(k)))
			}
			w.Records.Forget(r.ID)
		}
		w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return nil, ErrTable }
		if w.Has(m, i18n.ButtonShow) {
			require.NoError(t, w.TapShown(t, Alice, m, i18n.ButtonShow))
		}
	}
	w.Lifecycle.OnRestore = nil
}

// SayRecovery reports everything that a start can have found.
func (w *World) SayRecovery(t *testing.T) {
	t.Helper()
	rep := recovery.Report{Booted: Started, Results: []recovery.Result{{Err: ErrDisk}},
		Notices: []recovery.Notice{{Kind: recovery.Unreadable}}}
	open := w.Session(t, "open", session.Running)
	rep.Results = append(rep.Results, ReportOf(lifecycle.Reattach, open).Results...)
	rep.Notices = append(rep.Notices, recovery.Notice{Kind: recovery.Unclear, Record: open.ID})
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWaitingAnswer}
	for _, what := range []string{ResumeAsk, ResumeAll} {
		w.SetResumeOnStart(what)
		for _, closed := range []string{session.ClosedReboot, session.ClosedTmux, ""} {
			w.Lost(t, "lost", closed)
		}
		for _, state := range []session.State{session.Abandoned, session.Failed} {
			r := w.Lost(t, "over", "")
			w.Records.Change(r.ID, func(r *session.Record) { r.State = state })
		}
		require.NoError(t, w.Recovered(t.Context(), rep))
	}
	w.Lost(t, "lost", session.ClosedTmux)
	w.Lost(t, "another", session.ClosedTmux)
	require.NoError(t, w.Recovered(t.Context(), rep))
	m := w.Telegram.Last(t)
	for _, word := range []i18n.Key{i18n.ButtonPick, i18n.ButtonResumeAll} {
		require.NoError(t, w.TapShown(t, Alice, m, word))
	}
	w.sayInterruptions(t)
	require.NoError(t, w.SessionNews(t.Context(), w.Adopted(t, "api"), news.Transferred{}))
}

// SayWindows shows unbound windows, taps all their buttons, and shows histories.
func (w *World) SayWindows(t *testing.T) {
	t.Helper()
	dead := ShellWindow(t, "@22")
	dead.Pane.Dead = true
	for _, ours := range []bool{false, true} {
		one := AgentWindow(t, "@21", 4123)
		if one.Ours = ours; ours {
			one.Agent.Pane.PID = one.Agent.PID
		}
		for _, word := range []i18n.Key{i18n.ButtonArchive, i18n.ButtonIgnore, i18n.ButtonAdopt} {
			m := w.Unbound(t, one, dead)
			require.NoError(t, w.TapShown(t, Alice, m, i18n.Key(wordWith(t, m, w.Word(word)))))
		}
		w.Records.Forget(w.Records.List()[len(w.Records.List())-1].ID)
	}
	m := w.Unbound(t, ShellWindow(t, "@21"))
	w.Windows.Err = ErrTable
	require.NoError(t, w.TapShown(t, Alice, m, i18n.ButtonIgnore))
	source := w.Adopted(t, "api")
	w.Records.Change(source.ID, func(r *session.Record) { r.History = make([]session.Change, 50) })
	w.MustHear(t, "/why "+source.ID.String())
	w.MustHear(t, "/why api")
}

// SayAsks lets agents ask, and taps the shown buttons.
func (w *World) SayAsks(t *testing.T) {
	t.Helper()
	r, q := w.Asking(t)
	allow := DataBehind(t, w.Shows(t, w.Message(t, q)), w.Word(i18n.AskAllow))
	first, notice := w.HeldBehind(t, r)
	w.Press(t, Alice, notice, w.Word(i18n.ButtonShowQuestion))
	w.TapsOn(t, Alice, q, i18n.AskDenyWhy)
	w.TapsOn(t, Alice, q, i18n.AskCancel)
	w.TapsLate(t, Alice, q, i18n.AskCancel)
	w.TapsOn(t, Alice, q, i18n.AskDenyWhy)
	w.PressLate(t, Alice, notice, w.Word(i18n.ButtonDenyWith))
	w.TapsLate(t, Alice, q, i18n.AskDeny)
	w.Result(t, q, "", "it ran", false)
	require.NoError(t, w.Inbox.Finish(first.Key))
	hidden := w.AsksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
	w.TapAt(t, Alice, PrivateChat(Alice), w.Message(t, hidden), OfCard(allow, DataBehind(t, w.Shows(t, w.Message(t, hidden)), w.Word(i18n.AskDeny))))
	_, notice = w.HeldBehind(t, r)
	w.Lifecycle.OnWithdraw = func(uuid.UUID, string) error { return typing.ErrNoPrompt }
	w.Press(t, Alice, notice, w.Word(i18n.ButtonDenyWith))
	w.HangsUp(hidden)
	w.TapsOn(t, Alice, hidden, i18n.AskDeny)
	w.Dialog(t, r, Trust)
	id := w.Telegram.LastID()
	for _, err := range []error{dialog.ErrRelayed, view.ErrUnseen, dialog.ErrNoDialog} {
		w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return Trust, err }
		w.Press(t, Alice, id, "↑")
	}
	w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus", Context: 41.7}}
	w.MustHear(t, "/list")
}

// OutsideText is the sentence that no session may be opened in a folder.
func (w *World) OutsideText(ctx context.Context, dir string) string {
	_, err := w.Deps.Places.Resolve(ctx, "/", dir)
	return w.In(AtAlice).Failure(port.Session{}, err).Text.Text
}
