package i18n

import (
	"cmp"
	"embed"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// The sentences of each language: a sentence per key, or an object with the plural forms that CLDR
// names for the language, and with "=1" if a text is for exactly 1.
//
//go:embed locales/*.json
var files embed.FS

// builtIn has a language for each file.
var builtIn = languagesOf(files)

// english is the first language, and the language of the sentences that another one lacks.
const english = "en"

// sentence has its blanks as {{.Name}}, and what it quotes of other sentences as
// {{.Word.button_retry}}.
type sentence struct {
	key     Key
	other   string   // also of a sentence without plural forms
	counted *counted // nil: it has no other form
}

// counted has the other plural forms of a sentence, and the language whose rules choose among them.
type counted struct {
	tag     language.Tag
	forms   [len(formNames)]string
	exactly string // for exactly 1
}

// exactlyOne is the form for the number 1. The form "one" may also be for 21.
const exactlyOne = "=1"

// formNames are CLDR's names of the plural forms.
var formNames = [...]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

// languagesOf returns the languages of a folder, by their codes. The sentences of a language are
// read at their first use, and are in memory for as long as ccbot runs.
func languagesOf(files fs.FS) map[string]func() []sentence {
	names, _ := fs.Glob(files, "locales/*.json") // the pattern is valid
	all := make(map[string]func() []sentence)
	for _, name := range names {
		lang := strings.TrimSuffix(path.Base(name), ".json")
		all[lang] = sync.OnceValue(func() []sentence {
			if lang == english {
				return read(files, lang)
			}
			sentences, _ := orEnglish(read(files, lang), read(files, english))
			return sentences
		})
	}
	return all
}

// Languages are the codes that a person can choose from; the first is the default.
func Languages() []string {
	rest := slices.Sorted(maps.Keys(builtIn))
	return append([]string{english}, slices.DeleteFunc(rest, func(lang string) bool { return lang == english })...)
}

// read returns the sentences of a language by key. Texts without escapes share the memory of the
// file.
func read(files fs.FS, lang string) (all []sentence) {
	data, _ := fs.ReadFile(files, "locales/"+lang+".json") // languagesOf has found it
	tag := language.Make(lang)
	gjson.ParseBytes(data).ForEach(func(key, value gjson.Result) bool {
		s := sentence{key: Key(key.Str), other: value.Str}
		if value.IsObject() {
			s.other, s.counted = value.Get("other").Str, &counted{tag: tag}
			value.ForEach(func(name, text gjson.Result) bool {
				if form := slices.Index(formNames[:], name.Str); form >= 0 {
					s.counted.forms[form] = text.Str
				} else if name.Str == exactlyOne {
					s.counted.exactly = text.Str
				}
				return true
			})
		}
		all = append(all, s)
		return true
	})
	slices.SortFunc(all, func(a, b sentence) int { return cmp.Compare(a.key, b.key) })
	return all
}

// orEnglish returns the sentences of a language. A sentence that is missing, or has other blanks
// than the English sentence, is replaced by the English one; its key is in replaced.
func orEnglish(own, english []sentence) (all []sentence, replaced []Key) {
	for _, s := range english {
		if one, found := find(own, s.key); found && one.fits(s) {
			s = one
		} else {
			replaced = append(replaced, s.key)
		}
		all = append(all, s)
	}
	return all, replaced
}

// find returns the sentence of a key.
func find(all []sentence, key Key) (sentence, bool) {
	i, found := slices.BinarySearchFunc(all, key, func(s sentence, key Key) int { return cmp.Compare(s.key, key) })
	if !found {
		return sentence{}, false
	}
	return all[i], true
}

// fits reports whether s has a text, and in each form the blanks of the English sentence; whether a
// format is of use. The text for exactly 1 may leave out the number.
func (s sentence) fits(english sentence) bool {
	fits := func(text, free string) bool {
		return text == "" || hasBlanks(english.other, text) && hasBlanks(text+free, english.other)
	}
	if s.counted != nil {
		for _, text := range s.counted.forms {
			if !fits(text, "") {
				return false
			}
		}
		if !fits(s.counted.exactly, "{{.Count}}") {
			return false
		}
	}
	return s.other != "" && fits(s.other, "") && isUsable(s.key, s.other, english.other)
}

// hasBlanks reports whether text has each blank of another text.
func hasBlanks(text, other string) bool {
	for {
		begin := strings.Index(other, "{{")
		if begin < 0 {
			return true
		}
		length := strings.Index(other[begin:], "}}") + len("}}")
		if length < len("{{}}") || !strings.Contains(text, other[begin:begin+length]) {
			return false
		}
		other = other[begin+length:]
	}
}

// form returns the form of the sentence for a number.
func (s sentence) form(n int) string {
	n = max(n, -n)
	if n == 1 && s.counted.exactly != "" {
		return s.counted.exactly
	}
	return cmp.Or(s.counted.forms[plural.Cardinal.MatchPlural(s.counted.tag, n, 0, 0, 0, 0)], s.other)
}
