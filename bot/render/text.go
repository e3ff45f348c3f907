package render

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/go-telegram/bot/models"
)

// Text is a message text with its formatting as Telegram takes it: entities whose offsets and
// lengths count UTF-16 code units (core.telegram.org/bots/api#messageentity), never a parse_mode
// string. The zero value is empty.
type Text struct {
	Text     string                 `json:"text"`
	Entities []models.MessageEntity `json:"entities,omitempty"`
}

// Plain is s without formatting; terminal escapes are removed, tabs become four spaces, and bytes
// that are not UTF-8 are replaced.
func Plain(s string) Text { return Text{Text: spread(clean(s))} }

// Bold is s in bold.
func Bold(s string) Text { return spanned(s, entity{Type: bold}) }

// Italic is s in italics.
func Italic(s string) Text { return spanned(s, entity{Type: italic}) }

// Code is s in monospace inside a line.
func Code(s string) Text { return spanned(s, entity{Type: code}) }

// Pre is s as a block of code; lang may be empty.
func Pre(s, lang string) Text { return spanned(s, entity{Type: pre, Language: lang}) }

// Link is t as a link to a page.
func Link(t Text, url string) Text {
	all := entity{Type: link, Length: t.Length(), URL: url}
	return formatted(t.Text, append([]entity{all}, t.Entities...))
}

// Quote is s as a quotation; its own entities are dropped.
func Quote(s string) Text { return spanned(s, entity{Type: quote}) }

// Join puts the parts one after the other with nothing between them, their entities moved along.
func Join(parts ...Text) Text {
	var text strings.Builder
	var entities []entity
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

// Blank reports whether Telegram would refuse the text as empty: all of it is invisible.
func (t Text) Blank() bool { return blank(t.Text) }

func spanned(s string, e entity) Text {
	s = spread(clean(s))
	e.Length = units(s)
	return formatted(s, []entity{e})
}

func formatted(s string, list []entity) Text {
	return Text{Text: s, Entities: normalise(utf16.Encode([]rune(s)), list)}
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r) // clean made it UTF-8, and range never yields a lone surrogate
	}
	return n
}

const (
	// Limit is the longest text of one message: "1-4096 characters after entities parsing" (Bot
	// API, sendMessage). Characters are counted in UTF-16 units here, which is never more than
	// Telegram allows.
	Limit = 4096
	// maxEntities is the number of entities that Telegram keeps in a message; it drops the
	// formatting of the rest.
	maxEntities = 100
)

// Split cuts t into parts of at most limit UTF-16 units (a limit below 2 counts as 2) and at most
// 100 entities, each with something visible in it; a blank text has no parts. It cuts after a
// paragraph, else outside code after a line, else after a line, a word, a character as people see
// it; never inside a surrogate pair. An entity that crosses a cut is closed and opened again. Every
// part is a piece of the text, in order; text between two parts, before the first and after the
// last is invisible (spaces and line ends, mostly).
func (t Text) Split(limit int) []Text {
	s := splitter{limit: max(limit, 2), text: utf16.Encode([]rune(t.Text))}
	s.list = normalise(s.text, t.Entities)
	var parts []Text
	for s.at < len(s.text) {
		to := s.cut()
		if p := s.part(s.at, to); !p.Blank() {
			parts = append(parts, p)
		}
		// The next part begins after the white space, but with the indentation of code.
		for to < len(s.text) && space(s.text[to]) && !s.inPre(to) {
			to++
		}
		s.at = to
	}
	return parts
}

// Begin is the first part of t, see Split; nothing where t is blank.
func (t Text) Begin(limit int) Text {
	if parts := t.Split(limit); len(parts) > 0 {
		return parts[0]
	}
	return Text{}
}

type splitter struct {
	limit int
	text  []uint16
	list  []entity // sorted by offset
	at    int      // start of the next part
}

// cut finds where the part that begins at s.at ends.
func (s *splitter) cut() int {
	window := s.window()
	if window == len(s.text) {
		return window
	}
	floor := s.at + (window-s.at)/4 // a part shorter than this is not worth a nicer place
	var line, codeLine, word int
	for i := window; i > floor; i-- {
		if !space(s.text[i-1]) {
			continue
		}
		newline, inCode := s.text[i-1] == '\n', s.inPre(i-1)
		switch {
		case newline && !inCode && i-2 >= s.at && s.text[i-2] == '\n':
			return i
		case newline && !inCode:
			line = max(line, i)
		case newline:
			codeLine = max(codeLine, i)
		}
		word = max(word, i)
	}
	for _, place := range []int{line, codeLine, word} {
		if place > 0 {
			return place
		}
	}
	return s.hardCut(window)
}

// window is the farthest end of the part: limit units, and not more entities than a message keeps.
func (s *splitter) window() int {
	to := min(s.at+s.limit, len(s.text))
	count := 0
	// Entities that ended are dropped for good, so that a long text costs one pass.
	s.list = slices.DeleteFunc(s.list, func(e entity) bool { return end(e) <= s.at })
	for _, e := range s.list {
		if e.Offset >= to {
			break
		}
		if count++; count > maxEntities && e.Offset > s.at+1 {
			return s.whole(e.Offset)
		}
	}
	return s.whole(to)
}

// whole moves a place out of the middle of a surrogate pair.
func (s *splitter) whole(to int) int {
	if to < len(s.text) && to-1 > s.at && utf16.DecodeRune(rune(s.text[to-1]), rune(s.text[to])) != utf8.RuneError {
		return to - 1
	}
	return to
}

// inPre reports whether the unit at i is inside a block of code.
func (s *splitter) inPre(i int) bool {
	for _, e := range s.list {
		if e.Offset > i {
			return false
		}
		if e.Type == pre && i < end(e) {
			return true
		}
	}
	return false
}

// hardCut cuts text without white space: between two characters as people see them (a flag, a
// family, a letter with its accents), and inside one only if it alone is longer than a part.
func (s *splitter) hardCut(window int) int {
	const ahead = 64 // enough to see whether a character continues after the window
	rest := string(utf16.Decode(s.text[s.at:s.whole(min(window+ahead, len(s.text)))]))
	to := s.at
	for {
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		next := to + units(cluster)
		if cluster == "" || next > window {
			break
		}
		rest, to = rest[len(cluster):], next
	}
	if to > s.at {
		return to
	}
	return window
}

// part is the text from from to to without white space at its end and without blank lines at its
// start; the indentation of code stays.
func (s *splitter) part(from, to int) Text {
	for from < to && space(s.text[to-1]) {
		to--
	}
	for from < to && space(s.text[from]) && !s.inPre(from) {
		from++
	}
	var list []entity
	for _, e := range s.list {
		if e.Offset >= to {
			break
		}
		first, last := max(e.Offset, from), min(end(e), to)
		e.Offset, e.Length = first-from, last-first
		list = append(list, e)
	}
	return formatted(string(utf16.Decode(s.text[from:to])), list)
}
