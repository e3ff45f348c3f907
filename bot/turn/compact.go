package turn

import (
	"context"

	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
)

// Compacting has an agent's own /compact typed when its turn comes. add puts a prompt into the inbox,
// durably, and says whether its key is new: two taps are one.
func Compacting(add func(e inbox.Entry) (fresh bool, err error), queue prompts.Queue) Act {
	return func(ctx context.Context, a Asked) error {
		typed, class, _ := prompts.Normalise("//compact")
		e := inbox.Entry{Key: inbox.PromptKey(a.Once), State: inbox.Held, Session: a.Session, Conversation: a.To,
			Text: typed, Class: string(class)}
		if fresh, err := add(e); err != nil || !fresh {
			return err
		}
		return queue.Queue(ctx, a.Session, e.Key)
	}
}
