package quotation

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// Text returns a message's text in a form that may be typed: the person's own words unchanged, and
// the words of others as a quotation under a line with their source.
func Text(m *models.Message) string {
	text := withLinks(m.Caption, m.CaptionEntities)
	if m.Text != "" {
		text = withLinks(m.Text, m.Entities)
	}
	if source := Source(m); source != "" {
		return Of(source, text)
	}
	return text
}

// By returns the words of a message of somebody who may not speak to the bot, as a quotation; empty:
// it has none.
func By(m *models.Message) string {
	text := Text(m)
	if text == "" || Source(m) != "" {
		return text
	}
	return Of(strings.TrimSuffix(talk.SpeakerLine(nameOf(m.From.FirstName, m.From.LastName)), ":"), text)
}

// Speaker returns the name of a person as an agent gets it above what that person writes.
func Speaker(u *models.User) string { return chat.Head(nameOf(u.FirstName, u.LastName), maxSpeaker) }

// maxSpeaker is the maximum length of that name, in letters.
const maxSpeaker = 32

// Parts returns the updates of an inbox entry: the messages of an album, the parts of a cut text,
// or a message; refers: the one that it refers to. It returns an error if one cannot be read, or has
// no message.
func Parts(first json.RawMessage, rest []json.RawMessage, refers bool) (all []*models.Update, err error) {
	for _, raw := range append([]json.RawMessage{first}, rest...) {
		u := new(models.Update)
		if err := json.Unmarshal(raw, u); err != nil {
			return nil, err
		}
		if u.Message == nil {
			return nil, errors.New("an update is not a message")
		}
		if refers {
			u.Message = Meant(u.Message)
		}
		all = append(all, u)
	}
	return all, nil
}

// Source returns the origin of a message's words; it is empty for words that the sender wrote in
// this chat. Another bot may later change a message sent through it, and a business bot writes in
// its owner's name.
func Source(m *models.Message) string {
	switch {
	case m.ForwardOrigin != nil:
		return "Forwarded message from " + authorOf(*m.ForwardOrigin)
	case m.ViaBot != nil:
		return "Message sent through the bot " + nameOf(m.ViaBot.FirstName, m.ViaBot.LastName)
	case m.SenderBusinessBot != nil:
		bot := m.SenderBusinessBot
		return "Message sent by the bot " + nameOf(bot.FirstName, bot.LastName)
	}
	return ""
}

func authorOf(o models.MessageOrigin) string {
	switch {
	case o.MessageOriginUser != nil:
		sender := o.MessageOriginUser.SenderUser
		return nameOf(sender.FirstName, sender.LastName)
	case o.MessageOriginHiddenUser != nil:
		return nameOf(o.MessageOriginHiddenUser.SenderUserName)
	case o.MessageOriginChat != nil:
		return nameOf(o.MessageOriginChat.SenderChat.Title)
	case o.MessageOriginChannel != nil:
		return nameOf(o.MessageOriginChannel.Chat.Title)
	}
	return nameOf()
}

// nameOf returns a self-chosen name on one line and without special meaning.
func nameOf(parts ...string) string {
	name := glyph.Name(strings.ReplaceAll(strings.Join(parts, " "), "@", "(at)"))
	name = strings.Join(strings.Fields(inert(name)), " ")
	if strings.Trim(name, "· ") == "" {
		return "somebody"
	}
	return chat.Head(name, 60)
}

// Of returns a foreign text, or program output, as it is typed: under its source, each line after a
// ">", with nothing in it that Claude Code acts on (docs/claude-code.md has the table). The ">"
// disarms signs that act at the start of a text or of a line. The blank at the end keeps Enter from
// choosing a completion of the last word.
func Of(source, text string) string {
	quoted := source + ":"
	if text == "" {
		return quoted
	}
	for _, line := range lineBreaks.Split(text, -1) {
		quoted += "\n> " + inert(line)
	}
	return quoted + " "
}

// lineBreaks finds all that may begin a new line in a terminal or in Claude Code.
var lineBreaks = lazyregexp.New(`\r\n|[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}]`)

// inert returns a line with a blank wherever Claude Code would act within it: after the "@" that
// names a file or an agent, after the "/" that names a skill, and in the words that raise the
// effort. A mail address stays unchanged, and so does a path. Invisible characters are removed,
// because Claude Code drops them first; those that make emoji and join letters stay.
func inert(line string) string {
	line = joined.ReplaceAllString(strings.Map(func(r rune) rune {
		if r != '\t' && glyph.Unseen(r) && !strings.ContainsRune(joiners, r) {
			return -1
		}
		return r
	}, line), "$1")
	line = effort.ReplaceAllString(line, "$1 $2")
	for range mostPasses { // a blank may make a word of the following text
		before := line
		line = mention.ReplaceAllString(line, "$1@ $2")
		line = command.ReplaceAllString(line, "$1/ $2$3")
		if line == before {
			return line
		}
	}
	return strings.NewReplacer("@", "@ ", "/", "/ ").Replace(line) // of signs by the thousand each would need a pass
}

// mostPasses is more than any meaningful text needs.
const mostPasses = 16

const joiners = "\u200c\u200d\ufe0f"

// joined finds joiners without effect: at the start of a line, and on a character that is neither a
// letter of a joining script nor an emoji.
var joined = lazyregexp.New(`(^|[\x00-\x7f\p{Z}\p{P}])[` + joiners + `]+`)

// effort finds the words that make Claude Code think longer, or load more.
var effort = lazyregexp.New(`(?i)(ultra)(code|plan|review|think)`)

// The characters before a sign that begins a word: any except the characters of a mail address, a
// fraction or a path. Blanks are those of unicode.IsSpace.
const (
	begins = `(^|[^A-Za-z0-9._%+/-])`
	blanks = `\s\v\x{85}\p{Z}`
)

// mention finds signs that name a file or an agent, and command those that name a skill: the word
// after the sign cannot be a path.
var (
	mention = lazyregexp.New(begins + `@([^` + blanks + `])`)
	command = lazyregexp.New(begins + `/([^/` + blanks + `]+/*|/+)($|[` + blanks + `])`)
)

// withLinks returns a text with the addresses of its links, which Telegram keeps separately: each
// after its words, unless the text has it. An address is invisible before it is typed, so one that
// would act is omitted, and a command gets none.
func withLinks(text string, entities []models.MessageEntity) string {
	if _, class, _ := talk.Normalise(text); class != talk.ClassPlain {
		return text
	}
	behind := make(map[int]string) // by where the words of a link end, in UTF-16 units
	for _, e := range entities {
		acts := strings.ContainsFunc(e.URL, unicode.IsSpace) || inert(e.URL) != e.URL
		if e.Type == models.MessageEntityTypeTextLink && e.Offset >= 0 && e.Length > 0 && !acts &&
			!strings.Contains(text, e.URL) {
			behind[e.Offset+e.Length] += " (" + e.URL + ")"
		}
	}
	var out strings.Builder
	at := 0
	for _, r := range text {
		out.WriteRune(r)
		at += utf16.RuneLen(r)
		out.WriteString(behind[at])
	}
	return out.String()
}

// IsService reports whether Telegram wrote a message to report a change of the chat. A kind that is
// missing here causes one superfluous reply.
func IsService(m *models.Message) bool {
	return len(m.NewChatMembers) > 0 || m.LeftChatMember != nil || m.NewChatTitle != "" || len(m.NewChatPhoto) > 0 ||
		m.DeleteChatPhoto || m.GroupChatCreated || m.SupergroupChatCreated || m.MessageAutoDeleteTimerChanged != nil ||
		m.MigrateToChatID != 0 || m.MigrateFromChatID != 0 || m.PinnedMessage != nil || m.ChatBackgroundSet != nil ||
		m.ForumTopicCreated != nil || m.ForumTopicEdited != nil || m.ForumTopicClosed != nil || m.ForumTopicReopened != nil ||
		m.GeneralForumTopicHidden != nil || m.GeneralForumTopicUnhidden != nil || m.BoostAdded != nil ||
		m.VideoChatScheduled != nil || m.VideoChatStarted != nil || m.VideoChatEnded != nil || m.VideoChatParticipantsInvited != nil
}

// Read parses a message to the bot of a name: a command without its slash and its arguments, or a
// text for the agent, unchanged except that our name is cut out. Words of others cannot be a
// command, and neither can a caption. foreign: in a group, it is a command for another bot.
func Read(m *models.Message, username string) (command, args, text string, foreign bool) {
	text = Text(m)
	if Source(m) != "" || m.Text == "" {
		return "", "", text, false
	}
	if m.Chat.ID != m.From.ID {
		text = unnamed(text, username)
	}
	name, to, rest := split(text)
	switch {
	case to == "":
		return name, strings.TrimSpace(rest), text, false
	case strings.EqualFold(to, username):
		return name, strings.TrimSpace(rest), "/" + name + rest, false
	}
	return "", "", text, m.Chat.ID != m.From.ID && addressed.MatchString(name+"@"+to)
}

// unnamed returns a text without the bot's name at its beginning or end: "@bot, look" is said to the
// bot, and the agent is not to look for a file of that name. The name alone stays.
func unnamed(text, username string) string {
	at := "@" + username
	head, tail := min(len(at), len(text)), max(0, len(text)-len(at))
	if strings.EqualFold(text[:head], at) {
		rest := strings.TrimLeft(text[head:], ",:")
		if said := strings.TrimLeftFunc(rest, unicode.IsSpace); said != "" && said != rest {
			return said
		}
	}
	if said := strings.TrimRightFunc(text[:tail], unicode.IsSpace); said != "" && said != text[:tail] && strings.EqualFold(text[tail:], at) {
		return said
	}
	return text
}

// Refers reports whether a message sends the words of another: the name of the bot alone, in reply to
// a person, sends what that person has written. The entry of the message keeps the answer.
func Refers(m *models.Message, username string) bool {
	to := m.ReplyToMessage
	return to != nil && to.From != nil && (!to.From.IsBot || to.SenderChat != nil) && !IsService(to) && Source(m) == "" &&
		strings.EqualFold(strings.TrimSpace(m.Text), "@"+username)
}

// Meant returns the message that a message refers to. It counts from the time of the reply.
func Meant(m *models.Message) *models.Message {
	if m.ReplyToMessage == nil || m.ReplyToMessage.From == nil {
		return m
	}
	meant := *m.ReplyToMessage
	meant.Chat, meant.MessageThreadID, meant.IsTopicMessage, meant.Date, meant.ReplyToMessage = m.Chat, m.MessageThreadID, m.IsTopicMessage, m.Date, nil
	return &meant
}

// Addressed returns the command of a text in a group and the bot that the command names, without @;
// empty: it names none.
func Addressed(text string) (command, bot string) {
	command, bot, _ = split(text)
	if bot != "" && !addressed.MatchString(command+"@"+bot) {
		return "", ""
	}
	return command, bot
}

// addressed finds a command for a bot: the name of a bot ends in "bot", and a path with an @ in it
// does not count.
var addressed = lazyregexp.New(`(?i)^\w{1,32}@[a-z]\w*bot$`)

// split splits "/name@bot rest"; rest begins with the blank or line break that ends the
// name. Without a command all of it is empty; "//name" is the agent's own.
func split(text string) (name, to, rest string) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", ""
	}
	head := text[1:]
	if i := strings.IndexAny(head, " \n\t"); i >= 0 {
		head, rest = head[:i], head[i:]
	}
	name, to, _ = strings.Cut(head, "@")
	return name, to, rest
}

// SentAt returns the date of a message. A date that JSON cannot hold is unknown, as 0 is: it would
// keep the message, and all that name it, from the disk.
func SentAt(m *models.Message) time.Time {
	if at := time.Unix(int64(m.Date), 0); at.UTC().Year() >= 1970 && at.UTC().Year() <= 9999 {
		return at
	}
	return time.Unix(0, 0)
}
