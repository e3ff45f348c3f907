package chattest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Asked is a request whose hook waits, and its transcript.
type Asked struct {
	hooks.Request
	cursor talk.Cursor
}

// AsksFor lets an agent ask for a tool. The request is new, and its message is in the chat.
func (w *World) AsksFor(t *testing.T, r session.Record, tool, input string) Asked {
	t.Helper()
	q := w.Request(t, r, tool, input)
	require.NoError(t, w.OnRequest(t.Context(), q.Request))
	w.Work(t)
	return q
}

// Calls lets the reader of the transcript pass the call that a request is about.
func (w *World) Calls(q talk.Request) {
	w.Feature(ask.FeatureName).OnItem(q.Session, talk.Item{Kind: talk.ToolUse, Tool: &talk.Tool{ID: q.ID, Name: q.Tool}})
}

// Request makes a request whose hook waits, before the bot has it.
func (w *World) Request(t *testing.T, r session.Record, tool, input string) Asked {
	t.Helper()
	id := uuid.New()
	agent := process.Identity{PID: 100, Start: 5, Boot: "boot"}
	w.Records.Change(r.ID, func(r *session.Record) { r.Binding = &session.Binding{Agent: agent} })
	at := w.Now().Add(-2 * time.Second)
	use, err := json.Marshal(map[string]any{"type": "assistant", "timestamp": at.Format(time.RFC3339Nano), "message": map[string]any{"id": "m-" + id.String(),
		"content": []any{map[string]any{"type": "tool_use", "id": "toolu_" + id.String(), "name": tool, "input": json.RawMessage(input)}}}})
	require.NoError(t, err)
	q := Asked{cursor: TranscriptOf(t, id.String()+".jsonl", string(use)+"\n")}
	q.Request = hooks.Request{ID: base64.RawURLEncoding.EncodeToString(id[:]), Session: r.ID, Agent: agent.Text(),
		Hook: "200.6.boot", Transcript: q.cursor.Path, Cwd: r.Dir,
		Tool: tool, Input: json.RawMessage(input), RequestedAt: at}
	q.Ask = claudeask.Of(q.Request)
	w.Dials(q)
	return q
}

// Dials lets the hook of a request wait.
func (w *World) Dials(q Asked) {
	w.Relay.Mu.Lock()
	defer w.Relay.Mu.Unlock()
	w.Relay.waiting[q.ID] = q.Request
}

// HangsUp ends the hook's connection.
func (w *World) HangsUp(q Asked) { w.Relay.end(q.ID) }

// Result writes the line with the outcome of the request: by a hook's decision, or in the terminal.
// The next round reads it.
func (w *World) Result(t *testing.T, q Asked, byHook string, text string, denied bool) {
	t.Helper()
	w.Writes(t, q, byHook, text, denied)
	w.Later(Round)
}

// Writes is Result without the next round.
func (w *World) Writes(t *testing.T, q Asked, byHook string, text string, denied bool) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(q.ID)
	require.NoError(t, err)
	tool, at := "toolu_"+uuid.UUID(raw).String(), w.Now().Format(time.RFC3339Nano)
	if byHook != "" {
		line, _ := json.Marshal(map[string]any{"type": "attachment", "timestamp": at,
			"attachment": map[string]any{"type": "hook_permission_decision", "decision": byHook, "toolUseID": tool}})
		Grow(t, q.cursor, string(line)+"\n")
	}
	line, _ := json.Marshal(map[string]any{"type": "user", "timestamp": at, "message": map[string]any{"role": "user",
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": text, "is_error": denied}}}})
	Grow(t, q.cursor, string(line)+"\n")
}

func (w *World) RequestState(t *testing.T, q Asked) ask.State {
	t.Helper()
	c, ok := w.Asks.Get(q.ID)
	require.True(t, ok)
	return c
}

// shownBy are the cards of a kind for a request, as they are on disk.
func (w *World) shownBy(t *testing.T, q Asked, kind string) (all []cardFile) {
	t.Helper()
	for _, name := range FilesIn(t, w.Dir, "cards") {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // a test has put an obstacle there
		}
		var c cardFile
		require.NoError(t, json.Unmarshal(data, &c))
		var of struct{ Request string }
		_ = json.Unmarshal(c.Payload, &of) // of another kind it is something else
		if c.Kind == kind && (c.Key == q.ID || of.Request == q.ID) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b cardFile) int { // the open one is the last
		return cmp.Or(cmp.Compare(strconv.FormatBool(b.Closed), strconv.FormatBool(a.Closed)), cmp.Compare(a.Message, b.Message))
	})
	return all
}

// cardFile is the file of a kept message.
type cardFile struct {
	Kind    string
	Key     string
	Message int
	Closed  bool
	Payload json.RawMessage
}

// Message is the message that shows a request; 0: it is not in the chat, as far as the disk knows.
func (w *World) Message(t *testing.T, q Asked) int { return w.newest(t, q, "ask").Message }

// Offer is the list of the texts that wait for the answer to a request.
func (w *World) Offer(t *testing.T, q Asked) cardFile { return w.newest(t, q, "texts-waiting") }

func (w *World) newest(t *testing.T, q Asked, kind string) (c cardFile) {
	t.Helper()
	if all := w.shownBy(t, q, kind); len(all) > 0 {
		c = all[len(all)-1]
	}
	return c
}

// Verdict returns a card's text about a decision and its place.
func (w *World) Verdict(what, where i18n.Key) string {
	return w.Word(what, i18n.Args{"Where": w.Word(where)})
}

// AllowedText returns a card's text while the permission is on its way.
func (w *World) AllowedText(key i18n.Key) string {
	return w.Word(key, i18n.Args{"What": w.Verdict(i18n.AskAllowed, i18n.AskInChat)})
}

const Bash = `{"command":"go test ./..."}`

func (w *World) Asking(t *testing.T) (session.Record, Asked) {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	return r, w.AsksFor(t, r, "Bash", Bash)
}

// OfCard is the data of a button, made up to be of the card that another button is of.
func OfCard(data, other string) string {
	if other == "" {
		return data
	}
	mine, rest, _ := strings.Cut(data, ":")
	card, _, _ := strings.Cut(other, ":")
	if len(mine) != len(card) {
		panic("not a button of a card: " + data)
	}
	return card + ":" + rest
}

const Questions = `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]},
{"question":"Which size?","header":"Size","multiSelect":true,"options":[{"label":"S"},{"label":"M"},{"label":"L"}]}]}`

// HeldBehind makes a prompt that waits for the dialog of a request, and returns the id of the
// message that reports it.
func (w *World) HeldBehind(t *testing.T, r session.Record) (e inbox.Entry, notice int) {
	t.Helper()
	e = w.Prompt(t, r, "use make", inbox.Held)
	e.Class = talk.ClassPlain
	require.NoError(t, w.Inbox.Save(e))
	require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDialog, Prompt: talk.Prompt{Key: e.Key, Text: e.Text}}))
	w.Work(t)
	return e, w.Telegram.LastID()
}

func (w *World) LastSent(t *testing.T) outbox.Message {
	t.Helper()
	require.NotEmpty(t, w.Telegram.Sent)
	return w.Telegram.Sent[len(w.Telegram.Sent)-1]
}

// Kills lets a program below an agent ask with ccbot-hook and kill it.
func (w *World) Kills(t *testing.T, r session.Record, seen bool) {
	t.Helper()
	q := w.Request(t, r, "Bash", Bash)
	require.NoError(t, w.OnRequest(t.Context(), q.Request))
	if seen {
		w.Work(t)
	}
	w.Relay.end(q.ID)
	w.OnLeft(t.Context(), q.Request)
	w.Work(t)
}

// HeldUp has Telegram hold up Alice's chat at another session's request, until goOn.
func (w *World) HeldUp(t *testing.T) (goOn func()) {
	t.Helper()
	taken := make(chan struct{})
	w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		if strings.Contains(m.Text.Text, "make slow") {
			<-taken
		}
		return nil
	}
	w.AsksFor(t, w.Session(t, "slow", session.Running), "Bash", `{"command":"make slow"}`)
	return func() {
		close(taken)
		w.Work(t)
	}
}

// Refused writes the lines of an Esc and a "No": the refusal of the tool, then the interrupt.
func (w *World) Refused(t *testing.T, q Asked, interrupt bool) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(q.ID)
	require.NoError(t, err)
	w.userLine(t, q, map[string]any{"type": "tool_result", "tool_use_id": "toolu_" + uuid.UUID(raw).String(), "content": "no", "is_error": true},
		`,"toolDenialKind":"user-rejected"`)
	if interrupt {
		w.Interrupted(t, q)
	}
}

// Interrupted is the second line of refused.
func (w *World) Interrupted(t *testing.T, q Asked) {
	t.Helper()
	w.userLine(t, q, map[string]any{"type": "text", "text": "[Request interrupted by user for tool use]"}, "")
}

// userLine writes a line of a request's transcript that Claude Code ascribes to the user.
func (w *World) userLine(t *testing.T, q Asked, content any, more string) {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	Grow(t, q.cursor, `{"type":"user","timestamp":"`+w.Now().Format(time.RFC3339Nano)+`"`+more+
		`,"message":{"role":"user","content":[`+string(text)+"]}}\n")
}
