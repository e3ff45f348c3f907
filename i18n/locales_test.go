package i18n

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// released are the languages of a release: a text that one lacks fails the test. Another language
// may be incomplete.
var released = []string{"en", "de", "ru", "zh"}

// TestLanguagesOfReleaseAreComplete prints the number of problems of another language.
func TestLanguagesOfReleaseAreComplete(t *testing.T) {
	assert.Subset(t, Languages(), released)
	for _, lang := range Languages() {
		t.Run(lang, func(t *testing.T) {
			wrong := problems(sentences(t, lang), sentences(t, english), language.Make(lang))
			if slices.Contains(released, lang) {
				assert.Empty(t, wrong)
			} else {
				t.Logf("%s: %d problems, such as %s", lang, len(wrong), strings.Join(wrong[:min(3, len(wrong))], "; "))
			}
		})
	}
}

// problems returns what is wrong with the sentences of a language.
func problems(own, english map[string]forms, tag language.Tag) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, key := range slices.Sorted(maps.Keys(english)) {
		if own[key] == nil {
			add("%s is missing", key)
			continue
		}
		for form, text := range own[key] {
			got := blanks(text)
			if form == exactlyOne {
				got = slices.Compact(slices.Sorted(slices.Values(append(got, "Count"))))
			}
			if want := blanks(english[key]["other"]); !slices.Equal(want, got) || strings.Contains(blank.ReplaceAllString(text, ""), "{{") {
				add("%s, %s: the blanks are %v, not %v", key, form, got, want)
			}
			if strings.TrimSpace(text) == "" {
				add("%s, %s: the text is empty", key, form)
			}
			if tag != language.English && !strings.HasPrefix(key, string(FormatKey)) && text == english[key][form] && len(strings.Fields(blank.ReplaceAllString(text, ""))) > 2 {
				add("%s, %s: the text is English", key, form)
			}
		}
		if wrong := wrongForms(own[key], tag); wrong != "" {
			add("%s: %s", key, wrong)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if english[key] == nil {
			add("%s: English has no such sentence", key)
		}
	}
	return all
}

// wrongForms compares the plural forms of a sentence with those of CLDR for whole numbers. "Other"
// is always needed, and a sentence without another form has no number.
func wrongForms(f forms, tag language.Tag) string {
	want := map[string]bool{"other": true}
	for n := range 201 {
		want[formNames[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]] = true
	}
	for form := range f {
		if form != exactlyOne && !want[form] {
			return "the language has no form " + form
		}
	}
	for form := range want {
		if _, ok := f[form]; !ok && (len(f) > 1 || form == "other") {
			return "the form " + form + " is missing"
		}
	}
	return ""
}

func TestProblemsOfLanguage(t *testing.T) {
	english := map[string]forms{"a": {"other": "{{.Name}} is not here"}, "b": {"one": "{{.Count}} file", "other": "{{.Count}} files"}}
	fine := forms{"one": "{{.Count}} файл", "few": "{{.Count}} файла", "many": "{{.Count}} файлов", "other": "{{.Count}} файла"}
	with := func(form, text string) forms {
		f := maps.Clone(fine)
		f[form] = text
		return f
	}
	for _, tt := range []struct {
		name string
		a, b forms
		want string
	}{
		{"complete", forms{"other": "{{.Name}}: нет"}, fine, ""},
		{"an exact form without its number", forms{"other": "{{.Name}}: нет"}, with(exactlyOne, "файл"), ""},
		{"missing", nil, fine, "a is missing"},
		{"empty", forms{"other": "{{.Name}}: нет"}, with("few", " "), "b, few: the blanks are [], not [Count]"},
		{"without its blank", forms{"other": "нет"}, fine, "a, other: the blanks are [], not [Name]"},
		{"with an unknown blank", forms{"other": "{{.Name}} {{.X}}"}, fine, "a, other: the blanks are [Name X], not [Name]"},
		{"with a broken blank", forms{"other": "{{.Name}} {{Name}}"}, fine, "a, other: the blanks are [Name], not [Name]"},
		{"English", english["a"], fine, "a, other: the text is English"},
		{"with a form of another language", forms{"other": "{{.Name}}: нет"}, with("two", "{{.Count}} файла"), "b: the language has no form two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own := map[string]forms{"b": tt.b}
			if tt.a != nil {
				own["a"] = tt.a
			}
			first := ""
			if all := problems(own, english, language.Russian); len(all) > 0 {
				first = all[0]
			}
			assert.Equal(t, tt.want, first)
		})
	}
	assert.Equal(t, "the form few is missing", wrongForms(forms{"one": "1", "many": "5", "other": "1.5"}, language.Russian))
}

// TestFaultyTextIsEnglish: a text that is missing, or has other blanks, is replaced by the English
// one, with English plural forms.
func TestFaultyTextIsEnglish(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	c := &Catalog{languagesOf(fstest.MapFS{
		"locales/en.json": file(`{"a":"{{.Name}} is here", "b":"a text", "n":{"one":"{{.Count}} file", "other":"{{.Count}} files"}, "q":"tap {{.Word.b}}"}`),
		"locales/uk.json": file(`{"a":"{{.Name}} тут", "n":{"one":"{{.Count}} файл", "few":"{{.Count}} файли", "many":"{{.Count}} файлів", "other":"{{.Count}} файлу"}, "q":"див. {{.Word.b}}"}`),
		"locales/de.json": file(`{"a":"{{.Nam}} ist da", "b":"", "n":{"one":"{{.Count}} Datei", "other":"Dateien"}, "q":"siehe {{.Word.c}}", "x":"so"}`),
		"locales/fr.json": file(`{"a":"{{.Name}} {{.Dir}}", "b":7, "n":{"one":"{{.Count}} fichier"}, "q":"{{.Word.b"}`),
		"locales/it.json": file(`not JSON`),
	}), nil}
	said := func(lang string) []string {
		w := c.For(lang)
		require.Equal(t, lang, w.Lang())
		return []string{w.Say("a", Args{"Name": "api"}), w.Say("b"), w.Say("n", Args{"Count": 21}), w.Say("n", Args{"Count": 1}), w.Say("q"), w.Say("x")}
	}
	inEnglish := []string{"api is here", "a text", "21 files", "1 file", "tap a text", "x"}
	assert.Equal(t, inEnglish, said("en"))
	assert.Equal(t, []string{"api тут", "a text", "21 файл", "1 файл", "див. a text", "x"}, said("uk"))
	for _, lang := range []string{"de", "fr", "it"} {
		assert.Equal(t, inEnglish, said(lang), lang)
	}
	assert.Equal(t, "(?) тут", c.For("uk").Say("a"), "a value that is not there")
}

// TestFaultyFormatIsEnglish: a layout of times, and a list of units, must be usable.
func TestFaultyFormatIsEnglish(t *testing.T) {
	at := time.Date(2026, 11, 28, 15, 4, 5, 0, time.Local)
	for _, tt := range []struct{ key, own, want string }{
		{"clock", "3:04 PM", "3:04 PM"}, {"clock", "HH:mm", "15:04"}, {"clock", "15.04", "15.04"}, {"clock", "15:05", "15:04"},
		{"seconds", "15.04.05", "15.04.05"}, {"seconds", "15:04", "15:04:05"},
		{"day", "2 Jan", "28 Nov"}, {"day", "tt.mm.", "Nov 28"}, {"day", "2.", "Nov 28"},
		{"date", "2006-01-02", "2026-11-28"}, {"date", "02.01.", "Nov 28, 2026"}, {"date", "", "Nov 28, 2026"},
		{"sizes", " o| ko| Mo| Go| To", "1.5 ko"}, {"sizes", " o| ko| Mo", "1.5 kB"}, {"sizes", "| ko| Mo| Go| To", "1.5 kB"},
		{"rounded", "3 mil|6 mln", "1.5 mil"}, {"rounded", "mil|mln", "1.5k"}, {"rounded", "6 mln|3 mil", "1.5k"}, {"rounded", "3|6", "1.5k"},
	} {
		text, err := json.Marshal(map[string]string{"format_" + tt.key: tt.own})
		require.NoError(t, err)
		english, err := files.ReadFile("locales/en.json")
		require.NoError(t, err)
		w := (&Catalog{languagesOf(fstest.MapFS{"locales/en.json": {Data: english}, "locales/nl.json": {Data: text}}), nil}).For("nl")
		w.tag = language.English
		write := map[string]func() string{
			"clock": func() string { return w.clock(at, at) }, "seconds": func() string { return w.Seconds(at, at) }, "day": func() string { return w.Day(at, at) },
			"date":  func() string { return w.Day(at, time.Time{}) },
			"sizes": func() string { return w.Size(1500) }, "rounded": func() string { return w.Rounded(1500) },
		}[tt.key]
		assert.Equal(t, tt.want, write(), "%s %q", tt.key, tt.own)
	}
}

// TestLanguageOfTag: the file with the longest part of a tag counts, then one of the same language.
func TestLanguageOfTag(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(`{"a":"` + text + `"}`)} }
	c := &Catalog{languagesOf(fstest.MapFS{"locales/en.json": file("en"), "locales/pt-BR.json": file("pt-BR"), "locales/zh.json": file("zh"),
		"locales/zh-Hant.json": file("zh-Hant"), "locales/de.json": file("de")}), nil}
	for tag, want := range map[string]string{"pt-br": "pt-BR", "pt-BR": "pt-BR", "pt": "pt-BR", "pt-PT": "pt-BR", "zh-hant": "zh-Hant", "zh-TW": "zh-Hant",
		"zh-hans": "zh", "zh-CN": "zh", "zh": "zh", "de-AT": "de", "en-GB": "en", "uk": "en", "fr": "en", "": "en", "!": "en"} {
		w := c.For(tag)
		assert.Equal(t, []string{want, want}, []string{w.Lang(), w.Say("a")}, tag)
	}
}

// TestPluralFormsOfCLDR says numbers in languages with all six forms.
func TestPluralFormsOfCLDR(t *testing.T) {
	const all = `{"n":{"zero":"zero", "one":"one", "two":"two", "few":"few", "many":"many", "other":"other"}, "e":{"=1":"exactly", "one":"one", "other":"other"}}`
	for lang, want := range map[string]map[int]string{
		"en": {0: "other", 1: "one", 2: "other", -1: "one"},
		"ru": {0: "many", 1: "one", 2: "few", 5: "many", 21: "one", 22: "few", 111: "many"},
		"zh": {0: "other", 1: "other", 2: "other"},
		"ar": {0: "zero", 1: "one", 2: "two", 3: "few", 11: "many", 100: "other"},
		"cy": {0: "zero", 1: "one", 2: "two", 3: "few", 6: "many", 4: "other"},
		"sl": {1: "one", 2: "two", 3: "few", 101: "one", 5: "other"},
		"pl": {1: "one", 2: "few", 5: "many", 21: "many", 22: "few"},
	} {
		w := Words{lang: lang, all: read(fstest.MapFS{"locales/" + lang + ".json": &fstest.MapFile{Data: []byte(all)}}, lang)}
		for n, form := range want {
			assert.Equal(t, form, w.Say("n", Args{"Count": n}), "%s %d", lang, n)
		}
		assert.Equal(t, "exactly", w.Say("e", Args{"Count": 1}), lang)
		if want[21] == "one" {
			assert.Equal(t, "one", w.Say("e", Args{"Count": 21}), lang)
		}
	}
}

// TestLanguageHasName: the picker shows the language's own name, and the file has the language's
// code as its name.
func TestLanguageHasName(t *testing.T) {
	seen := make(map[string]string)
	for _, lang := range Languages() {
		name := sentences(t, lang)["language_name"]["other"]
		assert.NotEmpty(t, name, lang)
		assert.Empty(t, seen[name], "%s and %s are both %s", lang, seen[name], name)
		seen[name] = lang
		assert.Equal(t, lang, Load(dotted).For(lang).Lang())
	}
	assert.Equal(t, english, Languages()[0])
}
