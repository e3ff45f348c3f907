package loops

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/news"
)

// Loops shows the loops of all sessions.
type Loops struct {
	chat  *chat.Chat
	loops port.Loops
}

// New returns the feature of a chat.
func New(c *chat.Chat, l port.Loops) *Loops { return &Loops{chat: c, loops: l} }

// FeatureName is the name of the feature.
const FeatureName = "loops"

// Feature describes loops to the dispatcher.
func (l *Loops) Feature() chat.Feature { return chat.Feature{Name: FeatureName, OnNews: l.onNews} }

// onNews reports a start, a pause or an end of a loop.
func (l *Loops) onNews(ctx context.Context, r port.Session, n news.News) error {
	of, is := n.(news.Looped)
	if !is {
		return nil
	}
	w := l.chat.In(r.Conversation)
	said := i18n.Args{"Name": r.Name, "Turns": of.Used.Turns, "Check": of.Check, "Command": "ccbot loop resume " + r.ID.String(),
		"Reason": w.Say(i18n.LoopKey.Of(string(of.Reason)), i18n.Args{"Detail": chat.FailureText(of.Detail)})}
	key := i18n.LoopStarted
	switch {
	case of.State == port.LoopPaused:
		key = i18n.LoopPaused
	case of.State == port.LoopDone:
		key = i18n.LoopDone
	case !of.State.Live():
		key = i18n.LoopEnded
	}
	return l.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: w.Text(key, said),
		Sounds: key != i18n.LoopStarted && l.chat.Sounds(chat.TurnDone, r)})
}
