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
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

var trust = lifecycle.Dialog{Open: true, Lines: []string{"Do you trust this folder?", "  1. No, exit", "❯ 2. Yes, I trust it"},
	Options: []string{"No, exit", "Yes, I trust it"}, Selected: 1, Whole: true, Mark: "mark-one-012"}

// dialogNote tells that a session's terminal asks something.
func dialogNote(r session.Record, d lifecycle.Dialog) lifecycle.Note {
	return lifecycle.Note{Kind: lifecycle.NoteDialog, Session: r, Dialog: &d, Attach: "tmux attach"}
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

// presses taps a button of the message that shows a dialog in Alice's chat, by its word.
func (w *world) presses(t *testing.T, from int64, message int, word string) {
	t.Helper()
	s := w.spot(t, w.sender.now(message), i18n.Key(word))
	w.tapAt(t, from, privateChat(alice), message, s.button.Data)
}

func TestADialogHasAButtonPerOptionAndKeys(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	m := w.sender.sent[0]
	assert.Contains(t, m.Text.Text, w.named(i18n.DialogOpen, "api"))
	assert.Contains(t, m.Text.Text, "❯ 2. Yes, I trust it")
	assert.False(t, m.Silent)
	assert.Equal(t, []string{"No, exit", "Yes, I trust it", "↑", "↓", "←", "→", "Space", "Tab", "Esc", "Enter"}, words(m))
	var pressed []string
	for _, what := range []string{"choose 0", "choose 1", "press up", "press down", "press left", "press right", "press space",
		"press tab", "press esc", "press enter"} {
		pressed = append(pressed, what+" of "+r.ID.String()+" for "+trust.Mark)
	}
	for _, word := range words(m) {
		w.presses(t, alice, 1, word)
	}
	assert.Equal(t, pressed, w.sessions.done())
}

// choices are the buttons of a message that may agree to something.
func choices(m outbox.Message) []string {
	return slices.DeleteFunc(words(m), func(word string) bool {
		return slices.Contains([]string{"↑", "↓", "←", "→", "Esc"}, word)
	})
}

// TestP7_OnlyADialogThatIsSeenWholeIsAnsweredFromTheChat: what an answer would allow may stand
// where nobody sees it.
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
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			d := lifecycle.Dialog{Open: true, Lines: tt.lines, Options: tt.labels, Mark: "mark-one-012", Whole: tt.seen}
			r := w.session(t, "api", session.Running)
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, d)))
			m := w.sender.now(1)
			assert.Contains(t, m.Text.Text, tt.shows)
			assert.Equal(t, !tt.whole, strings.Contains(m.Text.Text, w.word(i18n.DialogNotWhole)))
			if tt.whole {
				assert.Len(t, choices(m), len(tt.labels)+3)
			} else {
				assert.Empty(t, choices(m))
				assert.Len(t, words(m), 5, "one can look around, and leave it")
			}
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
			closed := w.sender.now(1).Text
			assert.Equal(t, m.Text.Text+"\n\n"+w.word(i18n.DialogClosed), closed.Text, "there is room for it")
			assert.LessOrEqual(t, closed.Length(), limit)
		})
	}
}

func TestADialogWithLongOptions(t *testing.T) {
	w := newWorld(t)
	d := trust
	d.Options = nil
	for range 40 {
		d.Options = append(d.Options, strings.Repeat("long ", 50), "\u202e")
	}
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(w.session(t, "api", session.Running), d)))
	m := w.sender.now(1)
	assert.Len(t, m.Buttons, 12+2)
	for _, word := range words(m) {
		assert.NotEmpty(t, word)
		assert.LessOrEqual(t, len([]rune(word)), 60)
	}
}

func TestAKeyIsPressedForWhatThePersonSaw(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	moved := trust
	moved.Selected, moved.Mark, moved.Lines = 0, "mark-two-012", []string{"❯ 1. No, exit"}
	w.sessions.dialog = moved
	enter := w.spot(t, w.sender.now(1), "Enter").button.Data
	w.presses(t, alice, 1, "↑")
	assert.Contains(t, w.sessions.done(), "press up of "+r.ID.String()+" for "+trust.Mark)
	assert.Contains(t, w.sender.lastEdit(t).Text.Text, "❯ 1. No, exit")
	before := len(w.sessions.done())
	w.tapAt(t, alice, privateChat(alice), 1, enter)
	assert.Len(t, w.sessions.done(), before, "no key for what is not shown any more")
	w.sessions.dialog = lifecycle.Dialog{}
	w.presses(t, bob, 1, "Yes, I trust it")
	assert.Contains(t, w.sessions.done(), "choose 1 of "+r.ID.String()+" for "+moved.Mark, "drawn for what is shown now")
	m := w.sender.lastEdit(t)
	assert.Contains(t, m.Text.Text, w.word(i18n.DialogClosed))
	assert.Empty(t, m.Buttons)
	before = len(w.sessions.done())
	w.tapAt(t, alice, privateChat(alice), 1, enter)
	assert.Len(t, w.sessions.done(), before, "no key for a dialog that is gone")
}

func TestAKeyThatIsNotPressedIsTold(t *testing.T) {
	changed := trust
	changed.Mark, changed.Lines = "mark-two-012", []string{"Something else"}
	for _, tt := range []struct {
		name   string
		now    lifecycle.Dialog
		err    error
		says   i18n.Key
		closed bool
		redraw bool
	}{
		{"it shows something else", changed, lifecycle.ErrChanged, i18n.WritersChanged, false, true},
		{"it shows nothing to press in", lifecycle.Dialog{}, lifecycle.ErrChanged, i18n.WritersChanged, true, false},
		{"a request waits", trust, lifecycle.ErrRelayed, i18n.KeysRelayed, false, false},
		{"no dialog", lifecycle.Dialog{}, lifecycle.ErrNoDialog, i18n.KeysNoDialog, true, false},
		{"nobody knows", lifecycle.Dialog{}, lifecycle.ErrUnseen, i18n.KeysUnseen, false, false},
		{"no agent", lifecycle.Dialog{}, lifecycle.ErrNoAgent, i18n.AlreadyEnded, true, false},
		{"tmux refuses", lifecycle.Dialog{}, tmux.ErrGuard, i18n.StopRefused, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.showsDialog(t)
			w.sessions.press = func(string) (lifecycle.Dialog, error) { return tt.now, tt.err }
			w.presses(t, alice, 1, "Enter")
			said := w.sender.last(t)
			assert.Equal(t, w.word(tt.says, i18n.Args{"Name": "api", "Command": "tmux attach -t api"}), said.Text.Text)
			assert.Equal(t, tt.closed || tt.redraw, len(w.sender.edited) > 0)
			if tt.closed {
				assert.Empty(t, w.sender.now(1).Buttons)
			}
			if tt.redraw {
				assert.Contains(t, w.sender.now(1).Text.Text, "Something else")
				w.sessions.press = nil
				w.presses(t, alice, 1, "Enter")
				assert.Contains(t, strings.Join(w.sessions.done(), "\n"), "for "+changed.Mark)
			}
		})
	}
	w := newWorld(t)
	w.showsDialog(t)
	w.sessions.press = func(string) (lifecycle.Dialog, error) { return lifecycle.Dialog{}, errDisk }
	w.presses(t, alice, 1, "↑")
	w.toldOfError(t, nil)
}

func TestP9_KeysCountFromAllowedPeopleUnderTheirMessageOnly(t *testing.T) {
	w := newWorld(t)
	w.showsDialog(t)
	m := w.sender.now(1)
	for _, word := range []string{"Enter", "Yes, I trust it"} {
		d := w.spot(t, m, i18n.Key(word)).button.Data
		w.tapAt(t, eve, privateChat(alice), 1, d)
		w.tapAt(t, alice, groupChat(ours), 1, d)
		w.tapAt(t, alice, privateChat(alice), 99, d)
	}
	parts := strings.Split(data(m)[0], ":")
	for _, d := range []string{parts[0], parts[0] + ":" + parts[1], data(m)[0] + ":1", parts[0] + ":" + parts[1] + ":x",
		parts[0] + ":" + parts[1] + ":99", parts[0] + ":" + strings.Repeat("x", len(parts[1])) + ":0"} {
		w.tapAt(t, alice, privateChat(alice), 1, d)
	}
	assert.Empty(t, w.sessions.done())
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
}

func TestP8_TheDialogsMessageOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		w.sessions.dialog = trust
		require.NoError(t, w.Bot.SessionNews(t.Context(), w.hosted.Note(dialogNote(r, trust))))
		w.sender.waiting = nil
		start := func() {
			w.again()
			w.settled(t)
		}
		start()
		require.Len(t, w.sender.sent, 1, "it was on disk")
		start()
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)), "lifecycle tells it again")
		assert.Len(t, w.sender.sent, 1)
		assert.Equal(t, data(w.sender.sent[0]), data(w.sender.now(1)))
		w.presses(t, alice, 1, "↑")
		assert.NotEmpty(t, w.sessions.done())
		w.sessions.dialogErr = lifecycle.ErrUnseen
		start()
		assert.NotEmpty(t, w.sender.now(1).Buttons, "the terminal cannot be seen")
		w.sessions.dialog, w.sessions.dialogErr = lifecycle.Dialog{}, nil
		start()
		assert.Empty(t, w.sender.now(1).Buttons, "it went while nobody looked")
		assert.Contains(t, w.sender.now(1).Text.Text, w.word(i18n.DialogClosed))
		start()
		edits := len(w.sender.edited)
		start()
		assert.Len(t, w.sender.edited, edits)
	})
}

func TestADialogOfASessionThatEndedUnseenIsClosedAtTheStart(t *testing.T) {
	for _, err := range []error{lifecycle.ErrNoAgent, session.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.showsDialog(t)
			w.sessions.dialogErr = err
			w.again()
			w.settled(t)
			assert.Empty(t, w.sender.now(1).Buttons)
		})
	}
}

func TestAnotherDialogHasAMessageOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.showsDialog(t)
	other := trust
	other.Mark = "mark-two-012"
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(w.records.List()[0], other)))
	require.Len(t, w.sender.sent, 2)
	assert.False(t, w.sender.sent[1].Silent)
	assert.Empty(t, w.sender.now(1).Buttons, "the first one's are spent")
	assert.Contains(t, w.sender.now(1).Text.Text, w.word(i18n.DialogClosed))
	w.tapAt(t, alice, privateChat(alice), 1, data(w.sender.now(2))[0])
	assert.Empty(t, w.sessions.done())
	w.presses(t, alice, 2, "↑")
	assert.NotEmpty(t, w.sessions.done())
}

// Another dialog opens while a key is pressed in the first one.
func TestATapOnAnEarlierDialogLeavesTheNewOneAlone(t *testing.T) {
	for _, now := range []lifecycle.Dialog{{}, {Open: true, Lines: []string{"Something else"}, Mark: "mark-six-012"}} {
		w := newWorld(t)
		r := w.showsDialog(t)
		other := trust
		other.Mark = "mark-two-012"
		w.sessions.press = func(string) (lifecycle.Dialog, error) {
			return now, w.SessionNews(t.Context(), dialogNote(r, other))
		}
		w.presses(t, alice, 1, "↑")
		require.Len(t, w.sender.sent, 2)
		assert.Equal(t, w.sender.sent[1].Text, w.sender.now(2).Text)
		assert.NotEmpty(t, w.sender.now(2).Buttons)
	}
}

func TestADialogThatGoesIsClosed(t *testing.T) {
	for _, kind := range []lifecycle.NoteKind{lifecycle.NoteDialogGone, lifecycle.NoteReady, lifecycle.NoteEnded, lifecycle.NoteStopped} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
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
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	gone := lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}
	require.NoError(t, w.Bot.SessionNews(t.Context(), w.hosted.Note(dialogNote(r, trust))))
	require.NoError(t, w.SessionNews(t.Context(), gone))
	assert.Empty(t, w.sender.sent)
	w.sender.send = func(context.Context, outbox.Message) error { return w.SessionNews(t.Context(), gone) }
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	require.Len(t, w.sender.sent, 1)
	assert.Empty(t, w.sender.now(1).Buttons)
}

// A person may tap before Telegram's answer says which message it is.
func TestATapBeforeTheAnswerToItsMessageCounts(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	moved := trust
	moved.Selected, moved.Mark, moved.Lines = 0, "mark-two-012", []string{"❯ 1. No, exit"}
	w.sessions.dialog = moved
	w.sender.send = func(_ context.Context, m outbox.Message) error {
		w.tapAt(t, alice, privateChat(alice), 1, w.spot(t, m, "↑").button.Data)
		return nil
	}
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	assert.NotEmpty(t, w.sessions.done())
	assert.Contains(t, w.sender.now(1).Text.Text, "❯ 1. No, exit")
	assert.NotEmpty(t, w.sender.now(1).Buttons, "it stays open")
	assert.Len(t, w.sender.sent, 1)
}

func TestADialogTelegramDoesNotTake(t *testing.T) {
	for _, tt := range []struct {
		err   error
		shown int
	}{{errors.New("closed"), 1}, {&outbox.Refused{Err: errors.New("bad request")}, 0}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.sessions.dialog = trust
			w.sender.send = func(context.Context, outbox.Message) error { return tt.err }
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(w.currentSession(t, "api", session.Running), trust)))
			w.sender.send = nil
			w.again()
			w.settled(t)
			assert.Len(t, w.sender.sent, tt.shown, "the next start sends it")
		})
	}
}

// Another dialog opens while Telegram is asked to take the first one's message.
func TestARefusedDialogLeavesTheNextOneAlone(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		other := trust
		other.Mark = "mark-two-012"
		first := true
		w.sender.send = func(context.Context, outbox.Message) error {
			if !first {
				return nil
			}
			first = false
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, other)))
			if refuses {
				return &outbox.Refused{Err: errors.New("bad request")}
			}
			return nil
		}
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		newest := w.sender.lastID()
		w.presses(t, alice, newest, "↑")
		assert.Equal(t, []string{"press up of " + r.ID.String() + " for " + other.Mark}, w.sessions.done())
		if !refuses {
			require.Equal(t, 2, newest)
			assert.Empty(t, w.sender.now(1).Buttons)
		}
	}
}

func TestP9_ADialogIsNotShownToWhoIsNotAllowedAnyMore(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	delete(w.Allowed, alice)
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.work(t)
	w.silent(t)
}

func TestAnAgentThatIsNotReadyHasKeys(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Starting)
	n := dialogNote(r, lifecycle.Dialog{Open: true, Lines: []string{"Press Enter to go on"}, Selected: -1, Whole: true, Mark: "mark-one-012"})
	n.Kind = lifecycle.NoteNotReporting
	require.NoError(t, w.SessionNews(t.Context(), n))
	assert.Contains(t, w.sender.now(1).Text.Text, "Press Enter to go on")
	w.presses(t, alice, 1, "Enter")
	assert.Equal(t, []string{"press enter of " + r.ID.String() + " for mark-one-012"}, w.sessions.done())
}

// TestP8_ANewerProgramsDialogIsLeftAlone, and one that cannot be read for a moment is not thrown
// away either.
func TestP8_ANewerProgramsDialogIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.showsDialog(t)
	dir := filepath.Join(w.dir, "cards")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	mine, err := os.ReadFile(files[0])
	require.NoError(t, err)
	newer := strings.Replace(string(mine), `"version":1`, `"version":2`, 1)
	require.NoError(t, os.WriteFile(files[0], []byte(newer), 0o600))
	w.again()
	w.presses(t, alice, 1, "Enter")
	assert.Empty(t, w.sessions.done(), "its buttons mean what the newer program says")
	kept, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, newer, string(kept))

	if os.Geteuid() != 0 { // root reads everything
		require.NoError(t, os.Chmod(files[0], 0))
		_, err := card.Open(dir, filepath.Join(w.dir, "quarantine"), w.sender, w.MayShow, w.Log)
		require.ErrorIs(t, err, os.ErrPermission)
		assert.FileExists(t, files[0])
	}
}
