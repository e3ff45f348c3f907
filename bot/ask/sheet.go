package ask

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// sheet is what a message says of a request's input. The body shows all of it, and is the same in
// every language: whether it fits is a question of the request alone.
type sheet struct {
	title i18n.Key
	args  i18n.Args
	body  render.Text
}

// look is how the fields of a tool are shown; those that it does not name follow as "key: value".
type look struct {
	title  i18n.Key
	fields []field
}

type field struct {
	key  string
	show way
}

// way shows a text. It is false for one that it cannot show so that all of it is seen.
type way func(v Viewer, s string) (render.Text, bool)

var looks = map[string]look{
	"Bash":         {i18n.AskBash, []field{{"command", asPre("bash")}, {"description", asQuote}}},
	"Edit":         {i18n.AskEdit, []field{{"file_path", asPath}}},
	"NotebookEdit": {i18n.AskEdit, []field{{"notebook_path", asPath}, {"new_source", asPre("")}}},
	"Write":        {i18n.AskWrite, []field{{"file_path", asPath}, {"content", asPre("")}}},
	"Read":         {i18n.AskRead, []field{{"file_path", asPath}}},
	"Glob":         {i18n.AskSearch, []field{{"pattern", asCode}, {"path", asPath}}},
	"Grep":         {i18n.AskSearch, []field{{"pattern", asCode}, {"path", asPath}}},
	"WebFetch":     {i18n.AskFetch, []field{{"url", asCode}, {"prompt", asQuote}}},
	"WebSearch":    {i18n.AskWebSearch, []field{{"query", asCode}}},
	"ExitPlanMode": {i18n.AskPlan, []field{{"plan", asPlan}, {"planFilePath", asPath}}},
}

func asPath(v Viewer, s string) (render.Text, bool) { return asCode(v, v.short(s)) }

func asCode(_ Viewer, s string) (render.Text, bool) { return code(s), oneLine(s) }

func asQuote(_ Viewer, s string) (render.Text, bool) {
	return render.Quote(glyph.Signs(s)), strings.TrimSpace(s) != ""
}

func asPre(lang string) way {
	return func(_ Viewer, s string) (render.Text, bool) {
		return pre(strings.TrimRight(s, "\n"), lang), strings.TrimSpace(s) != ""
	}
}

// asPlan is formatted where that loses nothing, such as where a link leads.
func asPlan(v Viewer, s string) (render.Text, bool) {
	signed := glyph.Signs(s)
	if shown := render.Markdown(signed); !shown.Blank() && letters(signed) == letters(shown.Text) {
		return shown, true
	}
	return asPre("")(v, s)
}

// markup is what formatting may take out of a text without anything being lost: the name behind a
// fence, which Telegram shows above the block, numbers of lists and the marks of tasks.
var markup = regexp.MustCompile("(?m)^[ \t>]*(?:```|~~~)[ \t]*[A-Za-z0-9_+#.-]{0,16}[ \t]*$|" +
	"^[ \t>]*\\d+[.)][ \t]|^[ \t>]*[-*+][ \t]+\\[[ xX]\\][ \t]")

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, markup.ReplaceAllString(s, ""))
}

// sheetOf is what a message says of a request; of questions, the page that is to be answered.
func (v Viewer) sheetOf(c Card) sheet {
	q := c.Request
	if list, ok := questionsOf(q); ok {
		return questionSheet(c, list)
	}
	list, _ := exactjson.Members(q.Input)
	l := looks[q.Tool]
	var blocks []render.Text
	for _, f := range l.fields {
		list = take(list, f.key, func(raw json.RawMessage) bool {
			s, isText := exactjson.Text(raw)
			t, ok := f.show(v, s)
			if isText && ok {
				blocks = append(blocks, t)
			}
			return isText && ok
		})
	}
	if diff, rest, ok := diffOf(list); ok && q.Tool == "Edit" {
		blocks, list = append(blocks, pre(diff, "diff")), rest
	}
	for _, f := range list {
		blocks = append(blocks, fieldLine(f))
	}
	tool, _ := inUnits(oneLined(q.Tool), maxWord)
	args := i18n.Args{"Tool": tool}
	return sheet{title: cmp.Or(l.title, i18n.AskTool), args: args, body: chat.Lines(blocks...)}
}

// fieldLine is a field that has no look of its own.
func fieldLine(f exactjson.Member) render.Text {
	key := render.Plain(oneLined(f.Key) + ": ")
	s, isText := exactjson.Text(f.Value)
	switch {
	case !isText:
		s = compact(f.Value)
	case s == "" || strings.TrimSpace(s) != s && !strings.Contains(s, "\n"):
		s = quoted(s)
	}
	if oneLine(s) {
		return render.Join(key, code(s))
	}
	return render.Join(key, render.Plain("\n"), pre(s, ""))
}

// longLine is how long code inside a line may be.
const longLine = 200

// oneLine says that s can stand as code inside a line, without a blank at an end, which is unseen.
func oneLine(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\r\n") &&
		utf8.RuneCountInString(s) <= longLine
}

// code is foreign text in its own formatting, which it cannot leave; what is invisible has signs.
func code(s string) render.Text { return render.Code(glyph.Signs(s)) }

func pre(s, lang string) render.Text { return render.Pre(glyph.Signs(s), lang) }

// oneLined keeps a name in its line; what is invisible in it has signs.
func oneLined(s string) string {
	return strings.NewReplacer("\n", "⏎", "\t", "⇥").Replace(render.Plain(glyph.Signs(s)).Text)
}

// inUnits shortens s to limit UTF-16 units, and says whether it did.
func inUnits(s string, limit int) (string, bool) {
	t := render.Plain(s)
	if t.Length() <= limit {
		return t.Text, false
	}
	parts := t.Split(limit - 1)
	if len(parts) == 0 {
		return "", true // nothing in it can be seen
	}
	return parts[0].Text + "…", true
}
