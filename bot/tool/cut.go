package tool

import (
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/render"
)

// Beginning is about the first n units, so that a long text is not cut into all its parts for one.
func Beginning(t render.Text, n int) render.Text {
	units := 0
	for i, r := range t.Text {
		if units += utf16.RuneLen(r); units > n {
			t.Text, units = t.Text[:i], units-utf16.RuneLen(r)
			break
		}
	}
	var list []models.MessageEntity
	for _, e := range t.Entities {
		if e.Offset < units {
			e.Length = min(e.Length, units-e.Offset)
			list = append(list, e)
		}
	}
	t.Entities = list
	return t
}

// LineEnd is where line n ends, in UTF-16 units; 0 when there are not so many.
func LineEnd(s string, n int) int {
	units := 0
	for _, r := range s {
		units += utf16.RuneLen(r)
		if r == '\n' {
			if n--; n == 0 {
				return units
			}
		}
	}
	return 0
}

// Clip shortens s to limit UTF-16 units, and says whether it did.
func Clip(s string, limit int) (string, bool) {
	t := render.Plain(s)
	if t.Length() <= limit {
		return t.Text, false
	}
	parts := t.Split(limit - 1)
	if len(parts) == 0 {
		return "", true // nothing in it can be seen
	}
	return parts[0].Text + "…", true
}
