package botapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// query is one tap that waits for the bot's answer.
type query struct {
	id     string
	chat   int64
	answer Answer
	done   chan struct{}
}

// tap tells the bot that a button was pressed.
func (s *Server) tap(u User, chatID int64, messageID int, data string) (*query, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messageLocked(chatID, messageID)
	if m == nil {
		return nil, fmt.Errorf("tap %q on %d in %d: %w", data, messageID, chatID, ErrNoMessage)
	}
	has := slices.ContainsFunc(m.Keyboard, func(row []Button) bool {
		return slices.ContainsFunc(row, func(b Button) bool { return b.Data == data && data != "" && !b.Disabled })
	})
	if !has {
		return nil, fmt.Errorf("tap %q on %d in %d: %w", data, messageID, chatID, ErrNoButton)
	}
	s.nextID++
	s = s.ownerLocked(m)
	q := &query{id: strconv.FormatInt(4_000_000_000+s.nextID, 10), chat: chatID, done: make(chan struct{})}
	s.queries[q.id] = q
	s.enqueueLocked("callback_query", map[string]any{
		"id": q.id, "from": u, "message": m, "chat_instance": strconv.FormatInt(chatID, 10), "data": data,
	})
	return q, nil
}

// answerCallbackQuery may be called once for a tap.
func (s *Server) answerCallbackQuery(p params) (any, *apiError) {
	q := s.queries[p.str("callback_query_id")]
	if q == nil {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if units(p.str("text")) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	delete(s.queries, q.id)
	q.answer = Answer{Text: p.str("text"), Alert: p.bool("show_alert"), URL: p.str("url")}
	close(q.done)
	s.publishLocked(q.chat, event{Type: "answer", Query: q.id, Text: q.answer.Text, Alert: q.answer.Alert})
	return true, nil
}

// reactionEmoji lists the allowed reactions: https://core.telegram.org/bots/api#reactiontypeemoji.
const reactionEmoji = "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u200d🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 " +
	"👨\u200d💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u200d♂ 🤷 🤷\u200d♀ 😡"

func (s *Server) setMessageReaction(p params) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	m := s.messageLocked(c.ID, p.int("message_id"))
	if m == nil {
		return nil, badRequest("message to react not found")
	}
	var list []struct{ Type, Emoji string }
	if p.has("reaction") {
		if err := json.Unmarshal([]byte(p.str("reaction")), &list); err != nil {
			return nil, badRequest("can't parse reaction types JSON object")
		}
	}
	if len(list) > 1 {
		return nil, badRequest("REACTIONS_TOO_MANY") // a bot without premium has one
	}
	var emoji []string
	for _, r := range list {
		if r.Type != "emoji" || !slices.Contains(strings.Fields(reactionEmoji), r.Emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
		emoji = append(emoji, r.Emoji)
	}
	m.Reactions = replaceReaction(m.Reactions, s.bot.ID, emoji...)
	s.changedLocked(m)
	return true, nil
}
