package chattest

import (
	"context"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/host"
	"ccbot/internal/session"
	"ccbot/port"
)

var agents = agentsIn("")

// agentsIn are the agents whose conversations are in a folder.
func agentsIn(projects string) agent.Agents {
	return agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil)}
}

// FirstTopic is the number of the first topic that the bot opens.
const FirstTopic = 501

// InForum is the place of a session in the topic that the bot has opened as the nth one, from 0.
func InForum(n int) session.Conversation {
	return session.Conversation{ChatID: Ours, ThreadID: FirstTopic + n}
}

// LeaveChat notes that a group is left, unless OnTopic refuses.
func (f *FakeSender) LeaveChat(_ context.Context, chat int64) error {
	if f.OnTopic != nil {
		if err := f.OnTopic(); err != nil {
			return err
		}
	}
	f.Add("leave %d", chat)
	return nil
}

// OpenTopic opens a topic, unless OnTopic refuses.
func (f *FakeSender) OpenTopic(_ context.Context, chat int64, name, icon string, made func(at session.Conversation) error) error {
	f.Add("open topic %s (%s) in %d", name, icon, chat)
	if f.OnTopic != nil {
		if err := f.OnTopic(); err != nil {
			return err
		}
	}
	f.Mu.Lock()
	f.topics++
	at := session.Conversation{ChatID: chat, ThreadID: FirstTopic + f.topics - 1}
	f.Mu.Unlock()
	return made(at)
}

func (f *FakeSender) EditTopic(_ context.Context, at session.Conversation, name, icon string) error {
	f.Add("topic %d in %d: %s (%s)", at.ThreadID, at.ChatID, name, icon)
	if f.OnTopic != nil {
		return f.OnTopic()
	}
	return nil
}

// Pin pins a message, unless OnPin refuses.
func (f *FakeSender) Pin(_ context.Context, at session.Conversation, message int) error {
	f.Add("pin %d in %d", message, at.ChatID)
	if f.OnPin != nil {
		return f.OnPin()
	}
	return nil
}

// Delete deletes a message.
func (f *FakeSender) Delete(_ context.Context, at session.Conversation, message int) error {
	f.Add("delete %d in %d", message, at.ChatID)
	return nil
}

// TopicIcons are a closed folder and a computer, as Telegram spells them.
func (f *FakeSender) TopicIcons(context.Context) (map[string]string, error) {
	if f.OnIcons != nil {
		if err := f.OnIcons(); err != nil {
			return nil, err
		}
	}
	return map[string]string{"📁": "over", "💻\ufe0f": "open"}, nil
}

// Forum is the group of the tests as one that has topics.
func Forum() models.Chat {
	c := GroupChat(Ours)
	c.IsForum = true
	return c
}

// SaysInForum handles a message of Alice's in a topic of the forum; 0: in its main lane.
func (w *World) SaysInForum(t *testing.T, thread int, m models.Message) error {
	t.Helper()
	m.Chat, m.From, m.MessageThreadID, m.IsTopicMessage = Forum(), &models.User{ID: Alice}, thread, thread != 0
	key, u := w.Accept(t, &m)
	return w.HandleText(t, key, u)
}

// MustSayInForum is SaysInForum for an accepted text.
func (w *World) MustSayInForum(t *testing.T, thread int, text string) {
	t.Helper()
	require.NoError(t, w.SaysInForum(t, thread, models.Message{Text: text}))
}

// ViewOf is a record as the chat knows it.
func ViewOf(r session.Record) port.Session { return host.View(agents, r) }
