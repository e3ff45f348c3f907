package ask

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// sheet is a message's view of a request's input. The body shows all of it, and is the same in
// every language, so whether it fits depends on the request alone.
type sheet struct {
	title i18n.Key
	args  i18n.Args
	body  render.Text
}

// layout lists how a tool's fields are shown; other fields follow as "key: value".
type layout struct {
	title  i18n.Key
	fields []field
}

type field struct {
	key  string
	show way
}

// way shows a text. It returns false if a part of it would be invisible.
type way func(v Viewer, s string) (render.Text, bool)

var layouts = map[string]layout{
	"Bash":         {i18n.AskBash, []field{{"command", asPre("bash", "")}, {"description", asQuote}}},
	"Edit":         {i18n.AskEdit, []field{{"file_path", asPath}}},
	"NotebookEdit": {i18n.AskEdit, []field{{"notebook_path", asPath}, {"new_source", asPre("", "\n")}}},
	"Write":        {i18n.AskWrite, []field{{"file_path", asPath}, {"content", asPre("", "\n")}}},
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

// asPre shows a block; end is cut from its end, as a file ends with a newline.
func asPre(lang, end string) way {
	return func(_ Viewer, s string) (render.Text, bool) {
		return pre(strings.TrimSuffix(s, end), lang), strings.TrimSpace(s) != ""
	}
}

// asPlan formats a plan if that loses nothing, such as the target of a link.
func asPlan(v Viewer, s string) (render.Text, bool) {
	signed := glyph.Signs(s)
	if shown := render.Markdown(signed); !shown.Blank() && letters(signed) == letters(shown.Text) {
		return shown, true
	}
	return asPre("", "\n")(v, s)
}

// markup matches signs that formatting may remove without loss: a fence's language, which Telegram
// shows above the block, numbers of lists and task marks.
var markup = lazyregexp.New("(?m)^[ \t>]*(?:```|~~~)[ \t]*[A-Za-z0-9_+#.-]{0,16}[ \t]*$|" +
	"^[ \t>]*\\d+[.)][ \t]|^[ \t>]*[-*+][ \t]+\\[[ xX]\\][ \t]")

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, markup.ReplaceAllString(s, ""))
}

// sheetOf returns the sheet of a request; for questions, the current page. The sheet
// decides what may be allowed: without all of it there is no button that allows.
func (v Viewer) sheetOf(s State) sheet {
	q := s.Request
	if list, ok := questionsOf(q); ok {
		return questionSheet(s, list)
	}
	list, _ := exactjson.Members(q.Input)
	l := layouts[q.Tool]
	var blocks []render.Text
	for _, f := range l.fields {
		list = take(list, f.key, func(raw json.RawMessage) bool {
			text, isText := exactjson.Text(raw)
			t, ok := f.show(v, text)
			if isText && ok {
				blocks = append(blocks, t)
			}
			return isText && ok
		})
	}
	if diff, rest, ok := diffOf(list); ok && q.Tool == "Edit" {
		blocks, list = append(blocks, render.Pre(glyph.LeftToRight(diff), "diff")), rest
	}
	blocks = append(blocks, each.As(list, fieldLine)...)
	tool, _ := inUnits(oneLined(q.Tool), maxWord)
	args := i18n.Args{"Tool": tool}
	return sheet{title: cmp.Or(l.title, i18n.AskTool), args: args, body: chat.Lines(blocks...)}
}

// fieldLine shows a field without an entry in looks.
func fieldLine(f exactjson.Member) render.Text {
	key := render.Plain(oneLined(f.Key) + ": ")
	s, isText := exactjson.Text(f.Value)
	switch {
	case !isText:
		s = compact(f.Value)
	case strings.TrimSpace(s) == "", strings.TrimSpace(s) != s && !strings.Contains(s, "\n"), strings.HasPrefix(s, `"`):
		s = quoted(s) // also a text that looks quoted
	}
	if oneLine(s) {
		return render.Join(key, code(s))
	}
	return render.Join(key, render.Plain("\n"), pre(s, ""))
}

// longLine bounds code inside a line.
const longLine = 200

// oneLine reports whether s can be code inside a line. A blank at an end would be invisible.
func oneLine(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\r\n") &&
		utf8.RuneCountInString(s) <= longLine
}

// code shows foreign text in formatting that it cannot leave, with signs for invisible characters.
func code(s string) render.Text { return render.Code(glyph.LeftToRight(glyph.Signs(s))) }

func pre(s, lang string) render.Text { return render.Pre(glyph.LeftToRight(glyph.Block(s)), lang) }

// oneLined keeps a name in its line; invisible characters become signs.
func oneLined(s string) string {
	return glyph.LeftToRight(strings.ReplaceAll(glyph.Signs(s), "\n", "⏎"))
}

// inUnits shortens s to limit UTF-16 units, and reports whether it did.
func inUnits(s string, limit int) (string, bool) {
	t := render.Plain(s)
	if t.Length() <= limit {
		return t.Text, false
	}
	if t = t.Begin(limit - 1); t.Blank() {
		return "", true
	}
	return t.Text + "…", true
}

// granted is one permission that "for this session" would allow.
type granted struct {
	what string
	note i18n.Key // its meaning, if that is not obvious
}

// grantedBy returns the permissions of a request. It omits the text of a rule that equals the
// request's command, which the message shows anyway.
func grantedBy(q Request) (all []granted) {
	if q.IsQuestion() || q.IsPlan() {
		return nil
	}
	input, _ := exactjson.Object(q.Input)
	command, _ := exactjson.Text(input["command"])
	own := q.Tool == "Bash" && !strings.Contains(command, "*")
	for _, rule := range talk.SessionRules(q.Suggestions) {
		for _, r := range rule.Rules {
			switch {
			case r.Content == "":
				all = append(all, granted{r.Tool, i18n.AskEveryUse})
			case own && r.Tool == q.Tool && r.Content == command:
				all = append(all, granted{r.Tool, i18n.AskThisCommand})
			default:
				all = append(all, granted{what: r.Tool + "(" + r.Content + ")"})
			}
		}
		for _, dir := range rule.Directories {
			all = append(all, granted{dir, i18n.AskDirectory})
		}
	}
	return all
}

// rules lists the permissions of "for this session": the first most, each cut to length units.
func (v Viewer) rules(q Request, most, length int) (list []render.Text) {
	for i, g := range grantedBy(q) {
		if i == 0 {
			list = append(list, render.Plain(v.Words.Say(i18n.AskSessionRules)))
		}
		if i == most {
			more := len(grantedBy(q)) - most
			return append(list, render.Italic(v.Words.Say(i18n.AskMoreRules, i18n.Args{"Count": more})))
		}
		what, _ := inUnits(oneLined(v.short(g.what)), length)
		text := what
		if g.note != "" {
			text = v.Words.Say(i18n.Noted, i18n.Args{"What": what, "Note": v.Words.Say(g.note)})
		}
		rest := render.Plain(strings.TrimPrefix(text, what))
		list = append(list, render.Join(render.Plain("• "), render.Code(what), rest))
	}
	return list
}

// maxDiff bounds the text of a diff, in bytes; more does not fit in a message.
const maxDiff = 64 << 10

const contextLines = 3

// diffOf returns the diff of an edit's old_string and new_string, with signs, and the fields that
// it does not show. It returns false if they are not the types of Edit, or are equal.
func diffOf(list []exactjson.Member) (diff string, rest []exactjson.Member, ok bool) {
	var before, after string
	rest = take(take(list, "old_string", textTo(&before)), "new_string", textTo(&after))
	if len(list)-len(rest) != 2 || before == after {
		return "", list, false
	}
	return unified(ended(glyph.Signs(before)), ended(glyph.Signs(after))), take(rest, "replace_all", isFalse), true
}

// ended appends a newline, so that the diff has no remark about the end.
func ended(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// unified returns the diff of two texts without names and line numbers, which are not the file's.
// Each line has a sign before it, so none is taken for a heading.
func unified(before, after string) string {
	if len(before)+len(after) > maxDiff {
		return signed("-", before) + signed("+", after)
	}
	diff, err := udiff.ToUnified("a", "b", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return signed("-", before) + signed("+", after)
	}
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[3:] // "--- a", "+++ b", "@@ … @@"
	for i, line := range lines {
		if strings.HasPrefix(line, "@@") {
			lines[i] = "⋯"
		}
	}
	return strings.Join(lines, "\n")
}

func signed(sign, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign + line)
	}
	return b.String()
}
