package telegram

import (
	"context"
	"errors"
	"time"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/address"
)

// Topics opens and changes topics, pins messages, and leaves groups, at the pace of their chat.
type Topics struct {
	API *tgbot.Bot
	// Out returns the number that a message has at Telegram, where groups become other chats.
	Out func(at address.Conversation, message int) int
	// Call is outbox.Outbox.Call, from which the errors come.
	Call func(ctx context.Context, to address.Conversation, call func(ctx context.Context, to address.Conversation) error) error
	// Leave is outbox.Outbox.Leave.
	Leave func(ctx context.Context, chat int64, call func(ctx context.Context, to address.Conversation) error) error
}

// OpenTopic opens a topic in a chat; icon may be empty. made is called with the topic as soon as it
// exists, even if ctx has ended.
func (t Topics) OpenTopic(ctx context.Context, chat int64, name, icon string, made func(at address.Conversation) error) error {
	return t.Call(ctx, address.Conversation{ChatID: chat}, func(ctx context.Context, to address.Conversation) error {
		topic, err := t.API.CreateForumTopic(ctx, &tgbot.CreateForumTopicParams{ChatID: to.ChatID, Name: name, IconCustomEmojiID: icon})
		if err != nil {
			return err
		}
		return made(address.Conversation{ChatID: chat, ThreadID: topic.MessageThreadID})
	})
}

// EditTopic changes the name and the icon of a topic; an empty value is not changed.
func (t Topics) EditTopic(ctx context.Context, at address.Conversation, name, icon string) error {
	return t.Call(ctx, at, func(ctx context.Context, to address.Conversation) error {
		_, err := t.API.EditForumTopic(ctx, &tgbot.EditForumTopicParams{ChatID: to.ChatID, MessageThreadID: to.ThreadID,
			Name: name, IconCustomEmojiID: icon})
		return err
	})
}

// LeaveChat leaves a group.
func (t Topics) LeaveChat(ctx context.Context, chat int64) error {
	return t.Leave(ctx, chat, func(ctx context.Context, to address.Conversation) error {
		_, err := t.API.LeaveChat(ctx, &tgbot.LeaveChatParams{ChatID: to.ChatID})
		return err
	})
}

// TopicIcons are the icons that a topic may have: the id of each by its emoji. A server that
// refuses to say has none.
func (t Topics) TopicIcons(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	all, err := t.API.GetForumTopicIconStickers(ctx)
	if err != nil && !errors.Is(err, tgbot.ErrorNotFound) && !errors.Is(err, tgbot.ErrorBadRequest) {
		return nil, err
	}
	icons := make(map[string]string, len(all))
	for _, s := range all {
		icons[s.Emoji] = s.CustomEmojiID
	}
	return icons, nil
}
