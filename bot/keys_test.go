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

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	w := newWorld(t)
	r := w.showsDialog(t)
	m := w.sender.sent[0]
	assert.Contains(t, m.Text.Text, w.named(i18n.DialogOpen, "api"))
	assert.Contains(t, m.Text.Text, "❯ 2. Yes, I trust it")
	assert.Equal(t, "No, exit", m.Buttons[0][0].Text)
	at := ref(r.ID) + ":" + trust.Mark + ":"
	assert.Equal(t, []string{"opt:" + at + "0", "opt:" + at + "1", "key:" + at + "up", "key:" + at + "down", "key:" + at + "left",
		"key:" + at + "right", "key:" + at + "space", "key:" + at + "tab", "key:" + at + "esc", "key:" + at + "enter"}, data(m))
}

// choices are the buttons of a message that may agree to something.
func choices(m outbox.Message) []string {
	return slices.DeleteFunc(data(m), func(d string) bool {
		return strings.HasPrefix(d, "key:") && !strings.HasSuffix(d, ":enter") && !strings.HasSuffix(d, ":space") && !strings.HasSuffix(d, ":tab")
	})
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
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			d := lifecycle.Dialog{Open: true, Lines: tt.lines, Options: tt.labels, Mark: "mark-one-012", Whole: tt.seen}
			m := w.askingMessage(w.session(t, "api", session.Running), d, true)
			assert.Contains(t, m.Text.Text, tt.shows)
			assert.Equal(t, !tt.whole, strings.Contains(m.Text.Text, w.word(i18n.DialogNotWhole)))
			assert.LessOrEqual(t, m.Text.Length(), limit-closedRoom)
			if tt.whole {
				assert.Len(t, choices(m), len(tt.labels)+3)
				return
			}
			assert.Empty(t, choices(m))
			assert.Len(t, data(m), 5, "one can look around, and leave it")
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
	m := w.askingMessage(w.session(t, "api", session.Running), d, true)
	assert.Len(t, m.Buttons, shownOptions+2)
	for _, row := range m.Buttons {
		for _, b := range row {
			assert.NotEmpty(t, b.Text)
			assert.LessOrEqual(t, len([]rune(b.Text)), 60)
		}
	}
}

func TestAKeyIsPressedForWhatThePersonSaw(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	moved := trust
	moved.Selected, moved.Mark, moved.Lines = 0, "mark-two-012", []string{"❯ 1. No, exit"}
	w.sessions.dialog = moved
	at := ref(r.ID) + ":" + trust.Mark
	w.tapAt(t, alice, privateChat(alice), 1, "key:"+at+":up")
	assert.Contains(t, w.sessions.done(), "press up of "+r.ID.String()+" for "+trust.Mark)
	m := w.sender.lastEdit(t)
	assert.Contains(t, m.Text.Text, "❯ 1. No, exit")
	assert.Contains(t, data(m), "opt:"+ref(r.ID)+":"+moved.Mark+":1", "drawn for what is shown now")
	w.sessions.dialog = lifecycle.Dialog{}
	w.tapAt(t, bob, privateChat(alice), 1, "opt:"+ref(r.ID)+":"+moved.Mark+":1")
	assert.Contains(t, w.sessions.done(), "choose 1 of "+r.ID.String()+" for "+moved.Mark)
	m = w.sender.lastEdit(t)
	assert.Contains(t, m.Text.Text, w.word(i18n.DialogClosed))
	assert.Empty(t, m.Buttons)
	before := len(w.sessions.done())
	w.tapAt(t, alice, privateChat(alice), 1, "key:"+at+":enter")
	assert.Len(t, w.sessions.done(), before, "no key for a dialog that is gone")
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
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.showsDialog(t)
			w.sessions.press = func(string) (lifecycle.Dialog, error) { return tt.now, tt.err }
			w.tapAt(t, alice, privateChat(alice), 1, "key:"+ref(r.ID)+":"+trust.Mark+":enter")
			says := w.word(tt.says, i18n.Args{"Name": "api", "Command": "tmux attach -t api"})
			assert.Contains(t, w.sender.done(), "answer query: "+says)
			assert.Equal(t, tt.closed || tt.redraw, len(w.sender.edited) > 0)
			if tt.closed {
				assert.Empty(t, w.sender.lastEdit(t).Buttons)
			}
			if tt.redraw {
				assert.Contains(t, data(w.sender.lastEdit(t)), "key:"+ref(r.ID)+":"+changed.Mark+":enter")
			}
		})
	}
	w := newWorld(t)
	r := w.showsDialog(t)
	w.sessions.press = func(string) (lifecycle.Dialog, error) { return lifecycle.Dialog{}, errDisk }
	assert.ErrorIs(t, w.Handle(t.Context(), "1", tapOn(alice, &models.Message{ID: 1, Chat: privateChat(alice)}, "key:"+ref(r.ID)+":"+trust.Mark+":up")), errDisk)
}

func TestP9_KeysCountFromAllowedPeopleUnderTheirMessageOnly(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	at := ref(r.ID) + ":" + trust.Mark
	for _, d := range []string{"key:" + at + ":enter", "opt:" + at + ":1"} {
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
}

func TestP8_TheDialogsMessageOutlivesARestart(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.sessions.dialog = trust
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.takeUp(t)
	require.Len(t, w.sender.sent, 1, "it was on disk")
	w.takeUp(t)
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)), "lifecycle tells it again")
	w.work(t)
	assert.Len(t, w.sender.sent, 1)
	assert.Equal(t, data(w.sender.sent[0]), data(w.sender.lastEdit(t)))
	w.sessions.dialog = lifecycle.Dialog{}
	w.takeUp(t)
	assert.Empty(t, w.sender.lastEdit(t).Buttons, "it went while nobody looked")
	edits := len(w.sender.edited)
	w.takeUp(t)
	assert.Len(t, w.sender.edited, edits+1, "the last edit may have been lost")
	w.takeUp(t)
	assert.Len(t, w.sender.edited, edits+1)
}

// takeUp is a restart, as far as dialogs go.
func (w *world) takeUp(t *testing.T) {
	t.Helper()
	w.open(t)
	w.again()
	for _, one := range w.Dialogs.list() {
		require.NoError(t, w.dialogs.takeUp(t.Context(), one))
	}
	w.work(t)
}

func TestAnotherDialogHasAMessageOfItsOwn(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	other := trust
	other.Mark = "mark-two-012"
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, other)))
	w.work(t)
	assert.Len(t, w.sender.sent, 2)
	assert.Empty(t, w.sender.lastEdit(t).Buttons, "the first one's are spent")
	w.tapAt(t, alice, privateChat(alice), 1, "key:"+ref(r.ID)+":"+other.Mark+":up")
	assert.Empty(t, w.sessions.done())
	w.tapAt(t, alice, privateChat(alice), 2, "key:"+ref(r.ID)+":"+other.Mark+":up")
	assert.NotEmpty(t, w.sessions.done())
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
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	require.NoError(t, w.SessionNews(t.Context(), gone))
	w.work(t)
	assert.Empty(t, w.sender.sent)
	w.sender.send = func(context.Context, outbox.Message) error { return w.SessionNews(t.Context(), gone) }
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.work(t)
	require.Len(t, w.sender.sent, 1)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
}

// A person may tap before Telegram's answer says which message it is.
func TestATapBeforeTheAnswerToItsMessageCounts(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	moved := trust
	moved.Selected, moved.Mark = 0, "mark-two-012"
	w.sessions.dialog = moved
	w.sender.send = func(context.Context, outbox.Message) error {
		w.tapAt(t, alice, privateChat(alice), 1, "key:"+ref(r.ID)+":"+trust.Mark+":up")
		return nil
	}
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
	w.work(t)
	assert.NotEmpty(t, w.sessions.done())
	list := w.Dialogs.list()
	require.Len(t, list, 1)
	assert.Equal(t, 1, list[0].ID)
	assert.Equal(t, moved.Mark, list[0].Mark)
	assert.NotEmpty(t, w.sender.lastEdit(t).Buttons, "it stays open")
}

func TestADialogTelegramDoesNotTake(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	for _, tt := range []struct {
		err  error
		kept int
	}{{errors.New("closed"), 1}, {&outbox.Refused{Err: errors.New("bad request")}, 0}} {
		w.sender.send = func(context.Context, outbox.Message) error { return tt.err }
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		assert.Len(t, w.Dialogs.list(), tt.kept, "the next start sends it")
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
				return &outbox.Refused{Err: outbox.ErrBlocked}
			}
			return nil
		}
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		list := w.Dialogs.list()
		require.Len(t, list, 1)
		assert.Equal(t, other.Mark, list[0].Mark)
		assert.NotZero(t, list[0].ID, "it is in the chat")
		assert.FileExists(t, filepath.Join(w.dir, "dialogs", r.ID.String()+".json"))
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
	w.work(t)
	m := w.sender.sent[0]
	assert.Contains(t, m.Text.Text, "Press Enter to go on")
	assert.Contains(t, data(m), "key:"+ref(r.ID)+":mark-one-012:enter")
}

func TestDialogsThatCannotBeReadAreSetAside(t *testing.T) {
	w := newWorld(t)
	w.showsDialog(t)
	dir := filepath.Join(w.dir, "dialogs")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.json"), []byte(`{"version":1}`), 0o600))
	w.open(t)
	assert.Len(t, w.Dialogs.list(), 1)
	aside, err := filepath.Glob(filepath.Join(w.dir, "quarantine", "*.json"))
	require.NoError(t, err)
	assert.Len(t, aside, 2)
}

// TestP8_ANewerProgramsDialogIsLeftAlone, and one that cannot be read for a moment
// is not thrown away either.
func TestP8_ANewerProgramsDialogIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.showsDialog(t)
	dir := filepath.Join(w.dir, "dialogs")
	newer := filepath.Join(dir, "x.json")
	require.NoError(t, os.WriteFile(newer, []byte(`{"version":2,"session":7}`), 0o600))
	w.open(t)
	assert.Len(t, w.Dialogs.list(), 1)
	assert.FileExists(t, newer)
	require.NoError(t, os.Remove(newer))

	if os.Geteuid() != 0 { // root reads everything
		require.NoError(t, os.WriteFile(newer, []byte(`{}`), 0o000))
		_, err := OpenDialogs(dir, filepath.Join(w.dir, "quarantine"), w.Log)
		require.ErrorIs(t, err, os.ErrPermission)
		assert.FileExists(t, newer)
	}
}

// What a later program of the same version adds survives.
func TestADialogsUnknownFieldsSurvive(t *testing.T) {
	w := newWorld(t)
	r := w.showsDialog(t)
	path := filepath.Join(w.dir, "dialogs", r.ID.String()+".json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "{", `{"later":1,`, 1)), 0o600))
	w.open(t)
	require.NoError(t, w.dialogs.close(t.Context(), r.ID))
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"later":1`)
	assert.Contains(t, string(data), `"closed":true`)
}
