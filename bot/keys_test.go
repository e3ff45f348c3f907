package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

var trust = lifecycle.Dialog{Open: true, Lines: []string{"Do you trust this folder?", "  1. No, exit", "❯ 2. Yes, I trust it"},
	Options: []string{"No, exit", "Yes, I trust it"}, Selected: 1, Whole: true, Mark: "mark-one-012"}

// dialogNote tells that a session's terminal asks something.
func dialogNote(r session.Record, d lifecycle.Dialog) lifecycle.Note {
	return lifecycle.Note{Kind: lifecycle.NoteDialog, Session: r, Dialog: &d, Asks: len(d.Options) > 0, Attach: "tmux attach"}
}

// showsDialog is a session whose terminal asks something, which the chat shows.
func (w *world) showsDialog(t *testing.T) session.Record {
	t.Helper()
	r := w.currentSession(t, "api", session.Running)
	w.sessions.dialog = trust
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.work(t)
	require.Len(t, w.sender.sent, 1)
	return r
}

func TestADialogHasAButtonPerOptionAndKeys(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		m := w.sender.sent[0]
		assert.Contains(t, m.Text.Text, w.named(i18n.DialogOpen, "api"))
		assert.Contains(t, m.Text.Text, "❯ 2. Yes, I trust it")
		assert.Equal(t, "No, exit", m.Buttons[0][0].Text)
		assert.Equal(t, []string{"No, exit", "Yes, I trust it", "↑", "↓", "←", "→", "Space", "Tab", "Esc", "Enter"}, words(m))
		var want []string
		for _, does := range []string{"choose 0", "choose 1", "press up", "press down", "press left", "press right", "press space",
			"press tab", "press esc", "press enter"} {
			want = append(want, does+" of "+r.ID.String()+" for "+trust.Mark)
		}
		for _, text := range words(m) {
			w.press(t, alice, 1, text)
		}
		assert.Equal(t, want, w.sessions.done())
	})
}

// choices are the buttons of a message that may agree to something.
func choices(m outbox.Message) []string {
	return slices.DeleteFunc(words(m), func(text string) bool { return slices.Contains([]string{"↑", "↓", "←", "→", "Esc"}, text) })
}

// TestP7_OnlyADialogThatIsSeenWholeIsAnsweredFromTheChat: what an answer would
// allow may stand where nobody sees it.
func TestP7_OnlyADialogThatIsSeenWholeIsAnsweredFromTheChat(t *testing.T) {
	var command []string
	for i := range 60 {
		command = append(command, fmt.Sprintf("   line %d of the command", i))
	}
	asks := func(lines ...string) []string {
		return append(append([]string{" Bash command"}, lines...), " ❯ 1. Yes", "   2. No")
	}
	long := asks(strings.Repeat("wide 😀 ", 2000))
	tests := []struct {
		name          string
		seen          bool // the terminal shows all of it
		lines, labels []string
		whole         bool
		shows         string
	}{
		{"short", true, asks("   ls"), []string{"Yes", "No"}, true, " Bash command\n   ls\n"},
		{"more lines than a terminal has", true, asks(command...), []string{"Yes", "No"}, true, "   line 0 of the command\n"},
		{"longer than a message", true, long, []string{"Yes", "No"}, false, "   2. No"},
		{"a part of it is hidden", false, asks("   ls"), []string{"Yes", "No"}, false, "   ls\n"},
		{"it turns around", true, asks("   rm \u202etxt.a"), []string{"Yes", "No"}, false, "rm ⟨U+202E⟩txt.a"},
		{"it is not seen", true, asks("   rm \u200b/"), []string{"Yes", "No"}, false, "rm ⟨U+200B⟩/"},
		{"it is far to the right", true, asks("   ls" + strings.Repeat(" ", 60) + "; rm"), []string{"Yes", "No"}, false, "ls⟨60×␠⟩; rm"},
		{"a page that is too long", true, long, nil, false, "   2. No"},
		{"a page without options", true, asks("   ls"), nil, true, " Bash command"},
		{"a page of which a part is hidden", false, asks("   ls"), nil, false, " Bash command"},
	}
	for _, tt := range tests {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			d := lifecycle.Dialog{Open: true, Lines: tt.lines, Options: tt.labels, Mark: "mark-one-012", Whole: tt.seen}
			r := w.session(t, "api", session.Running)
			m := w.dialog(t, r, d)
			assert.Contains(t, m.Text.Text, tt.shows)
			assert.Equal(t, !tt.whole, strings.Contains(m.Text.Text, w.word(i18n.DialogNotWhole)))
			if tt.whole {
				assert.Len(t, choices(m), len(tt.labels)+3)
			} else {
				assert.Empty(t, choices(m))
				assert.Len(t, words(m), 5, "one can look around, and leave it")
			}
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
			closed := w.sender.lastEdit(t).Text
			assert.Contains(t, closed.Text, w.word(i18n.DialogClosed))
			assert.LessOrEqual(t, closed.Length(), render.Limit)
		})
	}
}

func TestADialogWithLongOptions(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		d := trust
		d.Options = nil
		for range 40 {
			d.Options = append(d.Options, strings.Repeat("long ", 50), "\u202e")
		}
		m := w.dialog(t, w.session(t, "api", session.Running), d)
		assert.Len(t, m.Buttons, 12+2, "so many options, and the keys")
		for _, row := range m.Buttons {
			for _, b := range row {
				assert.NotEmpty(t, b.Text)
				assert.LessOrEqual(t, len([]rune(b.Text)), 60)
			}
		}
	})
}

func TestAKeyIsPressedForWhatThePersonSaw(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		moved := trust
		moved.Selected, moved.Mark, moved.Lines = 0, "mark-two-012", []string{"❯ 1. No, exit"}
		w.sessions.dialog = moved
		w.press(t, alice, 1, "↑")
		assert.Contains(t, w.sessions.done(), "press up of "+r.ID.String()+" for "+trust.Mark)
		m := w.sender.lastEdit(t)
		assert.Contains(t, m.Text.Text, "❯ 1. No, exit")
		w.sessions.dialog = lifecycle.Dialog{}
		w.press(t, bob, 1, moved.Options[1])
		assert.Contains(t, w.sessions.done(), "choose 1 of "+r.ID.String()+" for "+moved.Mark, "drawn for what was shown then")
		m = w.sender.lastEdit(t)
		assert.Contains(t, m.Text.Text, w.word(i18n.DialogClosed))
		assert.Empty(t, m.Buttons)
		before := len(w.sessions.done())
		w.pressLate(t, alice, 1, "Enter")
		assert.Len(t, w.sessions.done(), before, "no key for a dialog that is gone")
	})
}

func TestAKeyThatIsNotPressedIsTold(t *testing.T) {
	changed := trust
	changed.Mark = "mark-two-012"
	for _, tt := range []struct {
		name   string
		now    lifecycle.Dialog
		err    error
		says   i18n.Key
		closed bool
		redraw bool
	}{
		{"it shows something else", changed, lifecycle.ErrChanged, i18n.KeysChanged, false, true},
		{"it shows nothing to press in", lifecycle.Dialog{}, lifecycle.ErrChanged, i18n.KeysChanged, true, false},
		{"a request waits", trust, lifecycle.ErrRelayed, i18n.KeysRelayed, false, false},
		{"no dialog", lifecycle.Dialog{}, lifecycle.ErrNoDialog, i18n.KeysNoDialog, true, false},
		{"nobody knows", lifecycle.Dialog{}, lifecycle.ErrUnseen, i18n.KeysUnseen, false, false},
		{"no agent", lifecycle.Dialog{}, lifecycle.ErrNoAgent, i18n.AlreadyEnded, true, false},
		{"tmux refuses", lifecycle.Dialog{}, tmux.ErrGuard, i18n.StopRefused, false, false},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r := w.showsDialog(t)
			w.sessions.press = func(string) (lifecycle.Dialog, error) { return tt.now, tt.err }
			w.press(t, alice, 1, "Enter")
			says := w.word(tt.says, i18n.Args{"Name": "api", "Command": "tmux attach -t api"})
			assert.Contains(t, w.sender.done(), "answer query: "+says)
			assert.Equal(t, tt.closed || tt.redraw, len(w.sender.edited) > 0)
			if tt.closed {
				assert.Empty(t, w.sender.lastEdit(t).Buttons)
			}
			if tt.redraw {
				w.press(t, alice, 1, "Enter")
				assert.Contains(t, w.sessions.done(), "press enter of "+r.ID.String()+" for "+changed.Mark)
			}
		})
	}
	runsAs(t, "the disk is full", func(t *testing.T, w *world) {
		w.showsDialog(t)
		w.sessions.press = func(string) (lifecycle.Dialog, error) { return lifecycle.Dialog{}, errDisk }
		assert.ErrorIs(t, w.pressing(t, alice, 1, "↑"), errDisk)
	})
}

func TestP9_KeysCountFromAllowedPeopleUnderTheirMessageOnly(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		at := ref(r.ID) + ":" + trust.Mark
		for _, text := range []string{"Enter", trust.Options[1]} {
			d := dataBehind(t, w.shows(t, 1), text)
			w.tapAt(t, eve, privateChat(alice), 1, d)
			w.tapAt(t, alice, groupChat(ours), 1, d)
			w.tapAt(t, alice, privateChat(alice), 99, d)
		}
		for _, d := range []string{"key", "key:x", "key:" + ref(r.ID), "opt:" + at, "opt:" + at + ":one:two"} {
			w.tapAt(t, alice, privateChat(alice), 1, d)
		}
		assert.Empty(t, w.sessions.done())
		assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.DialogStale))
		w.tapAt(t, alice, privateChat(alice), 1, "opt:"+at+":x")
		assert.Empty(t, w.sessions.done())
	})
}

func TestP8_TheDialogsMessageOutlivesARestart(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		w.sessions.dialog = trust
		w.stops(t)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.restart(t)
		require.Len(t, w.sender.sent, 1, "it was on disk")
		w.restart(t)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)), "lifecycle tells it again")
		w.work(t)
		assert.Len(t, w.sender.sent, 1)
		assert.Equal(t, w.sender.sent[0].Buttons, w.sender.lastEdit(t).Buttons)
		w.sessions.dialog = lifecycle.Dialog{}
		w.restart(t)
		assert.Empty(t, w.sender.lastEdit(t).Buttons, "it went while nobody looked")
		edits := len(w.sender.edited)
		w.restart(t)
		assert.Len(t, w.sender.edited, edits+1, "the last edit may have been lost")
		w.restart(t)
		assert.Len(t, w.sender.edited, edits+1)
	})
}

func TestAnotherDialogHasAMessageOfItsOwn(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		other := trust
		other.Mark = "mark-two-012"
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, other)))
		w.work(t)
		assert.Len(t, w.sender.sent, 2)
		assert.Empty(t, w.sender.lastEdit(t).Buttons, "the first one's are spent")
		w.tapAt(t, alice, privateChat(alice), 1, dataBehind(t, w.shows(t, 2), "↑"))
		assert.Empty(t, w.sessions.done())
		w.press(t, alice, 2, "↑")
		assert.NotEmpty(t, w.sessions.done())
	})
}

func TestADialogThatGoesIsClosed(t *testing.T) {
	for _, kind := range []lifecycle.NoteKind{lifecycle.NoteDialogGone, lifecycle.NoteReady, lifecycle.NoteEnded, lifecycle.NoteStopped} {
		runsAs(t, string(kind), func(t *testing.T, w *world) {
			r := w.showsDialog(t)
			n := lifecycle.Note{Kind: kind, Session: r, Receipt: &lifecycle.Receipt{}}
			require.NoError(t, w.SessionNews(t.Context(), n))
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
			assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(i18n.DialogClosed))
			edits := len(w.sender.edited)
			require.NoError(t, w.SessionNews(t.Context(), n))
			assert.Len(t, w.sender.edited, edits)
		})
	}
}

// It goes before Telegram has taken its message, or while that is under way.
func TestADialogThatWentBeforeItWasShown(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		gone := lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}
		taken := make(chan struct{})
		w.sender.send = func(context.Context, outbox.Message) error { <-taken; return nil }
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(w.session(t, "slow", session.Running), trust)))
		w.work(t)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		require.NoError(t, w.SessionNews(t.Context(), gone))
		close(taken)
		w.work(t)
		assert.Len(t, w.sender.sent, 1, "the other one")
		w.sender.send = func(context.Context, outbox.Message) error { return w.SessionNews(t.Context(), gone) }
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		require.Len(t, w.sender.sent, 2)
		assert.Empty(t, w.sender.lastEdit(t).Buttons)
	})
}

// A person may tap before Telegram's answer says which message it is.
func TestATapBeforeTheAnswerToItsMessageCounts(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		moved := trust
		moved.Selected, moved.Mark = 0, "mark-two-012"
		w.sessions.dialog = moved
		w.sender.send = func(_ context.Context, m outbox.Message) error { return w.pressOn(t, alice, 1, m, "↑") }
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		assert.NotEmpty(t, w.sessions.done())
		require.Len(t, w.dialogFiles(t), 1)
		assert.Equal(t, 1, w.sender.lastEdit(t).ReplyTo)
		assert.NotEmpty(t, w.sender.lastEdit(t).Buttons, "it stays open")
		w.press(t, alice, 1, "↓")
		assert.Contains(t, w.sessions.done(), "press down of "+r.ID.String()+" for "+moved.Mark)
	})
}

func TestADialogTelegramDoesNotTake(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		for _, tt := range []struct {
			err  error
			kept int
		}{{errors.New("closed"), 1}, {&outbox.Refused{Err: errors.New("bad request")}, 0}} {
			w.sender.send = func(context.Context, outbox.Message) error { return tt.err }
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
			w.work(t)
			assert.Len(t, w.dialogFiles(t), tt.kept, "the next start sends it")
		}
	})
}

// Another dialog opens while Telegram is asked to take the first one's message.
func TestARefusedDialogLeavesTheNextOneAlone(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		runs(t, func(t *testing.T, w *world) {
			r := w.currentSession(t, "api", session.Running)
			other := trust
			other.Mark = "mark-two-012"
			w.sessions.dialog = other
			first := true
			w.sender.send = func(context.Context, outbox.Message) error {
				if !first {
					return nil
				}
				first = false
				require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, other)))
				if refuses {
					return &outbox.Refused{Err: outbox.ErrBlocked}
				}
				return nil
			}
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
			w.work(t)
			assert.Equal(t, []string{filepath.Join(w.dir, "dialogs", r.ID.String()+".json")}, w.dialogFiles(t))
			sent := w.sender.lastID()
			w.restart(t)
			require.Equal(t, sent, w.sender.lastID(), "it is known which message it is")
			w.press(t, alice, sent, "↑")
			assert.Equal(t, []string{"press up of " + r.ID.String() + " for " + other.Mark}, w.sessions.done())
		})
	}
}

func TestP9_ADialogIsNotShownToWhoIsNotAllowedAnyMore(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		delete(w.Allowed, alice)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		w.silent(t)
	})
}

func TestAnAgentThatIsNotReadyHasKeys(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Starting)
		n := dialogNote(r, lifecycle.Dialog{Open: true, Lines: []string{"Press Enter to go on"}, Selected: -1, Whole: true, Mark: "mark-one-012"})
		n.Kind = lifecycle.NoteNotReporting
		require.NoError(t, w.SessionNews(t.Context(), n))
		w.work(t)
		assert.Contains(t, w.sender.sent[0].Text.Text, "Press Enter to go on")
		w.press(t, alice, 1, "Enter")
		assert.Contains(t, w.sessions.done(), "press enter of "+r.ID.String()+" for mark-one-012")
	})
}

func TestDialogsThatCannotBeReadAreSetAside(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		dir := filepath.Join(w.dir, "dialogs")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte("{"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "y.json"), []byte(`{"version":1}`), 0o600))
		w.restart(t)
		w.dialog(t, r, trust)
		assert.Len(t, w.sender.sent, 1, "the other one is known as before")
		assert.Len(t, w.dialogFiles(t), 1)
		aside, err := filepath.Glob(filepath.Join(w.dir, "quarantine", "*.json"))
		require.NoError(t, err)
		assert.Len(t, aside, 2)
	})
}

// TestP8_ANewerProgramsDialogIsLeftAlone, and one that cannot be read for a moment
// is not thrown away either.
func TestP8_ANewerProgramsDialogIsLeftAlone(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		dir := filepath.Join(w.dir, "dialogs")
		newer := filepath.Join(dir, "x.json")
		require.NoError(t, os.WriteFile(newer, []byte(`{"version":2,"session":7}`), 0o600))
		w.restart(t)
		w.dialog(t, r, trust)
		assert.Len(t, w.sender.sent, 1, "the other one is known as before")
		assert.FileExists(t, newer)
		require.NoError(t, os.Remove(newer))

		if os.Geteuid() != 0 { // root reads everything
			require.NoError(t, os.WriteFile(newer, []byte(`{}`), 0o000))
			_, err := OpenDialogs(dir, filepath.Join(w.dir, "quarantine"), w.Log)
			require.ErrorIs(t, err, os.ErrPermission)
			assert.FileExists(t, newer)
		}
	})
}

// What a later program of the same version adds survives.
func TestADialogsUnknownFieldsSurvive(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.showsDialog(t)
		path := filepath.Join(w.dir, "dialogs", r.ID.String()+".json")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "{", `{"later":1,`, 1)), 0o600))
		w.restart(t)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		data, err = os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(data), `"later":1`)
		assert.Contains(t, string(data), `"closed":true`)
	})
}
