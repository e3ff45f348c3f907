package cuttext

import (
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

const (
	// full is Telegram's limit of a text, in UTF-16 units.
	full = 4096
	// long is the length from which a text may be a part of a longer one: an app cuts at a line
	// break or a blank, if there is one in the last few hundred characters.
	long = 3500
)

// Part describes a message that may be a part of a cut text. The zero value is not a part.
type Part struct {
	message, date int
	// Long reports whether another part may follow.
	Long bool
}

// Of returns the part that a message may be: the sender's own words, no command, and no reply.
func Of(m *models.Message) Part {
	if m.Text == "" || m.ForwardOrigin != nil || m.ViaBot != nil || m.SenderBusinessBot != nil || isReply(m) || strings.HasPrefix(m.Text, "/") {
		return Part{}
	}
	return Part{message: m.ID, date: m.Date, Long: length(m.Text) >= long}
}

// isReply reports whether a message answers another one. Each message of a topic "answers" the
// message that has opened the topic.
func isReply(m *models.Message) bool {
	return m.ReplyToMessage != nil && m.ReplyToMessage.ForumTopicCreated == nil || m.ExternalReply != nil || m.ReplyToStory != nil
}

// Continues reports whether p is the part after last of one text, if both have the same sender and
// place. An app sends all parts at once: their numbers follow each other, and the clock may pass
// from one second to the next between two of them.
func (p Part) Continues(last Part) bool {
	return last.Long && p.message == last.message+1 && last.date <= p.date && p.date <= last.date+1
}

// Join returns the text that was cut into parts. read returns the text of a part as it may be
// typed. A full message was cut within a word. At any other cut the app has dropped a line break or
// a blank: a line break does no harm in either place.
func Join(parts []*models.Update, read func(*models.Message) string) string {
	var b strings.Builder
	for i, u := range parts {
		if i > 0 && length(parts[i-1].Message.Text) < full {
			b.WriteByte('\n')
		}
		b.WriteString(read(u.Message))
	}
	return b.String()
}

// length is the length of a text in UTF-16 units, as Telegram counts it.
func length(text string) int { return len(utf16.Encode([]rune(text))) }
