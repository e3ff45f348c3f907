package jsonl

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"unicode/utf8"

	"ccbot/port/talk"
)

// Line is one whole line of a transcript.
type Line struct {
	Text    []byte // with its line break; of a long line what the shortener kept
	At, End int64  // offsets in the file
	short   *shortener
}

// shortener copies a line, and keeps only the beginning of a long string. So a line of any length
// takes little memory, and the string can be read from the file: see talk.Rest. A mark in the copy
// names its place. The mark has a random part, so no text of an agent is taken for a mark.
type shortener struct {
	most    int // bytes that are kept of the line
	longest int // bytes of a string that is kept whole
	head    int // bytes that are kept of a string that is longer
	out     []byte
	over    bool // the line has more than most bytes besides its long strings
	cuts    []cut
	mark    string

	read    int64 // bytes of the line
	inside  bool  // a string
	escaped bool  // the next byte of the string
	dropped bool  // the string is cut
	base64  bool  // the string has only letters of base64
	begin   int64 // of the string, in the line
	first   int   // the same in out
}

// cut is a place from which on the copy is shorter than the line.
type cut struct {
	at     int   // in the copy, after the mark
	behind int64 // how much further in the line that place is than in the copy
}

// newShortener returns a shortener for a line of a length that keeps at most a number of bytes.
func newShortener(length, most int64) *shortener {
	return &shortener{most: int(most), longest: int(most) * 4 / 5, head: keptHead, mark: "\ufffd" + rand.Text(),
		out: make([]byte, 0, min(length, most)+mostAhead)}
}

// write adds a piece of the line.
func (s *shortener) write(piece []byte) {
	for len(piece) > 0 {
		n := s.run(piece)
		if s.read += int64(n); !s.over && !s.dropped {
			s.out = append(s.out, piece[:n]...)
			s.fit()
		}
		if piece = piece[n:]; len(piece) > 0 && s.inside && !s.escaped && piece[0] == '"' {
			s.close()
			piece = piece[1:]
		}
	}
}

// run returns how many bytes of a piece are of one kind: a string up to its closing quote, or what
// is between two strings, with the opening quote.
func (s *shortener) run(piece []byte) int {
	if !s.inside {
		if i := bytes.IndexByte(piece, '"'); i >= 0 {
			s.inside, s.base64 = true, true
			s.begin, s.first = s.read+int64(i)+1, len(s.out)+i+1
			return i + 1
		}
		return len(piece)
	}
	for i, c := range piece {
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped, s.base64 = true, false
		case c == '"':
			return i
		default:
			s.base64 = s.base64 && base64Letters[c]
		}
	}
	return len(piece)
}

// fit cuts a string that is too long, and gives up a line that is.
func (s *shortener) fit() {
	if s.inside && len(s.out)-s.first > s.longest {
		s.out = s.out[:s.first+whole(s.out[s.first:s.first+min(s.head, s.longest)])]
		s.dropped = true
	}
	if len(s.out) > s.most {
		s.over, s.out = true, nil
	}
}

// base64Letters are the bytes of base64 and its padding.
var base64Letters = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		is[c] = true
	}
	return is
}()

// whole returns the length of the part of a JSON string's content that ends with a whole character.
func whole(content []byte) int {
	end := 0
	for end < len(content) {
		n := 1
		switch c := content[end]; {
		case c == '\\':
			if n = 2; end+1 < len(content) && content[end+1] == 'u' {
				if n = 6; end+3 < len(content) && bytes.ContainsRune([]byte("dD"), rune(content[end+2])) && content[end+3] >= '8' {
					n = 12 // half of a pair
				}
			}
		case c >= utf8.RuneSelf && !utf8.FullRune(content[end:]):
			n = utf8.UTFMax
		}
		if end+n > len(content) {
			return end
		}
		end += n
	}
	return end
}

// close ends a string; its closing quote comes next, outside.
func (s *shortener) close() {
	if s.dropped && !s.over {
		length := s.read - s.begin
		kept := len(s.out) - s.first
		letters := 0
		if s.base64 {
			letters = 1
		}
		mark := fmt.Appendf(nil, "%s%d:%d:%d;", s.mark, s.begin, length, letters)
		s.out = append(s.out, mark...)
		behind := length - int64(kept+len(mark))
		if n := len(s.cuts); n > 0 {
			behind += s.cuts[n-1].behind
		}
		s.cuts = append(s.cuts, cut{len(s.out), behind})
	}
	s.inside, s.dropped = false, false
	s.read++
	if !s.over {
		s.out = append(s.out, '"')
	}
}

// TooLong returns the item of a line that does not fit in memory; nil: it fits.
func (l Line) TooLong() []Item {
	if l.short == nil || !l.short.over {
		return nil
	}
	return []Item{{Kind: TooLong, Size: l.End - l.At, Rest: &talk.Rest{Length: l.End - l.At, Raw: true}}}
}

// Restore puts the place of a long string that was cut in the place of its mark in an item.
func (l Line) Restore(item *Item) { l.short.take(item) }

// Original returns where a place in Text is in the line.
func (l Line) Original(at int) int64 { return l.short.original(at) }

// Cut returns the string that a mark in a part of Text stands for; false: there is none. letters
// means that it has only letters of base64.
func (l Line) Cut(part string) (rest talk.Rest, letters, ok bool) {
	_, rest, letters, _, ok = l.short.find(part)
	return rest, letters, ok
}

// original returns where a place in the copy is in the line.
func (s *shortener) original(at int) int64 {
	behind := int64(0)
	if s != nil {
		for _, c := range s.cuts {
			if c.at <= at {
				behind = c.behind
			}
		}
	}
	return int64(at) + behind
}

// find returns what a mark in a text stands for, and the text around it.
func (s *shortener) find(text string) (before string, rest talk.Rest, letters bool, after string, ok bool) {
	if s == nil {
		return text, rest, false, "", false
	}
	before, found, ok := strings.Cut(text, s.mark)
	if !ok {
		return text, rest, false, "", false
	}
	place, after, _ := strings.Cut(found, ";")
	n := 0
	_, err := fmt.Sscanf(place, "%d:%d:%d", &rest.Offset, &rest.Length, &n)
	return before, rest, n == 1, after, err == nil
}

// take puts what the mark in an item's text stands for in its place.
func (s *shortener) take(item *Item) {
	if s == nil {
		return
	}
	if before, rest, _, _, ok := s.find(item.Text); ok {
		item.Text, item.Rest = before, &rest
	}
	if item.Tool != nil {
		item.Tool.Input = s.unmarked(item.Tool.Input)
	}
}

// unmarked replaces the marks in a text.
func (s *shortener) unmarked(text []byte) []byte {
	for bytes.Contains(text, []byte(s.mark)) {
		before, _, _, after, _ := s.find(string(text))
		text = []byte(before + "…" + after)
	}
	return text
}
