package i18n

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

// Args fills the blanks of a sentence by name. "Count" must be a whole number
// of Go's; it also picks the plural form. A whole number is written as the language writes it. The
// blanks of names are formatted by the function that Load was given.
type Args map[string]any

// names are the blanks for names that people or programs chose: of sessions, folders, files,
// windows, people, tools. All others are ccbot's own words, or must stay exact.
var names = []string{"Binding", "Branch", "Check", "Current", "Detail", "Dir", "From", "Mode", "Model", "Name", "Names", "Path", "Person", "Roots", "Server", "Sought", "Step", "Tool", "Type", "Wanted", "Window"}

// Catalog holds the sentences of all languages.
type Catalog struct {
	languages map[string]func() []sentence
	show      func(name string) string
}

// Load returns the catalog of the sentences that are built into the program. Names are formatted
// by show.
func Load(show func(name string) string) *Catalog { return &Catalog{builtIn, show} }

// For returns the words of the first of some languages that ccbot speaks; of none of them, English.
// A language is an IETF tag as Telegram sends it (language_code: "ru", "zh-hans", "pt-br"); an
// invalid tag is ignored. The file with the longest part of the tag counts, then one of the same
// language.
func (c *Catalog) For(languages ...string) Words {
	for _, lang := range languages {
		tag, _ := language.Parse(lang) // the readable part of a bad tag is enough
		base, confidence := tag.Base()
		if confidence != language.Exact {
			continue
		}
		for ; !tag.IsRoot(); tag = tag.Parent() {
			if _, ok := c.languages[tag.String()]; ok {
				return c.words(tag.String())
			}
		}
		for _, other := range slices.Sorted(maps.Keys(c.languages)) {
			if own, _ := language.Make(other).Base(); own == base {
				return c.words(other)
			}
		}
	}
	return c.words(english)
}

func (c *Catalog) words(lang string) Words {
	return Words{lang: lang, tag: language.Make(lang), all: c.languages[lang](), show: c.show}
}

// Words says sentences in one language. It may be used by several goroutines.
// The zero value says the keys themselves.
type Words struct {
	lang string
	tag  language.Tag
	all  []sentence               // by key
	show func(name string) string // formats a name that ccbot did not choose
}

// Lang is the language's code, one of Languages.
func (w Words) Lang() string { return w.lang }

// Piece is a part of a sentence: its words, or the value of a blank.
type Piece struct {
	Blank string // empty: words of the sentence
	Value any    // a name is formatted
}

// Pieces is Say for a sentence whose blanks are formatted unlike the words around them.
func (w Words) Pieces(key Key, args ...Args) (all []Piece) {
	var own strings.Builder
	finish := func() {
		if own.Len() > 0 {
			all = append(all, Piece{"", own.String()})
			own.Reset()
		}
	}
	rest := w.form(key, args)
	for {
		text, after, found := strings.Cut(rest, "{{.")
		own.WriteString(text)
		if !found {
			break
		}
		var blank string
		blank, rest, _ = strings.Cut(after, "}}")
		if quoted, ok := strings.CutPrefix(blank, "Word."); ok {
			s, _ := find(w.all, Key(quoted))
			own.WriteString(s.other)
		} else if value := w.fill(blank, args); blank == "Count" {
			fmt.Fprint(&own, value)
		} else {
			finish()
			all = append(all, Piece{blank, value})
		}
	}
	finish()
	return all
}

// unfilled stands for a value that is not there.
const unfilled = "(?)"

// fill returns the value of a blank as it is shown: a name and a whole number are formatted.
func (w Words) fill(blank string, args []Args) any {
	value, ok := given(blank, args)
	if !ok {
		return unfilled
	}
	if name, ok := value.(string); ok && w.show != nil && slices.Contains(names, blank) {
		return w.show(name)
	}
	return w.written(blank, value)
}

// given returns the value that a blank is given.
func given(blank string, args []Args) (value any, ok bool) {
	for _, a := range slices.Backward(args) {
		if value, ok = a[blank]; ok {
			return value, true
		}
	}
	return nil, false
}

// form returns the sentence in the plural form of its Count. A sentence without that form, or whose
// Count is not a number, gets the form for many.
func (w Words) form(key Key, args []Args) string {
	s, ok := find(w.all, key)
	if !ok { // a test rules it out
		return string(key)
	}
	if s.counted != nil {
		given, _ := given("Count", args)
		if count, err := strconv.Atoi(fmt.Sprint(given)); err == nil {
			return s.form(count)
		}
	}
	return s.other
}

// Say returns the sentence with its blanks filled; later args win. In a name
// nothing is hidden: each character that cannot be seen is a dot. It never
// fails: a key without a sentence says itself.
func (w Words) Say(key Key, args ...Args) string {
	var b strings.Builder
	for _, p := range w.Pieces(key, args...) {
		fmt.Fprint(&b, p.Value)
	}
	return b.String()
}
