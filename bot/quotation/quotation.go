// Package quotation says what a person's message says, as it may be typed. Only the person's own
// words act: what others wrote, or a program did, is a quotation, in which nothing stands where
// Claude Code acts on it (P7).
package quotation

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/port/prompts"
	"ccbot/internal/glyph"
)

// Text is what a message says, as it may be typed: the person's own words as they are, and the
// words of others as a quotation under a line that says whose they are.
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

// Source says where the words of a message come from; it is empty for words that the sender wrote
// in this chat. Another bot may change later what was sent through it, and a business bot writes in
// its owner's name.
func Source(m *models.Message) string {
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

// nameOf is a name that somebody chose for themselves, on one line and without a meaning of its
// own.
func nameOf(parts ...string) string {
	name := glyph.Name(strings.ReplaceAll(strings.Join(parts, " "), "@", "(at)"))
	name = strings.Join(strings.Fields(inert(name)), " ")
	if strings.Trim(name, "· ") == "" {
		return "somebody"
	}
	return chat.Head(name, maxAuthor)
}

// Of is a text that others wrote, or a program did, as it is typed: under its source, each line
// behind a ">", with nothing in it that Claude Code acts on (docs/claude-code.md has the table).
// What it acts on at the start of a text or of a line is behind the ">". The blank at the end keeps
// Enter from choosing a completion of the last word.
func Of(source, text string) string {
	quoted := source + ":"
	if text == "" {
		return quoted
	}
	for line := range strings.SplitSeq(lineBreaks.Replace(text), "\n") {
		quoted += "\n> " + inert(line)
	}
	return quoted + " "
}

// lineBreaks makes one sign of all that may begin a new line in a terminal or in Claude Code.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// inert is a line with a blank wherever Claude Code would act within it: behind the "@" that names
// a file or an agent, behind the "/" that names a skill, and in the words that raise the effort. An
// address of mail stays as it is, and so does a path. Characters that cannot be seen go first, for
// Claude Code drops them before it looks; those stay that make emoji and join letters.
func inert(line string) string {
	line = joined.ReplaceAllString(strings.Map(func(r rune) rune {
		if r != '\t' && glyph.Unseen(r) && !strings.ContainsRune(joiners, r) {
			return -1
		}
		return r
	}, line), "$1")
	line = effort.ReplaceAllString(line, "$1 $2")
	for before := ""; line != before; { // a blank may make the start of a word of what stands behind it
		before = line
		line = apart(apart(line, '@', isWord), '/', isName)
	}
	return line
}

// apart puts a blank behind a sign that begins a word, where what stands behind it acts.
func apart(line string, sign rune, acts func(behind string) bool) string {
	var out strings.Builder
	before := ' '
	for i, r := range line {
		out.WriteRune(r)
		if r == sign && !inWord(before) && acts(line[i+1:]) {
			out.WriteByte(' ')
		}
		before = r
	}
	return out.String()
}

const joiners = "\u200c\u200d\ufe0f"

// joined finds what joins nothing: joiners at the start of a line, and those on a character that is
// neither a letter of a script that joins nor an emoji.
var joined = regexp.MustCompile(`(^|[\x00-\x7f\p{Z}\p{P}])[` + joiners + `]+`)

// effort finds the words that make Claude Code think longer, or load more.
var effort = regexp.MustCompile(`(?i)(ultra)(code|plan|review|think)`)

// inWord says whether a sign behind a character stands within an address of mail, a fraction or a
// path.
func inWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._%+-/", r))
}

// isWord says whether a text begins with anything but a blank.
func isWord(text string) bool { return text != "" && strings.IndexFunc(text, unicode.IsSpace) != 0 }

// isName says whether a text begins with a word that may be the name of a command; a path is none.
func isName(text string) bool {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	return text != "" && !strings.Contains(strings.TrimRight(text, "/"), "/")
}

// withLinks is a text with the addresses of its links, which Telegram keeps beside it: each behind
// the words that it is under, unless it stands in the text. Nobody sees an address before it is
// typed, so one that would act is passed over, and a command gets none.
func withLinks(text string, entities []models.MessageEntity) string {
	if _, class, _ := prompts.Normalise(text); class != prompts.Plain {
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
