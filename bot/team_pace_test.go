package bot_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// inOwnTopic is the session of a new topic of the group.
func inOwnTopic(t *testing.T, w *chattest.World, api *strictAPI, name string) *loaded {
	t.Helper()
	c := chattest.TranscriptOf(t, name+".jsonl")
	r := w.Session(t, name, session.Running, c)
	to := session.Conversation{ChatID: chattest.Ours, ThreadID: api.person.OpenTopic(chattest.Ours, name)}
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.AgentSessionID = to, uuid.New() })
	require.NoError(t, w.Chats.SetCurrent(to, r.ID))
	l := &loaded{World: w, t: t, api: api, r: w.Record(t, r.ID), c: c}
	l.tells(news.Transcript{})
	return l
}

// spoken is a text of an agent before a call, or the last one of a turn.
func spoken(text, stop string) string {
	line, _ := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"id": "m" + text, "stop_reason": stop,
		"content": []any{map[string]any{"type": "text", "text": text}}}})
	return string(line) + "\n"
}

// asks lets the agent of a turn explain a command and ask for it, and a person allow it a second after
// the request is in the chat. It returns when the command has run, and how long the chat waited for
// the request.
func (l *loaded) asks(t *testing.T, id string) (late time.Duration) {
	t.Helper()
	command := "make " + id
	q := l.Request(t, l.r, "Bash", fmt.Sprintf(`{"command":%q}`, command))
	asked := time.Now()
	assert.NoError(t, l.OnEarlyRequest(t.Context(), q.Request))
	l.phase("waiting_permission")
	time.Sleep(100 * time.Millisecond)
	l.writes(spoken("Let me run "+id+".", "tool_use"), bash(id, command))
	m := l.api.awaits(command)
	late = m.at.Sub(asked)
	time.Sleep(time.Second)
	l.taps(t, m, i18n.AskAllow)
	time.Sleep(500 * time.Millisecond) // the command
	l.Writes(t, q, "allow", "ok", false)
	l.writes(toolResult(id, false))
	l.phase("working")
	return late
}

// awaits waits until the chat has a text.
func (s *strictAPI) awaits(text string) shownMessage {
	for {
		all := s.since(time.Time{})
		if i := slices.IndexFunc(all, func(m shownMessage) bool { return strings.Contains(m.text, text) }); i >= 0 {
			return all[i]
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// taps taps a button of a message of the group.
func (l *loaded) taps(t *testing.T, m shownMessage, label i18n.Key) {
	t.Helper()
	rows, _ := m.keys.(*models.InlineKeyboardMarkup)
	if !assert.NotNil(t, rows, m.text) {
		return
	}
	all := slices.Concat(rows.InlineKeyboard...)
	i := slices.IndexFunc(all, func(b models.InlineKeyboardButton) bool { return b.Text == l.Word(label) })
	if !assert.GreaterOrEqual(t, i, 0, m.text) {
		return
	}
	on := &models.Message{ID: int(int32(m.id)), Chat: chattest.Forum(), MessageThreadID: l.r.Conversation.ThreadID, IsTopicMessage: true, ReplyMarkup: rows}
	assert.NoError(t, l.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, on, all[i].CallbackData)))
}

// TestBusyGroupIsAnsweredSoon has two people send 20 prompts in 125 s to four topics of a group, where
// Telegram takes 20 messages and edits a minute. Six of the turns ask for a command.
func TestBusyGroupIsAnsweredSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const prompts, topics, within = 20, 4, 125 * time.Second
		w, api, _ := loadedWorld(t)
		var all []*loaded
		for n := range topics {
			all = append(all, inOwnTopic(t, w, api, fmt.Sprint("s", n)))
		}
		time.Sleep(time.Minute)
		began := time.Now()
		var mu sync.Mutex
		request, ready := time.Duration(0), map[string]time.Time{} // ready: when an agent had its answer
		var done sync.WaitGroup
		for n, l := range all {
			done.Go(func() {
				for i := n; i < prompts; i += topics {
					time.Sleep(time.Until(began.Add(within / prompts * time.Duration(i))))
					text := fmt.Sprint("text ", i)
					l.begins(inbox.UpdateKey(int64(i+1)), text)
					time.Sleep(2 * time.Second)
					late := time.Duration(0)
					if i%3 == 0 && i > 0 {
						late = l.asks(t, fmt.Sprint("call", i))
					}
					time.Sleep(time.Second)
					answer := fmt.Sprintf("answer %d.", i)
					mu.Lock()
					request, ready[answer] = max(request, late), time.Now()
					mu.Unlock()
					l.writes(spoken(answer, "end_turn"), chattest.TurnEnd)
					l.phase("idle")
				}
			})
		}
		done.Wait()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		answer := time.Duration(0)
		for text, since := range ready {
			answer = max(answer, api.afterwards(t, since, text))
		}
		count := map[string]int{}
		for _, m := range api.since(began) {
			count[m.how]++
		}
		t.Logf("%d messages, %d edits; the latest request after %s, the latest answer after %s", count["send"], count["edit"], request.Round(10*time.Millisecond), answer)
		assert.LessOrEqual(t, count["send"], 29)
		assert.LessOrEqual(t, request, 10*time.Second)
		assert.LessOrEqual(t, answer, 30*time.Second)
		assert.Len(t, ready, prompts)
		assert.Zero(t, api.refused)
	})
}
