package turn

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/render"
	"ccbot/internal/logkey"
)

// message shows a step in a silent message, as long as it waits for its turn together with the steps
// that come after it. A restart may repeat the last ones.
func (t *Turns) message(session uuid.UUID, item talk.Item) {
	if item.Kind != talk.ToolUse || item.Tool == nil || item.Sidechain || item.Meta {
		return
	}
	r, known := t.Chat.Book.Records.Get(session)
	if !known || t.Steps(r.Conversation) != AsMessages || !t.InFront(r) || !t.Chat.Book.MayShow(r.Conversation) {
		return
	}
	t.mu.Lock()
	again := isBehind(item.At, t.behind[session])
	t.behind[session] = item.Next
	t.mu.Unlock()
	if again {
		return
	}
	w := words{t.Chat.In(r.Conversation)}
	look := card.Look{To: r.Conversation, Session: session, Rank: outbox.Later, // before the answer
		Text: render.Join(render.Plain(signRuns+" "), render.Code(w.line(item.Tool.Step, r)))}
	key, last := card.NewKey(), card.Card[string]{}
	for _, c := range t.lines.List() {
		switch {
		case c.Look.Session != session:
		case c.Sent:
			if err := t.lines.Close(context.Background(), c.Key, render.Text{}); err != nil {
				t.Chat.Log.Warn("steps_not_closed", logkey.SessionID, session.String(), logkey.Error, err.Error())
			}
		case c.Key > last.Key:
			last = c
		}
	}
	if text := chat.Lines(last.Look.Text, look.Text); last.Look.To == look.To && text.Length() <= render.Limit {
		key, look.Text = last.Key, text
	}
	if err := t.lines.Show(context.Background(), key, look, ""); err != nil {
		t.Chat.Log.Warn("step_not_shown", logkey.SessionID, session.String(), logkey.Error, err.Error())
	}
}
