package i18n

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"ccbot/internal/sourcetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var write = flag.Bool("write", false, "write keys_gen.go anew")

// TestKeysAreThoseOfTheCatalogue compares the constants with the English sentences; go generate
// writes them again.
func TestKeysAreThoseOfTheCatalogue(t *testing.T) {
	want := constants(t)
	if *write {
		require.NoError(t, os.WriteFile("keys_gen.go", want, 0o644)) //nolint:gosec // source, for everybody to read
	}
	got, err := os.ReadFile("keys_gen.go")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got), "keys_gen.go is not as locales/en.json is: `go generate ./i18n` writes it anew")
}

// constants is the file of the keys: a constant for each English sentence that the program names,
// in their order, with its blanks. The key of any other is made of a code.
func constants(t *testing.T) []byte {
	t.Helper()
	named := named(t)
	b := bytes.NewBufferString("// Code generated from locales/en.json by go generate; DO NOT EDIT.\n\n" +
		"package i18n\n\n// The sentences, each with its blanks.\nconst (\n")
	initials := map[string]string{"api": "API", "pid1": "PID1", "nul": "NUL"}
	for key, f := range catalogue(t, "en") {
		var name strings.Builder
		for word := range strings.SplitSeq(key, "_") {
			name.WriteString(cmp.Or(initials[word], strings.ToUpper(word[:1])+word[1:]))
		}
		if !named[name.String()] {
			continue
		}
		own := slices.DeleteFunc(blanks(f["other"]), func(b string) bool { return strings.HasPrefix(b, "Word.") })
		fmt.Fprintf(b, "%s Key = %q // %s\n", &name, key, strings.Join(own, ", "))
	}
	b.WriteString(")\n")
	source, err := format.Source(bytes.ReplaceAll(b.Bytes(), []byte(" // \n"), []byte("\n")))
	require.NoError(t, err)
	return source
}

var constant = regexp.MustCompile(`\bi18n\.([A-Z]\w+)`)

// named are the constants that the source of the program and its tests has.
func named(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, source := range sourcetest.All(t) {
		for _, m := range constant.FindAllSubmatch(source, -1) {
			all[string(m[1])] = true
		}
	}
	return all
}

// forms are the plural forms of a sentence; a sentence without plurals has "other".
type forms map[string]string

// catalogue returns the sentences of a language in the order of their file. A repeated key fails
// the test.
func catalogue(t *testing.T, lang string) iter.Seq2[string, forms] {
	t.Helper()
	return func(yield func(string, forms) bool) {
		data, err := files.ReadFile("locales/" + lang + ".json")
		require.NoError(t, err)
		d, seen := json.NewDecoder(bytes.NewReader(data)), make(map[string]bool)
		_, err = d.Token() // the opening brace
		require.NoError(t, err)
		for d.More() {
			key, err := d.Token()
			require.NoError(t, err)
			var value any
			require.NoError(t, d.Decode(&value))
			f := forms{}
			switch value := value.(type) {
			case string:
				f["other"] = value
			case map[string]any:
				for form, text := range value {
					f[form] = text.(string)
				}
			}
			require.False(t, seen[key.(string)], "%s has %s twice", lang, key)
			seen[key.(string)] = true
			if !yield(key.(string), f) {
				return
			}
		}
	}
}

func sentences(t *testing.T, lang string) map[string]forms {
	t.Helper()
	return maps.Collect(catalogue(t, lang))
}

var blank = regexp.MustCompile(`\{\{\.([\w.]+)\}\}`)

func blanks(text string) []string {
	var names []string
	for _, m := range blank.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestSayCounts(t *testing.T) {
	tests := []struct {
		name string
		lang string
		want map[int]string
	}{
		{"english", "en", map[int]string{0: "0 sessions:", 1: "1 session:", 2: "2 sessions:", 5: "5 sessions:", 21: "21 sessions:"}},
		{"russian", "ru", map[int]string{0: "0 сессий:", 1: "1 сессия:", 2: "2 сессии:", 5: "5 сессий:", 21: "21 сессия:"}},
		{"german", "de", map[int]string{0: "0 Sitzungen:", 1: "1 Sitzung:", 2: "2 Sitzungen:", 21: "21 Sitzungen:"}},
		{"chinese", "zh", map[int]string{0: "0 个会话：", 1: "1 个会话：", 2: "2 个会话：", 5: "5 个会话：", 21: "21 个会话："}},
	}
	c := Load(dotted)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for count, want := range tt.want {
				assert.Equal(t, want, c.For(tt.lang).Say(ListTitle, Args{"Count": count}))
			}
		})
	}
}

// TestSentencesRender renders every sentence in every language, with counts, from
// several goroutines at once, and looks for blanks that stayed empty.
func TestSentencesRender(t *testing.T) {
	c := Load(dotted)
	english := sentences(t, "en")
	var wg sync.WaitGroup
	for _, lang := range append(Languages(), Languages()...) {
		wg.Go(func() {
			for key, f := range english {
				for _, count := range []int{0, 1, 2, 5, 21} {
					args := Args{"Count": count}
					for _, name := range blanks(f["other"]) {
						if name != "Count" {
							args[name] = "<" + name + ">"
						}
					}
					text := c.For(lang).Say(Key(key), args)
					assert.NotEmpty(t, text)
					assert.NotContains(t, text, unfilled, "%s %s", lang, key)
					assert.NotContains(t, text, "{{", "%s %s", lang, key)
				}
			}
		})
	}
	wg.Wait()
}

func TestFor(t *testing.T) {
	tests := []struct{ name, lang, want string }{
		{"english", "en", "en"},
		{"british", "en-GB", "en"},
		{"russian", "ru", "ru"},
		{"russian with a region", "ru-RU", "ru"},
		{"capitals", "RU", "ru"},
		{"german", "de", "de"},
		{"austrian", "de-at", "de"},
		{"simplified chinese", "zh-hans", "zh"},
		{"traditional chinese", "zh-TW", "zh"},
		{"not spoken here", "tlh-x", "en"},
		{"a neighbour is not taken for russian", "be", "en"},
		{"none", "", "en"},
		{"nonsense", "!!!", "en"},
	}
	c := Load(dotted)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, c.For(tt.lang).Lang())
		})
	}
	assert.Equal(t, "zh", c.For("", "tlh-x", "!!!", "zh-hans", "ru").Lang(), "the first that is spoken here")
	assert.Equal(t, "en", c.For().Lang())
}

func TestSay(t *testing.T) {
	c := Load(dotted)
	en := c.For("en")
	tests := []struct {
		name, got, want string
	}{
		{"fills blanks", en.Say(Started, Args{"Name": "api", "Dir": "/src/api"}), "Session api is starting in /src/api."},
		{"does not escape", en.Say(Ready, Args{"Name": `<b>&"`}), `<b>&" is ready. Send it a message.`},
		{"what is filled in is no template", en.Say(Ready, Args{"Name": "{{.Name}}"}), "{{.Name}} is ready. Send it a message."},
		{"later args win", en.Say(Ready, Args{"Name": "a"}, Args{"Name": "b"}), "b is ready. Send it a message."},
		{"a key without a sentence says itself", en.Say("no_such_key"), "no_such_key"},
		{"a count that is no number counts as many", en.Say(ListTitle, Args{"Count": "x"}), "x sessions:"},
		{"a value that is not there", en.Say(Started, Args{"Name": "api"}), "Session api is starting in (?)."},
		{"the zero value says the key", Words{}.Say(MenuAsk), "menu_ask"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.got) })
	}
}

// TestP9_SentencesShowNamesCharacters: a new blank is a name, or is known not to be one.
func TestP9_SentencesShowNamesCharacters(t *testing.T) {
	ours := strings.Fields("Added Age Agent Agents All At Away Bot Cached Cap Cards Chats Command Commit Cost Count Date Details Done End Errors Example Exit Feature First Free How ID In Inbox Key Last Limit Load Machine Missing More Most Needed Next Note Out Outbox Own PID Page Pages Percent Process Processes Reason Receipts Removed Said Setting Signal Since Size Source Span Start State Status Tasks Time To Tokens Took Total Turn Turns Until Used Version Waits What Where Work")
	c := Load(dotted)
	for _, lang := range Languages() {
		for key, f := range sentences(t, lang) {
			for _, name := range blanks(f["other"]) {
				if strings.HasPrefix(name, "Word.") { // another sentence
					continue
				}
				isName := slices.Contains(names, name)
				assert.NotEqual(t, isName, slices.Contains(ours, name), "is {{.%s}} of %s a name?", name, key)
				text := c.For(lang).Say(Key(key), Args{"Count": 1, name: "a\u202eb\nc\u200d"})
				if isName {
					assert.NotContains(t, text, "\u202e", key)
					assert.Contains(t, text, "a·b·c·", key)
				} else if name != "Count" {
					assert.Contains(t, text, "a\u202eb\nc\u200d", "%s: it stays exact", key)
				}
			}
		}
	}
}

// TestButtonWords: the design fixes the English words on buttons.
func TestButtonWords(t *testing.T) {
	c := Load(dotted)
	tests := []struct {
		key  Key
		want string
	}{
		{ButtonTakeOver, "Take over"}, {ButtonUndo, "Undo"}, {ButtonSendAgain, "Send again"}, {ButtonDrop, "Discard"},
		{ButtonSendAnyway, "Send anyway"}, {ButtonCancel, "Cancel"}, {ButtonShow, "Show"},
		{ButtonForkInstead, "Continue in a copy"}, {ButtonResume, "Resume"}, {ButtonStopIt, "End it"},
		{ButtonAdopt, "Connect"}, {ButtonArchive, "Archive"}, {ButtonIgnore, "Hide"},
		{ButtonResumeAll, "Resume all"}, {ButtonPick, "Choose"}, {ButtonYesArchive, "End and archive"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, c.For("en").Say(tt.key))
	}
}

// dotted shows a name as these tests expect it: a dot for each special character.
func dotted(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, name)
}

// TestReadingCopiesFewSentences counts what a language leaves in memory: its index, plural forms
// and texts with escapes.
func TestReadingCopiesFewSentences(t *testing.T) {
	for _, lang := range released {
		n := len(sentences(t, lang))
		copies := testing.AllocsPerRun(5, func() { read(files, lang) })
		assert.Less(t, copies, float64(n)/2, "%s has %d sentences", lang, n)
	}
}
