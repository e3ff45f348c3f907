package i18n

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// The sentences of each language: a sentence per key, or an object with the plural forms that CLDR
// names for the language.
var (
	//go:embed locales/en.json
	english string
	//go:embed locales/ru.json
	russian string
	//go:embed locales/zh.json
	chinese string

	locales = map[string]string{"en": english, "ru": russian, "zh": chinese}
)

// Args fills the blanks of a sentence by name. "Count" must be a whole number
// of Go's; it also picks the plural form. A whole number is written as the language writes it. The
// blanks of names are formatted by the function that Load was given.
type Args map[string]any

// names are the blanks for names that people or programs chose: of sessions, folders, files,
// windows, people, tools. All others are ccbot's own words, or must stay exact.
var names = []string{"Binding", "Branch", "Current", "Dir", "From", "Mode", "Model", "Name", "Names", "Path", "Person", "Roots", "Server", "Sought", "Step", "Tool", "Type", "Wanted", "Window"}

// Languages are the codes a person can choose from; the first is the default.
func Languages() []string { return []string{"en", "ru", "zh"} }

// Catalog holds the sentences of all languages. A language is read at its first use.
type Catalog struct {
	words map[string]func() Words
}

// Load makes the catalog of the sentences that are built into the program.
func Load(show func(name string) string) *Catalog {
	c := &Catalog{words: make(map[string]func() Words)}
	for _, lang := range Languages() {
		c.words[lang] = sync.OnceValue(func() Words { return read(lang, show) })
	}
	return c
}

// read reads the sentences of a language. A text without escapes stays where it is in the program's
// file: a catalog is in memory for as long as ccbot runs.
func read(lang string, show func(name string) string) Words {
	w := Words{lang: lang, tag: language.Make(lang), show: show}
	gjson.Parse(locales[lang]).ForEach(func(key, value gjson.Result) bool {
		s := sentence{key: Key(key.Str), other: value.Str}
		if value.IsObject() {
			s.other = value.Get("other").Str
			s.counted = &counted{one: value.Get("one").Str, few: value.Get("few").Str, many: value.Get("many").Str}
		}
		w.all = append(w.all, s)
		return true
	})
	slices.SortFunc(w.all, func(a, b sentence) int { return cmp.Compare(a.key, b.key) })
	return w
}

// sentence has its blanks as {{.Name}}, and what it quotes of other sentences as
// {{.Word.button_retry}}.
type sentence struct {
	key     Key
	other   string   // also of a sentence without plural forms
	counted *counted // nil: it has no other form
}

// counted has the other plural forms of a sentence.
type counted struct{ one, few, many string }

// For returns the words of the first of some languages that ccbot speaks; of none
// of them, English. A language is an IETF tag as Telegram sends it (language_code:
// "ru", "zh-hans", "pt-br"); an invalid tag is ignored.
func (c *Catalog) For(languages ...string) Words {
	for _, lang := range languages {
		tag, _ := language.Parse(lang) // the readable part of a bad tag is enough
		base, confidence := tag.Base()
		if words, ok := c.words[base.String()]; ok && confidence == language.Exact {
			return words()
		}
	}
	return c.words[Languages()[0]]()
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
			s, _ := w.find(Key(quoted))
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

// fill returns the value of a blank as it is shown: a name and a whole number are formatted.
func (w Words) fill(blank string, args []Args) any {
	value, ok := given(blank, args)
	if !ok {
		return "<no value>"
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

// find returns the sentence of a key.
func (w Words) find(key Key) (sentence, bool) {
	i, found := slices.BinarySearchFunc(w.all, key, func(s sentence, key Key) int { return cmp.Compare(s.key, key) })
	if !found {
		return sentence{}, false
	}
	return w.all[i], true
}

// form returns the sentence in the plural form of its Count. A sentence without that form, or whose
// Count is not a number, gets the form for many.
func (w Words) form(key Key, args []Args) string {
	s, ok := w.find(key)
	if !ok { // a test rules it out
		return string(key)
	}
	form := s.other
	if s.counted != nil && s.counted.one != "" {
		given, _ := given("Count", args)
		if count, err := strconv.Atoi(fmt.Sprint(given)); err == nil {
			switch plural.Cardinal.MatchPlural(w.tag, max(count, -count), 0, 0, 0, 0) {
			case plural.One:
				form = s.counted.one
			case plural.Few:
				form = cmp.Or(s.counted.few, s.other)
			case plural.Many:
				form = cmp.Or(s.counted.many, s.other)
			}
		}
	}
	return form
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
