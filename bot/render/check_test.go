package render

import (
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// low reports whether a unit is the second half of a surrogate pair.
func low(u uint16) bool { return u >= 0xDC00 && u < 0xE000 }

// faults lists the parts of t that Telegram would refuse, repair or show wrongly.
func faults(t Text) []string {
	var out []string
	text := utf16.Encode([]rune(t.Text))
	for i, e := range t.Entities {
		if e.Offset < 0 || e.Length <= 0 || end(e) > len(text) {
			out = append(out, fmt.Sprintf("%v is outside %d units", e, len(text)))
			continue
		}
		if low(text[e.Offset]) || end(e) < len(text) && low(text[end(e)]) {
			out = append(out, fmt.Sprintf("%v cuts a surrogate pair", e))
		}
		if i > 0 && outermostFirst(t.Entities[i-1], e) > 0 {
			out = append(out, fmt.Sprintf("%v comes too late", e))
		}
		for _, o := range t.Entities[:i] {
			if why := conflict(o, e); why != "" {
				out = append(out, fmt.Sprintf("%v and %v: %s", o, e, why))
			}
		}
	}
	return out
}

func conflict(a, b entity) string {
	from, to := max(a.Offset, b.Offset), min(end(a), end(b))
	quotes := []models.MessageEntityType{quote, quoteX}
	switch {
	case from >= to:
		return ""
	case (from != a.Offset || to != end(a)) && (from != b.Offset || to != end(b)):
		return "cross"
	case slices.Contains([]models.MessageEntityType{pre, code}, a.Type), slices.Contains([]models.MessageEntityType{pre, code}, b.Type):
		return "code is not alone"
	case a.Type == b.Type, slices.Contains(quotes, a.Type) && slices.Contains(quotes, b.Type):
		return "same kind nested"
	}
	return ""
}

// styled is one visible character with all that formats it.
type styled struct {
	char   rune
	styles string
}

// looks returns the visible content of t: its characters with their formatting, without white
// space.
func looks(t Text) []styled {
	var out []styled
	at := 0
	for _, r := range t.Text {
		if !invisible(r) {
			var on []string
			for _, e := range t.Entities {
				if e.Offset <= at && at < end(e) {
					on = append(on, fmt.Sprint(e.Type, e.Language, e.URL))
				}
			}
			slices.Sort(on)
			out = append(out, styled{r, fmt.Sprint(on)})
		}
		at += utf16.RuneLen(r)
	}
	return out
}

// show writes the entities into the text, for tables of expectations.
func show(t Text) string {
	text := utf16.Encode([]rune(t.Text))
	var out []uint16
	add := func(s string) { out = append(out, utf16.Encode([]rune(s))...) }
	for i := 0; i <= len(text); i++ {
		for _, e := range slices.Backward(t.Entities) {
			if end(e) == i {
				add("⟩")
			}
		}
		for _, e := range t.Entities {
			if e.Offset == i {
				add("⟨" + string(e.Type) + suffix(e) + " ")
			}
		}
		if i < len(text) {
			out = append(out, text[i])
		}
	}
	return string(utf16.Decode(out))
}

func suffix(e entity) string {
	if s := e.Language + e.URL; s != "" {
		return ":" + s
	}
	return ""
}
