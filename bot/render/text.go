package render

import (
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// Text is a message text with its formatting as Telegram takes it: entities whose offsets and lengths count
// UTF-16 code units (core.telegram.org/bots/api#messageentity), never a parse_mode string. The zero value is empty.
type Text struct {
	Text     string                 `json:"text"`
	Entities []models.MessageEntity `json:"entities,omitempty"`
}

// Plain is s without formatting; terminal escapes are removed, tabs become four spaces, and bytes that are not UTF-8 are
// replaced.
func Plain(s string) Text { return Text{Text: spread(clean(s))} }

// Bold is s in bold.
func Bold(s string) Text { return spanned(s, models.MessageEntity{Type: models.MessageEntityTypeBold}) }

// Italic is s in italics.
func Italic(s string) Text {
	return spanned(s, models.MessageEntity{Type: models.MessageEntityTypeItalic})
}

// Code is s in monospace inside a line.
func Code(s string) Text { return spanned(s, models.MessageEntity{Type: models.MessageEntityTypeCode}) }

// Pre is s as a block of code; lang may be empty.
func Pre(s, lang string) Text {
	return spanned(s, models.MessageEntity{Type: models.MessageEntityTypePre, Language: lang})
}

// Link is t as a link to a page.
func Link(t Text, url string) Text {
	all := models.MessageEntity{Type: link, Length: t.Length(), URL: url}
	return formatted(t.Text, append([]models.MessageEntity{all}, t.Entities...))
}

// Quote is s as a quotation; its own entities are dropped.
func Quote(s string) Text {
	return spanned(s, models.MessageEntity{Type: models.MessageEntityTypeBlockquote})
}

// Join puts the parts one after the other with nothing between them, their entities moved along.
func Join(parts ...Text) Text {
	var text strings.Builder
	var entities []models.MessageEntity
	at := 0
	for _, p := range parts {
		for _, e := range p.Entities {
			e.Offset += at
			entities = append(entities, e)
		}
		text.WriteString(p.Text)
		at += p.Length()
	}
	return formatted(text.String(), entities)
}

// Length is the length in UTF-16 code units, the unit of Telegram's offsets.
func (t Text) Length() int { return units(t.Text) }

// Blank says that Telegram would refuse the text as empty: nothing in it can be seen.
func (t Text) Blank() bool { return blank(t.Text) }

func spanned(s string, e models.MessageEntity) Text {
	s = spread(clean(s))
	e.Length = units(s)
	return formatted(s, []models.MessageEntity{e})
}

func formatted(s string, list []models.MessageEntity) Text {
	return Text{Text: s, Entities: normalise(utf16.Encode([]rune(s)), list)}
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r) // clean made it UTF-8, and range never yields a lone surrogate
	}
	return n
}
