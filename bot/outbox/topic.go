package outbox

import (
	"context"
	"time"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/address"
)

// OpenTopic opens a topic in a chat; icon may be empty. made is called with the topic as soon as there is
// one, also when nobody waits for it any more. The errors are those of Call.
func (o *Outbox) OpenTopic(ctx context.Context, chat int64, name, icon string, made func(at address.Conversation) error) error {
	place := address.Conversation{ChatID: chat}
	return o.Call(ctx, place, func(ctx context.Context, to address.Conversation) error {
		t, err := o.api.CreateForumTopic(ctx, &tgbot.CreateForumTopicParams{ChatID: to.ChatID, Name: name, IconCustomEmojiID: icon})
		if err != nil {
			return err
		}
		return made(address.Conversation{ChatID: chat, ThreadID: t.MessageThreadID})
	})
}

// EditTopic changes the name and the icon of a topic; what is empty stays. The errors are those of Call.
func (o *Outbox) EditTopic(ctx context.Context, at address.Conversation, name, icon string) error {
	return o.Call(ctx, at, func(ctx context.Context, to address.Conversation) error {
		_, err := o.api.EditForumTopic(ctx, &tgbot.EditForumTopicParams{ChatID: to.ChatID, MessageThreadID: to.ThreadID,
			Name: name, IconCustomEmojiID: icon})
		return err
	})
}

// TopicIcons are the icons that a topic may have: the id of each by its emoji.
func (o *Outbox) TopicIcons(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	all, err := o.api.GetForumTopicIconStickers(ctx)
	if err != nil {
		return nil, err
	}
	icons := make(map[string]string, len(all))
	for _, s := range all {
		icons[s.Emoji] = s.CustomEmojiID
	}
	return icons, nil
}
