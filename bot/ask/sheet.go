package ask

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
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

var titles = map[talk.AskTitle]i18n.Key{
	talk.TitleCommand: i18n.AskBash, talk.TitleEdit: i18n.AskEdit, talk.TitleWrite: i18n.AskWrite, talk.TitleRead: i18n.AskRead,
	talk.TitleSearch: i18n.AskSearch, talk.TitleFetch: i18n.AskFetch, talk.TitleWebSearch: i18n.AskWebSearch, talk.TitlePlan: i18n.AskPlan,
}

// block shows a block of a request.
func (v Viewer) block(b talk.Block) render.Text {
	switch b.Kind {
	case talk.BlockCommand:
		return pre(b.Text, "bash")
	case talk.BlockFile:
		return inline(v.short(b.Text))
	case talk.BlockURL, talk.BlockCode:
		return inline(b.Text)
	case talk.BlockText:
		return pre(strings.TrimSuffix(b.Text, "\n"), "")
	case talk.BlockNote:
		return render.Quote(glyph.Signs(b.Text))
	case talk.BlockMarkdown:
		return markdown(b.Text)
	case talk.BlockDiff:
		return render.Pre(glyph.LeftToRight(unified(ended(glyph.Signs(b.Before)), ended(glyph.Signs(b.Text)))), "diff")
	}
	name := render.Plain(oneLined(b.Name) + ":")
	if oneLine(b.Text) {
		return render.Join(name, render.Plain(" "), code(b.Text))
	}
	return render.Join(name, render.Plain(" \n"), pre(b.Text, ""))
}

func inline(s string) render.Text {
	if oneLine(s) {
		return code(s)
	}
	return pre(s, "")
}

// markdown formats a text if that loses nothing, such as the target of a link.
func markdown(s string) render.Text {
	signed := glyph.Signs(s)
	if shown := render.Markdown(signed); !shown.Blank() && letters(signed) == letters(shown.Text) {
		return shown
	}
	return pre(strings.TrimSuffix(s, "\n"), "")
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
	ask := s.Request.Ask
	if len(ask.Pages) > 0 {
		return v.questionSheet(s, ask)
	}
	tool, _ := inUnits(oneLined(ask.Tool), maxWord)
	return sheet{title: cmp.Or(titles[ask.Title], i18n.AskTool), args: i18n.Args{"Tool": tool}, body: chat.Lines(each.As(ask.Blocks, v.block)...)}
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

// grants returns the permissions that "for this session" adds.
func grants(s State) []talk.Grant {
	choice, _ := s.Request.Ask.Choice(talk.ChoiceAllowSession)
	return choice.Grants
}

var grantNotes = map[talk.GrantNote]i18n.Key{
	talk.GrantsEveryUse: i18n.AskEveryUse, talk.GrantsThisCommand: i18n.AskThisCommand, talk.GrantsFolder: i18n.AskDirectory,
}

// rules lists the permissions of "for this session": the first most, each cut to length units.
func (v Viewer) rules(s State, most, length int) (list []render.Text) {
	for i, g := range grants(s) {
		if i == 0 {
			list = append(list, render.Plain(v.Words.Say(i18n.AskSessionRules)))
		}
		if i == most {
			more := len(grants(s)) - most
			list = append(list, render.Italic(v.Words.Say(i18n.AskMoreRules, i18n.Args{"Count": more})))
			break
		}
		what, _ := inUnits(oneLined(v.short(g.Text)), length)
		text := what
		if note := grantNotes[g.Note]; note != "" {
			text = v.Words.Say(i18n.Noted, i18n.Args{"What": what, "Note": v.Words.Say(note)})
		}
		rest := render.Plain(strings.TrimPrefix(text, what))
		list = append(list, render.Join(render.Plain("• "), render.Code(what), rest))
	}
	if _, ok := s.Request.Ask.Choice(talk.ChoiceAllowEdits); ok {
		list = append(list, render.Plain(v.Words.Say(i18n.AskEditsRule)))
	}
	return list
}

// maxDiff bounds the text of a diff, in bytes; more does not fit in a message.
const maxDiff = 64 << 10

const contextLines = 3

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
