package people

import (
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/quotation"
)

// Text describes whom a text is for, by its own signs.
type Text struct {
	Names   bool // it is a command, answers the bot or names it
	Begins  bool // it begins with a person
	Answers bool // it answers a message of another person
}

// Place describes where a text was written.
type Place struct {
	Several bool // more than one allowed person has written in the group
	Agents  bool // plain texts there are prompts: it shows a session, or the group has no topics
	Named   bool // the group has chosen that only texts to the bot are prompts
}

// IsPrompt reports whether a text is for an agent.
func IsPrompt(t Text, in Place) bool {
	switch {
	case t.Names:
		return true
	case in.Named:
		return false
	case !in.Several:
		return true
	}
	return in.Agents && !t.Begins && !t.Answers
}

// Of reads the signs of a message. bot is the bot's name without @. knows reports whether a name is
// that of a person of the group, and isFile whether the agent has a file of that name.
func Of(m *models.Message, bot string, knows, isFile func(name string) bool) Text {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	t := Text{Names: strings.HasPrefix(text, "/")}
	if quotation.Source(m) != "" {
		entities = nil // they are another's words
	}
	for _, e := range entities {
		name, rest, ok := mentioned(text, e)
		switch {
		case !ok:
		case strings.EqualFold(name, bot):
			t.Names = true
		case e.Offset > 0:
		case e.Type == models.MessageEntityTypeTextMention:
			t.Begins = e.User == nil || !e.User.IsBot
		default: // @src/main.go is a file, and so may @notes be
			t.Begins = !strings.ContainsAny(rest[:min(1, len(rest))], "/.-") && knows(name) && !isFile(name)
		}
	}
	if to := m.ReplyToMessage; to != nil && to.From != nil && to.ForumTopicCreated == nil {
		anonymous := to.SenderChat != nil // which Telegram calls a bot
		t.Names = t.Names || to.From.IsBot && strings.EqualFold(to.From.Username, bot)
		t.Answers = (!to.From.IsBot || anonymous) && to.From.ID != m.From.ID
	}
	return t
}

// mentioned returns the name of a mention without @, and the text after it.
func mentioned(text string, e models.MessageEntity) (name, rest string, ok bool) {
	if e.Type != models.MessageEntityTypeMention && e.Type != models.MessageEntityTypeTextMention {
		return "", "", false
	}
	units := utf16.Encode([]rune(text))
	if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(units) {
		return "", "", false
	}
	name = string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
	if e.Type == models.MessageEntityTypeTextMention {
		name = ""
	}
	return strings.TrimPrefix(name, "@"), string(utf16.Decode(units[e.Offset+e.Length:])), true
}
