// Package clip cuts texts to a size. Each function is named after the unit that it counts; the chat
// counts UTF-16 units (render), a terminal cells (ansi).
package clip

import "strings"

// Bytes returns s, or the whole characters in its first most bytes with mark appended.
func Bytes(s string, most int, mark string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + mark
}

// Runes is s, or its first most characters.
func Runes(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i]
		}
	}
	return s
}
