package tool

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// PlanOf is what a message says of ExitPlanMode: the plan as formatted text. It is false for one
// without a plan to show.
func PlanOf(input json.RawMessage, p Paths) (Sheet, bool) {
	list, _ := exactjson.Members(input)
	plan := ""
	rest := Take(list, "plan", func(raw json.RawMessage) bool {
		s, ok := exactjson.Text(raw)
		plan = s
		return ok
	})
	shown := render.Markdown(glyph.Signs(plan))
	if shown.Blank() {
		return Sheet{}, false
	}
	blocks := []render.Text{shown}
	rest = Take(rest, "planFilePath", func(raw json.RawMessage) bool {
		t, ok := asPath(p, raw)
		if ok {
			blocks = append(blocks, t)
		}
		return ok
	})
	for _, f := range rest {
		blocks = append(blocks, Line(f))
	}
	return Sheet{Title: i18n.AskPlan, Body: Lines(blocks), Lossy: loses(glyph.Signs(plan), shown.Text)}, true
}

// markup is what formatting may take out of a text without anything being lost: the name behind a
// fence, which Telegram shows above the block, numbers of lists and the marks of tasks.
var markup = regexp.MustCompile("(?m)^[ \t>]*(?:```|~~~)[ \t]*[A-Za-z0-9_+#.-]{0,16}[ \t]*$|^[ \t>]*\\d+[.)][ \t]|^[ \t>]*[-*+][ \t]+\\[[ xX]\\][ \t]")

// loses says that a formatted text lacks letters of what was written, such as where a link leads.
func loses(source, shown string) bool {
	return letters(markup.ReplaceAllString(source, "")) != letters(markup.ReplaceAllString(shown, ""))
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
