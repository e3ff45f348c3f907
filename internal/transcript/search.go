package transcript

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Word is what is searched for, in any case and with any blanks.
type Word struct {
	runes []rune // folded; a blank stands for any number of them
	// part is a part of it that stands in a line of JSON as it is; starts are the beginnings of that in all cases.
	// Without a part each line is read.
	part   []rune
	starts [][]byte
}

// escaped are the characters that may be written in another way in JSON.
const escaped = `"\/<>&` + "\u2028\u2029\x7f"

// startRunes is how many letters of a part are tried in all cases at once.
const startRunes = 2

// NewWord gives the word of a text.
func NewWord(text string) Word {
	w := Word{}
	for _, r := range strings.Join(strings.Fields(text), " ") {
		w.runes = append(w.runes, folded(r))
	}
	plain := func(r rune) bool { return r > ' ' && r != utf8.RuneError && !strings.ContainsRune(escaped, r) }
	for _, part := range strings.FieldsFunc(string(w.runes), func(r rune) bool { return !plain(r) }) {
		if part := []rune(part); len(part) > len(w.part) {
			w.part = part
		}
	}
	if len(w.part) == 0 {
		return w
	}
	w.starts = [][]byte{nil}
	for _, r := range w.part[:min(len(w.part), startRunes)] {
		var longer [][]byte
		for _, start := range w.starts {
			for one, first := r, true; first || one != r; one, first = unicode.SimpleFold(one), false { // in all cases
				longer = append(longer, utf8.AppendRune(bytes.Clone(start), one))
			}
		}
		w.starts = longer
	}
	return w
}

// folded is the first of the letters that are the same but for their case.
func folded(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// In finds the word in a text: where it begins and ends, in bytes; -1 where it is not there.
func (w Word) In(text string) (from, to int) {
	for at := range text {
		if n := w.at(text[at:]); n > 0 {
			return at, at + n
		}
	}
	return -1, -1
}

// at is how many bytes the word has at the beginning of a text; 0: it is not there.
func (w Word) at(text string) (n int) {
	for _, want := range w.runes {
		r, size := utf8.DecodeRuneInString(text[n:])
		if folded(r) != want && (want != ' ' || !unicode.IsSpace(r)) || size == 0 {
			return 0
		}
		n += size
		if want == ' ' {
			n += len(text[n:]) - len(strings.TrimLeftFunc(text[n:], unicode.IsSpace))
		}
	}
	return n
}

// next is where the word may stand in lines of JSON, from a place on; -1: nowhere.
func (w Word) next(lines []byte, from int) int {
	first := -1
	for _, start := range w.starts {
		until := len(lines)
		if first >= 0 {
			until = min(until, first+len(start))
		}
		for at := from; ; at++ {
			i := bytes.Index(lines[at:until], start)
			if i < 0 {
				break
			}
			if at += i; w.partAt(lines[at:]) {
				first = at
				break
			}
		}
	}
	return first
}

func (w Word) partAt(line []byte) bool {
	for _, want := range w.part {
		r, size := utf8.DecodeRune(line)
		if folded(r) != want {
			return false
		}
		line = line[size:]
	}
	return true
}

// Found is a place where a word was found.
type Found struct {
	At       int64 // the line
	Kind     EntryKind
	Time     time.Time
	Text     string
	From, To int // the word in Text
}

// searchChunk is how much of a transcript is looked at at once.
const searchChunk = 4 << 20

// Search calls see with the prompts and answers before a place that have a word, the newest first, until see returns
// false. reached is up to where it has looked, also where it ends with an error: that of ctx is usual.
func Search(ctx context.Context, path string, before int64, w Word, see func(Found) bool) (reached int64, err error) {
	b, err := openBackwards(ctx, path, before, searchChunk)
	if err != nil {
		return before, err
	}
	defer b.close()
	for {
		lines, at, err := b.next()
		if err != nil || lines == nil {
			return b.end, err
		}
		hits := w.lines(lines)
		for i := len(hits) - 1; i >= 0; i-- {
			line := lines[hits[i][0]:hits[i][1]]
			place := at + int64(hits[i][0])
			if f, ok := w.found(line, place); ok && !see(f) {
				return place, nil
			}
			if ctx.Err() != nil {
				return place, ctx.Err()
			}
		}
	}
}

// lines are those that the word may stand in.
func (w Word) lines(text []byte) (all [][2]int) {
	for from := 0; from < len(text); {
		at := from
		if w.part != nil {
			if at = w.next(text, from); at < 0 {
				return all
			}
		}
		begin := bytes.LastIndexByte(text[from:at], '\n') + 1 + from
		end := bytes.IndexByte(text[at:], '\n') + 1 + at
		all, from = append(all, [2]int{begin, end}), end
	}
	return all
}

// found reads a line in which the word may stand. It is not searched for in what tools have given.
func (w Word) found(line []byte, at int64) (f Found, ok bool) {
	e, ok := entryOf(line, at)
	if !ok {
		return f, false
	}
	for _, text := range e.Texts {
		if from, to := w.In(text); from >= 0 {
			return Found{At: at, Kind: e.Kind, Time: e.Time, Text: text, From: from, To: to}, true
		}
	}
	return f, false
}
