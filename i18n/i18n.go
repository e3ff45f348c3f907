package i18n

import (
	"embed"
	"fmt"
	"maps"
	"strings"

	goi18n "github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

// locales is one file per language: a sentence per key, or an object with the
// plural forms that CLDR names for the language.
//
//go:embed locales/*.json
var locales embed.FS

// Args fills the blanks of a sentence by name. "Count" must be a whole number
// of Go's; it also picks the plural form. What is in names is shown as Load was told.
type Args map[string]any

// names are the blanks for what somebody else has named: sessions, folders, files,
// windows, people, tools. All others are ccbot's own words, or must stay exact.
var names = []string{"Branch", "Current", "Dir", "From", "Mode", "Model", "Name", "Names", "Path", "Person", "Roots", "Server", "Sought", "Step", "Tool", "Type", "Wanted", "Window"}

// Languages are the codes a person can choose from; the first is the default.
func Languages() []string { return []string{"en", "ru", "zh"} }

// Catalog holds the sentences of all languages.
type Catalog struct {
	words map[string]Words
}

// Load reads the sentences that are built into the program. An error means a
// broken build.
func Load(show func(name string) string) (*Catalog, error) {
	bundle := goi18n.NewBundle(language.English)
	c := &Catalog{words: make(map[string]Words)}
	for _, lang := range Languages() {
		file, err := bundle.LoadMessageFileFS(locales, "locales/"+lang+".json")
		if err != nil {
			return nil, fmt.Errorf("load the %s sentences: %w", lang, err)
		}
		w := Words{lang: lang, show: show, localizer: goi18n.NewLocalizer(bundle, lang), all: make(map[string]string)}
		for _, m := range file.Messages {
			w.all[m.ID] = m.Other
		}
		c.words[lang] = w
	}
	return c, nil
}

// For returns the words of the first of some languages that ccbot speaks; of none
// of them, English. A language is an IETF tag as Telegram sends it (language_code:
// "ru", "zh-hans", "pt-br"); one that makes no sense is none.
func (c *Catalog) For(languages ...string) Words {
	for _, lang := range languages {
		tag, _ := language.Parse(lang) // what it could read of a bad tag is good enough
		base, confidence := tag.Base()
		if w, ok := c.words[base.String()]; ok && confidence == language.Exact {
			return w
		}
	}
	return c.words[Languages()[0]]
}

// Words says sentences in one language. It may be used by several goroutines.
// The zero value says the keys themselves.
type Words struct {
	lang      string
	localizer *goi18n.Localizer
	all       map[string]string        // what sentences quote of each other, such as {{.Word.button_retry}}
	show      func(name string) string // of a name that somebody else has chosen
}

// Lang is the language's code, one of Languages.
func (w Words) Lang() string { return w.lang }

// Piece is a part of a sentence: words of its own, or what fills a blank.
type Piece struct {
	Blank string // empty: words of the sentence
	Value any    // a name is as it is shown
}

// Pieces is Say for a sentence in which what fills the blanks looks different from the words around it.
func (w Words) Pieces(key Key, args ...Args) (all []Piece) {
	filled, holes := w.filled(args), make(Args)
	for blank, value := range filled {
		if holes[blank] = value; blank != "Word" && blank != "Count" {
			holes[blank] = hole("\x00" + blank + "\x00")
		}
	}
	for i, text := range strings.Split(w.Say(key, holes), "\x00") {
		if i%2 == 1 {
			all = append(all, Piece{text, filled[text]})
		} else if text != "" {
			all = append(all, Piece{"", text})
		}
	}
	return all
}

// hole keeps the place of what fills a blank. It is no name, so it is not shown as one.
type hole string

func (w Words) filled(args []Args) Args {
	filled := Args{"Word": w.all}
	for _, a := range args {
		maps.Copy(filled, a)
	}
	for _, blank := range names {
		if name, ok := filled[blank].(string); ok && w.show != nil {
			filled[blank] = w.show(name)
		}
	}
	return filled
}

// Say returns the sentence with its blanks filled; later args win. In a name
// nothing is hidden: each character that cannot be seen is a dot. It never
// fails: a key without a sentence, which a test rules out, says itself.
func (w Words) Say(key Key, args ...Args) string {
	if w.localizer == nil {
		return string(key)
	}
	filled := w.filled(args)
	say := goi18n.LocalizeConfig{MessageID: string(key), TemplateData: filled, PluralCount: filled["Count"]}
	text, err := w.localizer.Localize(&say)
	if err != nil { // a Count that is no number has no plural form of its own
		say.PluralCount = nil
		text, err = w.localizer.Localize(&say)
	}
	if err != nil {
		return string(key)
	}
	return text
}

// Rounded is a large number as people read it: 950, 12k, 1.2M.
func Rounded(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
