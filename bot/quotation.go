package bot

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
)

// textOf is what a message says, as it may be typed: the person's own words as they are, and the words of others as
// a quotation under a line that says whose they are.
func textOf(m *models.Message) string {
	text := withLinks(m.Caption, m.CaptionEntities)
	if m.Text != "" {
		text = withLinks(m.Text, m.Entities)
	}
	if source := sourceOf(m); source != "" {
		return quotation(source, text)
	}
	return text
}

// sourceOf says where the words of a message come from; it is empty for words that the sender wrote in this chat.
// Another bot may change later what was sent through it, and a business bot writes in its owner's name.
func sourceOf(m *models.Message) string {
	switch {
	case m.ForwardOrigin != nil:
		return "Forwarded message from " + authorOf(*m.ForwardOrigin)
	case m.ViaBot != nil:
		return "Message sent through the bot " + nameOf(m.ViaBot.FirstName, m.ViaBot.LastName)
	case m.SenderBusinessBot != nil:
		return "Message sent by the bot " + nameOf(m.SenderBusinessBot.FirstName, m.SenderBusinessBot.LastName)
	}
	return ""
}

func authorOf(o models.MessageOrigin) string {
	switch {
	case o.MessageOriginUser != nil:
		return nameOf(o.MessageOriginUser.SenderUser.FirstName, o.MessageOriginUser.SenderUser.LastName)
	case o.MessageOriginHiddenUser != nil:
		return nameOf(o.MessageOriginHiddenUser.SenderUserName)
	case o.MessageOriginChat != nil:
		return nameOf(o.MessageOriginChat.SenderChat.Title)
	case o.MessageOriginChannel != nil:
		return nameOf(o.MessageOriginChannel.Chat.Title)
	}
	return nameOf()
}

// maxAuthor is the longest name in a source, in letters.
const maxAuthor = 60

// nameOf is a name that somebody chose for themselves, on one line and without a meaning of its own.
func nameOf(parts ...string) string {
	name := strings.Join(strings.Fields(inert(visible(strings.Join(parts, " "))+" ")), " ")
	if name == "" {
		return "somebody"
	}
	return clipEnd(name, maxAuthor)
}

// quotation is a text that others wrote, or a program did, as it is typed: under its source, each line behind a ">",
// with nothing in it that Claude Code acts on. What Claude Code acts on at the start of a text or of a line is behind
// the ">"; docs/claude-code.md has the table.
func quotation(source, text string) string {
	quoted := source + ":"
	if text == "" {
		return quoted
	}
	for line := range strings.SplitSeq(lineBreaks.Replace(text), "\n") {
		quoted += "\n> " + inert(line)
	}
	return quoted
}

// lineBreaks makes one sign of all that may begin a new line in a terminal or in Claude Code.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// inert is a text without mentions, which Claude Code acts on anywhere in a line: it puts the file that an "@" names
// into the conversation. With a blank behind the "@" it names none. An address of mail stays as it is.
func inert(text string) string {
	var out strings.Builder
	before := ' '
	for i, r := range text {
		out.WriteRune(r)
		if next, _ := utf8.DecodeRuneInString(text[i+1:]); r == '@' && !inAddress(before) && !unicode.IsSpace(next) {
			out.WriteByte(' ')
		}
		before = r
	}
	return out.String()
}

// inAddress says whether an "@" behind a character stands within an address of mail.
func inAddress(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._%+-", r))
}
