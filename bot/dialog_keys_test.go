package bot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
)

func TestDialogHasOptionAndKeyButtons(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.ShowsDialog(t)
	m := w.Telegram.Sent[0]
	assert.Contains(t, m.Text.Text, w.Named(i18n.DialogOpen, "api"))
	assert.Contains(t, m.Text.Text, "❯ 2. Yes, I trust it")
	assert.True(t, m.Sounds)
	assert.Equal(t, []string{"No, exit", "Yes, I trust it", "↑", "↓", "←", "→", "Space", "Tab", "Esc", "Enter"}, chattest.Words(m))
	var pressed []string
	for _, what := range []string{"choose 0", "choose 1", "press up", "press down", "press left", "press right", "press space",
		"press tab", "press esc", "press enter"} {
		pressed = append(pressed, what+" of "+r.ID.String()+" for "+chattest.Trust.Fingerprint)
	}
	for _, word := range chattest.Words(m) {
		w.Presses(t, chattest.Alice, 1, word)
	}
	assert.Equal(t, pressed, w.Lifecycle.Done())
}

// TestCommandIsEndedFromItsPage taps the button that only the page of a command in the background has.
func TestCommandIsEndedFromItsPage(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	page := port.Dialog{Open: true, Lines: []string{"serve", "x to stop"}, Selected: -1, Whole: true, Stops: true, Fingerprint: "mark-two-012"}
	w.Lifecycle.OnDialog = page
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(page)))
	w.Work(t)
	w.Presses(t, chattest.Alice, 1, "End it")
	assert.Equal(t, []string{"press x of " + r.ID.String() + " for mark-two-012"}, w.Lifecycle.Done())
}

// TestP7_ChatAnswersOnlyWholeDialogs: the hidden part may contain what an
// answer would allow.
func TestP7_ChatAnswersOnlyWholeDialogs(t *testing.T) {
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
		{"a blank that is none", true, asks("   ./deploy\u00a0--dry-run"), []string{"Yes", "No"}, false, "./deploy⟨U+00A0⟩--dry-run"},
		{"it is not seen", true, asks("   rm \u200b/"), []string{"Yes", "No"}, false, "rm ⟨U+200B⟩/"},
		{"it is far to the right", true, asks("   ls" + strings.Repeat(" ", 60) + "; rm"), []string{"Yes", "No"}, false, "ls⟨60×␠⟩; rm"},
		{"a page that is too long", true, long, nil, false, "   2. No"},
		{"a page without options", true, asks("   ls"), nil, true, " Bash command"},
		{"a page of which a part is hidden", false, asks("   ls"), nil, false, " Bash command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			d := port.Dialog{Open: true, Lines: tt.lines, Options: tt.labels, Fingerprint: "mark-one-012", Whole: tt.seen}
			r := w.Session(t, "api", session.Running)
			require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(d)))
			m := w.Telegram.Now(1)
			assert.Contains(t, m.Text.Text, tt.shows)
			assert.Equal(t, !tt.whole, strings.Contains(m.Text.Text, w.Word(i18n.DialogNotWhole)))
			if tt.whole {
				assert.Len(t, chattest.Choices(m), len(tt.labels)+3)
			} else {
				assert.Empty(t, chattest.Choices(m))
				assert.Len(t, chattest.Words(m), 5, "one can look around, and leave it")
			}
			require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
			closed := w.Telegram.Now(1).Text
			assert.Equal(t, m.Text.Text+"\n\n"+w.Word(i18n.DialogClosed), closed.Text, "there is room for it")
			assert.LessOrEqual(t, closed.Length(), chattest.Limit)
		})
	}
}

// TestP7_PermissionWithoutRequestIsWarnedOf shows a permission that only the terminal asks for.
func TestP7_PermissionWithoutRequestIsWarnedOf(t *testing.T) {
	d := port.Dialog{Open: true, Whole: true, Unasked: true, Fingerprint: "mark-one-012", Lines: []string{" Bash command", "   ls", " ❯ 1. Yes"},
		Options: []string{"Yes", "Yes, and always allow access to /src", "Yes, and switch to auto mode", "No"}}
	for _, tt := range []struct {
		name   string
		change func(d *port.Dialog)
		words  []string
		warns  i18n.Key
	}{
		{"a permission", func(*port.Dialog) {}, []string{"Yes", "No", "Esc"}, i18n.DialogUnasked},
		{"a plan", func(d *port.Dialog) { d.Options = []string{"Yes, and use auto mode", "No"} }, []string{"No", "Esc"}, i18n.DialogUnasked},
		{"a policy keeps requests from the chat", func(d *port.Dialog) { d.ByPolicy = true }, []string{"Yes", "No", "Esc"}, i18n.DialogByPolicy},
		{"a part is hidden", func(d *port.Dialog) { d.Whole = false }, []string{"↑", "↓", "←", "→", "Esc"}, i18n.DialogNotWhole},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			now := d
			tt.change(&now)
			r := w.Session(t, "api", session.Running)
			require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(now)))
			m := w.Telegram.Now(1)
			assert.Contains(t, m.Text.Text, w.Word(tt.warns))
			assert.Equal(t, tt.words, chattest.Words(m))
		})
	}
	w := chattest.NewWorld(t)
	w.Lifecycle.OnDialog = d
	r := w.NewCurrentSession(t, "api", session.Running)
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(d)))
	w.Work(t)
	w.Presses(t, chattest.Alice, 1, "No")
	assert.Equal(t, []string{"choose 3 of " + r.ID.String() + " for " + d.Fingerprint}, w.Lifecycle.Done(), "the option keeps its place")
}

func TestDialogWithLongOptions(t *testing.T) {
	w := chattest.NewWorld(t)
	d := chattest.Trust
	d.Options = nil
	for range 40 {
		d.Options = append(d.Options, strings.Repeat("long ", 50), "\u202e")
	}
	require.NoError(t, w.SessionNews(t.Context(), w.Session(t, "api", session.Running), chattest.OpenDialog(d)))
	m := w.Telegram.Now(1)
	assert.Len(t, m.Buttons, 12+2)
	for _, word := range chattest.Words(m) {
		assert.NotEmpty(t, word)
		assert.LessOrEqual(t, len([]rune(word)), 60)
	}
}

// The terminal draws its options in columns; a button has no room for the blanks between them.
func TestOptionsInColumnsAreTight(t *testing.T) {
	w := chattest.NewWorld(t)
	d := chattest.Trust
	d.Options = []string{"Default (recommended)      Opus 5.5 · best", "Sonnet \u00a0\u2003          Sonnet 5"}
	require.NoError(t, w.SessionNews(t.Context(), w.Session(t, "api", session.Running), chattest.OpenDialog(d)))
	assert.Equal(t, []string{"Default (recommended) Opus 5.5 · best", "Sonnet Sonnet 5"}, chattest.Words(w.Telegram.Now(1))[:2])
}

func TestKeyIsPressedForShownScreen(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.ShowsDialog(t)
	moved := chattest.Trust
	moved.Selected, moved.Fingerprint, moved.Lines, moved.Same = 0, "mark-two-012", []string{"❯ 1. No, exit"}, true
	w.Lifecycle.OnDialog = moved
	enter := w.Spot(t, w.Telegram.Now(1), "Enter").Button.Data
	w.Presses(t, chattest.Alice, 1, "↑")
	assert.Contains(t, w.Lifecycle.Done(), "press up of "+r.ID.String()+" for "+chattest.Trust.Fingerprint)
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "❯ 1. No, exit")
	before := len(w.Lifecycle.Done())
	w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, enter)
	assert.Len(t, w.Lifecycle.Done(), before, "no key for what is not shown any more")
	w.Lifecycle.OnDialog = port.Dialog{}
	w.Presses(t, chattest.Bob, 1, "Yes, I trust it")
	assert.Contains(t, w.Lifecycle.Done(), "choose 1 of "+r.ID.String()+" for "+moved.Fingerprint, "drawn for what is shown now")
	m := w.Telegram.LastEdit(t)
	assert.Contains(t, m.Text.Text, w.Word(i18n.DialogClosed))
	assert.Empty(t, m.Buttons)
	before = len(w.Lifecycle.Done())
	w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, enter)
	assert.Len(t, w.Lifecycle.Done(), before, "no key for a dialog that is gone")
}

func TestUnpressedKeyIsReported(t *testing.T) {
	changed := chattest.Trust
	changed.Fingerprint, changed.Lines = "mark-two-012", []string{"Something else"}
	for _, tt := range []struct {
		name   string
		now    port.Dialog
		err    error
		says   i18n.Key
		closed bool
	}{
		{"it shows something else", changed, dialog.ErrChanged, i18n.KeysChanged, true},
		{"it shows nothing to press in", port.Dialog{}, dialog.ErrChanged, i18n.KeysChanged, true},
		{"it does not take the key", chattest.Trust, dialog.ErrChanged, i18n.KeysChanged, false},
		{"a request waits", chattest.Trust, dialog.ErrRelayed, i18n.KeysRelayed, false},
		{"no dialog", port.Dialog{}, dialog.ErrNoDialog, i18n.KeysNoDialog, true},
		{"nobody knows", port.Dialog{}, view.ErrUnseen, i18n.KeysUnseen, false},
		{"no agent", port.Dialog{}, view.ErrNoAgent, i18n.AlreadyEnded, true},
		{"tmux refuses", port.Dialog{}, tmux.ErrGuard, i18n.StopRefused, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.ShowsDialog(t)
			w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return tt.now, tt.err }
			w.Presses(t, chattest.Alice, 1, "Enter")
			said := w.Telegram.Last(t)
			assert.Equal(t, w.Word(tt.says, i18n.Args{"Name": "api", "Command": "tmux attach -t api"}), said.Text.Text)
			assert.Equal(t, tt.closed, len(w.Telegram.Now(1).Buttons) == 0)
		})
	}
	w := chattest.NewWorld(t)
	w.ShowsDialog(t)
	w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return port.Dialog{}, chattest.ErrDisk }
	w.Presses(t, chattest.Alice, 1, "↑")
	w.AssertErrorShown(t, nil)
}

func TestP9_KeysNeedAllowedPersonAndMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.ShowsDialog(t)
	m := w.Telegram.Now(1)
	for _, word := range []string{"Enter", "Yes, I trust it"} {
		d := w.Spot(t, m, i18n.Key(word)).Button.Data
		w.TapAt(t, chattest.Eve, chattest.PrivateChat(chattest.Alice), 1, d)
		w.TapAt(t, chattest.Alice, chattest.GroupChat(chattest.Ours), 1, d)
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 99, d)
	}
	parts := strings.Split(chattest.Data(m)[0], ":")
	for _, d := range []string{parts[0], parts[0] + ":" + parts[1], chattest.Data(m)[0] + ":1", parts[0] + ":" + parts[1] + ":x",
		parts[0] + ":" + parts[1] + ":" + strings.Repeat("x", len(parts[2])), parts[0] + ":" + strings.Repeat("x", len(parts[1])) + ":" + parts[2]} {
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, d)
	}
	assert.Empty(t, w.Lifecycle.Done())
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
}

func TestP8_DialogMessageSurvivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Lifecycle.OnDialog = chattest.Trust
		require.NoError(t, w.Bot.SessionNews(t.Context(), chattest.ViewOf(r), chattest.OpenDialog(chattest.Trust)))
		w.Telegram.Waiting = nil
		start := func() {
			w.Again()
			w.Settled(t)
		}
		start()
		require.Len(t, w.Telegram.Sent, 1, "it was on disk")
		start()
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)), "lifecycle tells it again")
		assert.Len(t, w.Telegram.Sent, 1)
		assert.Equal(t, chattest.Data(w.Telegram.Sent[0]), chattest.Data(w.Telegram.Now(1)))
		w.Presses(t, chattest.Alice, 1, "↑")
		assert.NotEmpty(t, w.Lifecycle.Done())
		w.Lifecycle.DialogErr = view.ErrUnseen
		start()
		assert.NotEmpty(t, w.Telegram.Now(1).Buttons, "the terminal cannot be seen")
		w.Lifecycle.OnDialog, w.Lifecycle.DialogErr = port.Dialog{}, nil
		start()
		assert.Empty(t, w.Telegram.Now(1).Buttons, "it went while nobody looked")
		assert.Contains(t, w.Telegram.Now(1).Text.Text, w.Word(i18n.DialogClosed))
		start()
		edits := len(w.Telegram.Edited)
		start()
		assert.Len(t, w.Telegram.Edited, edits)
	})
}

func TestStartClosesEndedSessionsDialog(t *testing.T) {
	for _, err := range []error{view.ErrNoAgent, session.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.ShowsDialog(t)
			w.Lifecycle.DialogErr = err
			w.Again()
			w.Settled(t)
			assert.Empty(t, w.Telegram.Now(1).Buttons)
		})
	}
}

func TestNextDialogHasSeparateMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.ShowsDialog(t)
	other := chattest.Trust
	other.Fingerprint = "mark-two-012"
	require.NoError(t, w.SessionNews(t.Context(), w.Records.List()[0], chattest.OpenDialog(other)))
	require.Len(t, w.Telegram.Sent, 2)
	assert.True(t, w.Telegram.Sent[1].Sounds)
	assert.Empty(t, w.Telegram.Now(1).Buttons, "the first one's are spent")
	assert.Contains(t, w.Telegram.Now(1).Text.Text, w.Word(i18n.DialogChanged))
	w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, chattest.Data(w.Telegram.Now(2))[0])
	assert.Empty(t, w.Lifecycle.Done())
	w.Presses(t, chattest.Alice, 2, "↑")
	assert.NotEmpty(t, w.Lifecycle.Done())
}

// TestP7_MessageNeverApprovesOtherContent taps a dialog whose terminal has other content after the
// tap: the message loses its buttons in any case, and the next dialog has a separate message.
func TestP7_MessageNeverApprovesOtherContent(t *testing.T) {
	next := port.Dialog{Open: true, Lines: []string{"rm -rf /", "❯ 1. Yes", "  2. No"}, Options: []string{"Yes", "No"}, Whole: true,
		Fingerprint: "mark-six-012"}
	for _, err := range []error{nil, dialog.ErrChanged} {
		for _, word := range []string{"Yes, I trust it", "Enter", "↓"} {
			t.Run(fmt.Sprint(word, err), func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.ShowsDialog(t)
				w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return next, err }
				w.Presses(t, chattest.Alice, 1, word)
				was := w.Telegram.Now(1)
				assert.Empty(t, was.Buttons)
				assert.NotContains(t, was.Text.Text, "rm -rf")
				assert.Contains(t, was.Text.Text, w.Word(i18n.DialogChanged))
				require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(next)))
				posted := w.Telegram.LastID()
				require.Greater(t, posted, 1)
				assert.Contains(t, w.Telegram.Now(posted).Text.Text, "rm -rf")
				assert.Equal(t, was.Text, w.Telegram.Now(1).Text)
				assert.Empty(t, w.Telegram.Now(1).Buttons)
			})
		}
	}
}

// TestP7_RefusedOptionLosesItsButton: a dialog that shows the same may permit less than when it was
// posted.
func TestP7_RefusedOptionLosesItsButton(t *testing.T) {
	w := chattest.NewWorld(t)
	posted := port.Dialog{Open: true, Lines: []string{"rm", "❯ 1. Yes", "  2. Yes, always", "  3. No"},
		Options: []string{"Yes", "Yes, always", "No"}, Whole: true, Fingerprint: "mark-six-012"}
	require.NoError(t, w.SessionNews(t.Context(), w.Session(t, "api", session.Running), chattest.OpenDialog(posted)))
	require.Contains(t, chattest.Words(w.Telegram.Now(1)), "Yes, always")
	unasked := posted
	unasked.Unasked = true
	w.Lifecycle.OnPress = func(string) (port.Dialog, error) { return unasked, dialog.ErrChanged }
	w.Presses(t, chattest.Alice, 1, "Yes, always")
	assert.Equal(t, []string{"Yes", "No", "Esc"}, chattest.Words(w.Telegram.Now(1)))
}

// Another dialog opens while a key is pressed in the first one.
func TestEarlierDialogsTapSparesNewOne(t *testing.T) {
	for _, now := range []port.Dialog{{}, {Open: true, Lines: []string{"Something else"}, Fingerprint: "mark-six-012"}} {
		w := chattest.NewWorld(t)
		r := w.ShowsDialog(t)
		other := chattest.Trust
		other.Fingerprint = "mark-two-012"
		w.Lifecycle.OnPress = func(string) (port.Dialog, error) {
			return now, w.SessionNews(t.Context(), r, chattest.OpenDialog(other))
		}
		w.Presses(t, chattest.Alice, 1, "↑")
		require.Len(t, w.Telegram.Sent, 2)
		assert.Equal(t, w.Telegram.Sent[1].Text, w.Telegram.Now(2).Text)
		assert.NotEmpty(t, w.Telegram.Now(2).Buttons)
	}
}

func TestVanishedDialogIsClosed(t *testing.T) {
	for _, n := range []news.News{news.DialogGone{}, news.Ready{}, news.Ended{}, ending.Receipt{}} {
		t.Run(fmt.Sprintf("%T", n), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.ShowsDialog(t)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
			assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.DialogClosed))
			edits := len(w.Telegram.Edited)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			assert.Len(t, w.Telegram.Edited, edits)
		})
	}
}

// It goes before Telegram has taken its message, or while that is under way.
func TestDialogVanishesBeforeMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	gone := news.DialogGone{}
	require.NoError(t, w.Bot.SessionNews(t.Context(), chattest.ViewOf(r), chattest.OpenDialog(chattest.Trust)))
	require.NoError(t, w.SessionNews(t.Context(), r, gone))
	assert.Empty(t, w.Telegram.Sent)
	w.Telegram.OnSend = func(context.Context, outbox.Message) error { return w.SessionNews(t.Context(), r, gone) }
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
	require.Len(t, w.Telegram.Sent, 1)
	assert.Empty(t, w.Telegram.Now(1).Buttons)
}

// A person may tap before Telegram's answer has the message's id.
func TestTapBeforeSendReplyCounts(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	moved := chattest.Trust
	moved.Selected, moved.Fingerprint, moved.Lines, moved.Same = 0, "mark-two-012", []string{"❯ 1. No, exit"}, true
	w.Lifecycle.OnDialog = moved
	w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, w.Spot(t, m, "↑").Button.Data)
		return nil
	}
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
	assert.NotEmpty(t, w.Lifecycle.Done())
	assert.Contains(t, w.Telegram.Now(1).Text.Text, "❯ 1. No, exit")
	assert.NotEmpty(t, w.Telegram.Now(1).Buttons, "it stays open")
	assert.Len(t, w.Telegram.Sent, 1)
}

func TestDialogRefusedByTelegram(t *testing.T) {
	for _, tt := range []struct {
		err   error
		shown int
	}{{errors.New("closed"), 1}, {&outbox.Refused{Err: errors.New("bad request")}, 0}} {
		synctest.Test(t, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Lifecycle.OnDialog = chattest.Trust
			w.Telegram.OnSend = func(context.Context, outbox.Message) error { return tt.err }
			require.NoError(t, w.SessionNews(t.Context(), w.NewCurrentSession(t, "api", session.Running), chattest.OpenDialog(chattest.Trust)))
			w.Telegram.OnSend = nil
			w.Again()
			w.Settled(t)
			assert.Len(t, w.Telegram.Sent, tt.shown, "the next start sends it")
		})
	}
}

// Another dialog opens while the first one's message is being sent.
func TestRefusedDialogSparesNextOne(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		other := chattest.Trust
		other.Fingerprint = "mark-two-012"
		first := true
		w.Telegram.OnSend = func(context.Context, outbox.Message) error {
			if !first {
				return nil
			}
			first = false
			require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(other)))
			if refuses {
				return &outbox.Refused{Err: errors.New("bad request")}
			}
			return nil
		}
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		newest := w.Telegram.LastID()
		w.Presses(t, chattest.Alice, newest, "↑")
		assert.Equal(t, []string{"press up of " + r.ID.String() + " for " + other.Fingerprint}, w.Lifecycle.Done())
		if !refuses {
			require.Equal(t, 2, newest)
			assert.Empty(t, w.Telegram.Now(1).Buttons)
		}
	}
}

func TestP9_DialogIsHiddenFromRemovedPerson(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	delete(w.People, chattest.Alice)
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
	w.Work(t)
	w.Silent(t)
}

func TestUnreadyAgentHasKeys(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Starting)
	d := chattest.OpenDialog(port.Dialog{Open: true, Lines: []string{"Press Enter to go on"}, Selected: -1, Whole: true, Fingerprint: "mark-one-012"})
	require.NoError(t, w.SessionNews(t.Context(), r, news.NotReporting{Terminal: d.Terminal}))
	assert.Contains(t, w.Telegram.Now(1).Text.Text, "Press Enter to go on")
	w.Presses(t, chattest.Alice, 1, "Enter")
	assert.Equal(t, []string{"press enter of " + r.ID.String() + " for mark-one-012"}, w.Lifecycle.Done())
}

// TestP8_UnreadDialogIsKept: one that cannot be read for a moment is not thrown away.
func TestP8_UnreadDialogIsKept(t *testing.T) {
	w := chattest.NewWorld(t)
	w.ShowsDialog(t)
	dir := filepath.Join(w.Dir, "cards")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	if os.Geteuid() != 0 { // root reads everything
		require.NoError(t, os.Chmod(files[0], 0))
		_, err := card.Open(dir, filepath.Join(w.Dir, "quarantine"), w.Telegram, w.MayShow, w.Log)
		require.ErrorIs(t, err, os.ErrPermission)
		assert.FileExists(t, files[0])
	}
}

// TestSuspendedAgentContinues: the only button of an agent that somebody has suspended is the one that helps.
func TestSuspendedAgentContinues(t *testing.T) {
	w := chattest.NewWorld(t)
	d := port.Dialog{Open: true, Whole: true, Suspends: true, Selected: -1, Fingerprint: "mark-one-012", Lines: []string{"Claude Code is suspended."}}
	w.Lifecycle.OnDialog = d
	r := w.NewCurrentSession(t, "api", session.Running)
	require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(d)))
	w.Work(t)
	m := w.Telegram.Now(1)
	assert.Contains(t, m.Text.Text, w.Named(i18n.DialogSuspended, "api"))
	assert.Equal(t, w.WordsOf(i18n.ButtonContinue), chattest.Words(m))
	w.Lifecycle.OnDialog = port.Dialog{}
	w.Presses(t, chattest.Alice, 1, w.Word(i18n.ButtonContinue))
	assert.Equal(t, []string{"press continue of " + r.ID.String() + " for " + d.Fingerprint}, w.Lifecycle.Done())
}

// TestP7_OpenedListTakesEnter: in a list that a person has opened, and that is cut, the arrows and Enter choose, and no option does.
func TestP7_OpenedListTakesEnter(t *testing.T) {
	d := port.Dialog{Open: true, Enters: true, Fingerprint: "mark-one-012", Lines: []string{" Rewind", " ❯ one", "   ↑ 3 more"}}
	for name, tt := range map[string]struct {
		lines []string
		words []string
		warns i18n.Key
	}{
		"as it is":           {d.Lines, []string{"↑", "↓", "←", "→", "Esc", "Enter"}, i18n.DialogNotWholeList},
		"a sign that hides":  {[]string{" ❯ rm \u202etxt.a"}, []string{"↑", "↓", "←", "→", "Esc"}, i18n.DialogNotWhole},
		"more than is shown": {[]string{strings.Repeat("wide 😀 ", 2000)}, []string{"↑", "↓", "←", "→", "Esc"}, i18n.DialogNotWhole},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			now := d
			now.Lines = tt.lines
			require.NoError(t, w.SessionNews(t.Context(), w.Session(t, "api", session.Running), chattest.OpenDialog(now)))
			m := w.Telegram.Now(1)
			assert.Equal(t, tt.words, chattest.Words(m))
			assert.Contains(t, m.Text.Text, w.Word(tt.warns))
		})
	}
}
