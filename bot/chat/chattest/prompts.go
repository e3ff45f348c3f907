package chattest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// HearSent handles a text of Alice's that was sent at a time, and returns its key.
func (w *World) HearSent(t *testing.T, text string, at time.Time) string {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: Alice}, Chat: PrivateChat(Alice), Text: text, Date: int(at.Unix())})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// EntryState returns the state of an entry; empty when it is finished.
func (w *World) EntryState(key string) inbox.State {
	e, err := w.Inbox.Load(key)
	if err != nil {
		return ""
	}
	return e.State
}

// Edit handles an edit of a message of Alice's.
func (w *World) Edit(t *testing.T, message int, text string) error {
	t.Helper()
	return w.EditAs(t, &models.Message{ID: message, From: &models.User{ID: Alice}, Chat: PrivateChat(Alice), Text: text, EditDate: 5})
}

func (w *World) EditAs(t *testing.T, m *models.Message) error {
	t.Helper()
	w.Updates++
	return w.Handle(t.Context(), inbox.UpdateKey(w.Updates), &models.Update{ID: w.Updates, EditedMessage: m})
}

func Claude(pid int) process.Process {
	return process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid) * 10, Boot: "boot"}, Args: []string{"/opt/bin/claude"}}
}

func Ended(pid int, how process.How, age time.Duration) ending.Ending {
	return ending.Ending{Outcome: process.Outcome{Process: Claude(pid), How: how, Ended: true, Verified: true}, Age: age}
}

func Spared(pid int, reason string) ending.Ending {
	return ending.Ending{Outcome: process.Outcome{Process: Claude(pid), Spared: "in English", Reason: reason}}
}

// ReceiptText is the receipt of an archive as Alice gets it.
func (w *World) ReceiptText(t *testing.T, r session.Record, receipt ending.Receipt) string {
	t.Helper()
	r.Conversation = AtAlice
	if len(receipt.Failures) > 0 {
		r.Cleanup = &session.CleanupError{}
	}
	for _, f := range receipt.Failures {
		r.Cleanup.Failures = append(r.Cleanup.Failures, session.CleanupFailure{Kind: string(f.Kind), PID: f.ID.PID, Detail: f.Detail})
	}
	return w.Shown(t, r, receipt).Text.Text
}

// Consts reads the values of a package's constants whose name begins with prefix, so that a new one
// gets its sentence.
func Consts(t *testing.T, dir, prefix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var values []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				values = append(values, value)
			}
			return true
		})
	}
	require.NotEmpty(t, values, "%s %s", dir, prefix)
	return values
}

// NotCleanShown is the receipt of a session that is not fully ended, with [Retry].
func (w *World) NotCleanShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	r.State = session.CleanupFailed
	return w.Shown(t, r, ending.Receipt{})
}

var ErrDisk = errors.New("no space left on device")

func Refuse(outbox.Message) error { return ErrDisk }

// Answer handles a text of Alice's that answers a message, and returns its key.
func (w *World) Answer(t *testing.T, message int, text string) string {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: Alice}, Chat: PrivateChat(Alice), Text: text,
		ReplyToMessage: &models.Message{ID: message}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// AnswerShown handles a text of Alice's that answers a message of the bot which the chat shows with
// this id, and returns its key.
func (w *World) AnswerShown(t *testing.T, id int, shown outbox.Message, text string) string {
	t.Helper()
	to := w.AsTelegram(shown)
	to.ID, to.From = id, &models.User{ID: 99, IsBot: true, Username: w.Username}
	if len(to.ReplyMarkup.InlineKeyboard) == 0 {
		to.ReplyMarkup = nil
	}
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: Alice}, Chat: to.Chat, Text: text, ReplyToMessage: to})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// SendTo are the words of the buttons that choose one of the sessions for a prompt, and of
// [Discard].
func (w *World) SendTo(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, w.Named(i18n.ButtonSendTo, name))
	}
	return append(all, w.Word(i18n.ButtonDrop))
}

// Chooses taps the button of a question that sends the prompt to a session.
func (w *World) Chooses(t *testing.T, question outbox.Message, name string) error {
	t.Helper()
	for _, s := range Spots(question) {
		if s.Button.Text == w.Named(i18n.ButtonSendTo, name) {
			return w.TapSpot(t, Alice, s)
		}
	}
	t.Fatalf("%s is not offered: %q", name, Words(question))
	return nil
}

// Reopened is again with the chats as they are on disk.
func (w *World) Reopened(t *testing.T) {
	t.Helper()
	chats, err := OpenChats(filepath.Join(w.Dir, "chats"))
	require.NoError(t, err)
	w.Chats = chats
	w.Again()
}

// Says55 lets a session have said message 55.
func (w *World) Says55(r session.Record) {
	_ = w.Sent(AtAlice, 55, r.ID)
}

// AnswerOurs is answer for a message that a bot wrote.
func (w *World) AnswerOurs(t *testing.T, message int, username, text string) string {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: Alice}, Chat: PrivateChat(Alice), Text: text,
		ReplyToMessage: &models.Message{ID: message, From: &models.User{ID: 99, IsBot: true, Username: username}}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// Typed reports that a prompt was typed for a session then.
func (w *World) Typed(t *testing.T, r session.Record, key string, at time.Time) {
	t.Helper()
	n := news.Typed{Prompt: talk.Prompt{Key: key, Mark: &talk.Mark{At: at}}}
	require.NoError(t, w.SessionNews(t.Context(), r, n))
}

// Delivered reports that the agent of a session has a prompt, which was typed then.
func (w *World) Delivered(t *testing.T, r session.Record, key string, typed time.Time) {
	t.Helper()
	n := news.Delivered{Prompt: talk.Prompt{Key: key, Mark: &talk.Mark{At: typed}}}
	require.NoError(t, w.SessionNews(t.Context(), r, n))
}

// TurnEnds reads a transcript in which a turn of a session ended then.
func (w *World) TurnEnds(t *testing.T, r session.Record, at time.Time) {
	t.Helper()
	end := strings.Replace(TurnEnd, "{", fmt.Sprintf(`{"timestamp":%q,`, at.Format(time.RFC3339Nano)), 1)
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{TranscriptOf(t, "end.jsonl", end)} })
	w.ReadAll(t)
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = nil })
}

// Becomes puts a prompt into another state.
func (w *World) Becomes(t *testing.T, key string, state inbox.State) {
	t.Helper()
	require.NoError(t, w.Inbox.Change(key, func(e *inbox.Entry) error { e.State = state; return nil }))
}
