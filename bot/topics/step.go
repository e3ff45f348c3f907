package topics

import (
	"context"
	"errors"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
)

// onNews wakes the check of the topics after news. It is called by the session's own worker.
func (t *Topics) onNews(context.Context, port.Session, news.News) error {
	pause.Poke(t.wake)
	return nil
}

// step returns the topic that fits the session.
func step(was conversation.Topic, r port.Session) (now conversation.Topic) {
	now = was
	now.Name = r.Name
	switch {
	case r.State.HasEnded():
		now.Ended = true
	case r.State == port.StateRunning:
		now.Ended = false
	}
	return now
}

const (
	retryAfter = time.Minute
	between    = time.Second // two changes of topics: each is a message
)

// Run keeps the topics that the bot has opened in step with their sessions.
func (t *Topics) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		for _, at := range t.book.All() {
			if err := t.keepStep(ctx, at); err != nil && ctx.Err() == nil {
				t.Chat.Log.Warn("topic_not_changed", logkey.ChatID, at.ChatID, logkey.Topic, at.ThreadID, logkey.Error, err)
				if !errors.Is(err, outbox.ErrBlocked) { // which a person ends
					wait = retryAfter
				}
			}
		}
		pause.Until(ctx, wait, t.wake)
	}
	return nil
}

// keepStep brings one topic up to date. A refused call is not repeated.
func (t *Topics) keepStep(ctx context.Context, at outbox.Conversation) error {
	was, ours := t.book.Topic(at)
	r, known := t.book.CurrentSession(at, 0)
	if !ours || !known || r.State == port.StateUnknown {
		return nil
	}
	now := step(was, r)
	if now == was {
		return nil
	}
	var err error
	name, icon := "", ""
	if t.title(at, now.Name) != t.title(at, was.Name) {
		name = t.title(at, now.Name)
	}
	if now.Ended != was.Ended {
		if icon, err = t.icon(ctx, now.Ended); err != nil {
			return err
		}
	}
	if name != "" || icon != "" {
		waits, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := t.Telegram.EditTopic(waits, at, name, icon); err != nil && !chat.IsRefused(err) {
			return err
		} else if err != nil {
			t.Chat.Log.Info("topic_change_refused", logkey.ChatID, at.ChatID, logkey.Topic, at.ThreadID, logkey.Error, err)
		}
		if errors.Is(err, outbox.ErrNoTopic) {
			return nil
		}
	}
	if latest, ours := t.book.Topic(at); !ours || latest != was { // it is gone, or a person was quicker
		return nil
	}
	if err := t.book.NoteTopic(at, now); err != nil {
		return err
	}
	pause.Until(ctx, between, nil)
	return nil
}

// The emoji of a topic whose session is open, and of a topic whose session has ended.
const (
	openIcon  = "💻"
	endedIcon = "📁"
)

// icon is the icon of a topic; empty: Telegram has no such icon.
func (t *Topics) icon(ctx context.Context, over bool) (string, error) {
	t.mu.Lock()
	icons := t.icons
	t.mu.Unlock()
	if icons == nil {
		all, err := t.Telegram.TopicIcons(ctx)
		if err != nil {
			return "", err
		}
		icons = make(map[string]string, len(all))
		for emoji, id := range all {
			icons[strings.TrimSuffix(emoji, "\ufe0f")] = id
		}
		t.mu.Lock()
		t.icons = icons
		t.mu.Unlock()
	}
	if over {
		return icons[endedIcon], nil
	}
	return icons[openIcon], nil
}
