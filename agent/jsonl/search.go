package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccbot/agent/history"
)

// word is the searched text, in any case and with any blanks.
type word struct {
	whole *regexp.Regexp // nil: it is empty, and nowhere
	// part is a part of it that a line of JSON contains unchanged; starts are the beginnings of
	// part in all cases. Without a part each line is read.
	part   *regexp.Regexp
	starts [][]byte
}

// escaped are the characters that may be written in another way in JSON.
const escaped = `"\/<>&` + "\u2028\u2029\x7f"

// startRunes is the number of letters of a part that are tried in all cases at once.
const startRunes = 2

// newWord returns the word of a text.
func newWord(text string) (w word) {
	var quoted []string
	for _, word := range strings.Fields(strings.ToValidUTF8(text, "\uFFFD")) {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	if len(quoted) == 0 {
		return w
	}
	w.whole = regexp.MustCompile(`(?i)` + strings.Join(quoted, `[\s\v\x{85}\p{Z}]+`))
	plain := func(r rune) bool { return r > ' ' && r != utf8.RuneError && !strings.ContainsRune(escaped, r) }
	parts := strings.FieldsFunc(text, func(r rune) bool { return !plain(r) })
	if len(parts) == 0 {
		return w
	}
	part := slices.MaxFunc(parts, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	w.part = regexp.MustCompile(`^(?i)` + regexp.QuoteMeta(part))
	w.starts = [][]byte{nil}
	runes := []rune(part)
	for _, r := range runes[:min(len(runes), startRunes)] {
		var longer [][]byte
		for _, start := range w.starts {
			// In all cases.
			for one, first := r, true; first || one != r; one, first = unicode.SimpleFold(one), false {
				longer = append(longer, utf8.AppendRune(bytes.Clone(start), one))
			}
		}
		w.starts = longer
	}
	return w
}

// next returns the first place from an offset on where lines of JSON may have the word, or -1.
func (w word) next(lines []byte, from int) int {
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
			if at += i; w.part.Match(lines[at:]) {
				first = at
				break
			}
		}
	}
	return first
}

// searchChunk is the size of the parts in which a transcript is searched.
const searchChunk = longLine

// Search calls see with the prompts and answers before a place that have a word, the newest first,
// until see returns false. reached is the place up to which it has searched, also after an error:
// ctx's error is usual.
func (f *Form) Search(ctx context.Context, path string, before int64, text string, see func(history.Found) bool) (reached int64, err error) {
	w := newWord(text)
	if w.whole == nil {
		return 0, nil
	}
	b, err := f.openBackwards(ctx, path, before, searchChunk)
	if err != nil {
		return before, err
	}
	defer b.close()
	ended := false
	err = b.chunks(func(chunk Line) bool {
		hits := w.lines(chunk.Text)
		for i := len(hits) - 1; i >= 0 && !ended; i-- {
			l := chunk.part(hits[i][0], hits[i][1])
			found, ok := f.found(w, l)
			reached, ended = l.At, ok && !see(found) || ctx.Err() != nil
		}
		return !ended
	})
	if ended {
		return reached, ctx.Err()
	}
	return b.end, err
}

// lines returns the lines that may contain the word.
func (w word) lines(text []byte) (all [][2]int) {
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
func (f *Form) found(w word, l Line) (found history.Found, ok bool) {
	e, ok := f.entryOf(l)
	if !ok {
		return found, false
	}
	for _, text := range e.Texts {
		if in := w.whole.FindStringIndex(text); in != nil {
			return history.Found{At: l.At, Kind: e.Kind, Time: e.Time, Text: text, From: in[0], To: in[1]}, true
		}
	}
	return found, false
}
