package ask

import (
	"slices"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port/talk"
)

// labels returns the labels of the marked options.
func labels(p talk.Page, chosen []int) (list []string) {
	for i, o := range p.Options {
		if slices.Contains(chosen, i) {
			list = append(list, o.Label)
		}
	}
	return list
}

// questionSheet shows the page of the current question, or all answers once they are complete.
func (v Viewer) questionSheet(s State, ask talk.Ask) sheet {
	at := len(s.Progress.Answers)
	if s.Stage != StageOpen || at >= len(ask.Pages) {
		return sheet{title: i18n.AskQuestion, body: answerSheet(s, ask.Pages)}
	}
	blocks := append(v.page(s, ask.Pages[at]), each.As(ask.Blocks, v.block)...)
	page := sheet{title: i18n.AskQuestion, body: chat.Lines(blocks...)}
	if len(ask.Pages) > 1 {
		page.title, page.args = i18n.AskQuestionPage, i18n.Args{"Page": at + 1, "Pages": len(ask.Pages)}
	}
	return page
}

func (v Viewer) page(s State, p talk.Page) []render.Text {
	blocks := append([]render.Text{render.Bold(glyph.Signs(p.Text))}, each.As(p.Blocks, v.block)...)
	if !hasLines(s, p) {
		return blocks
	}
	for i, o := range p.Options {
		line := render.Plain(letter(p, i) + oneLined(o.Label))
		if s.Why != nil { // no button has its tick
			line = render.Join(render.Plain(box(p, s.Progress.Chosen, i)), line)
		}
		if o.Description != "" {
			line = render.Join(line, render.Plain(" — "), render.Italic(glyph.Signs(o.Description)))
		}
		blocks = append(append(blocks, line), each.As(o.Blocks, v.block)...)
	}
	return blocks
}

// hasLines reports whether a question's options have lines in the text, because their buttons do
// not say all of them, or may not be there.
func hasLines(s State, p talk.Page) bool {
	return !s.Request.Ask.Whole || hides(s) || s.Why != nil || slices.ContainsFunc(p.Options, func(o talk.Option) bool {
		return !fitsButton(o) || o.Description != "" || len(o.Blocks) > 0
	})
}

// box returns the check box of an option, or "" for a single choice.
func box(p talk.Page, chosen []int, i int) string {
	switch {
	case !p.Several:
		return ""
	case slices.Contains(chosen, i):
		return "☑ "
	}
	return "☐ "
}

// answerSheet lists the questions with their answers; questions answered elsewhere have none here.
func answerSheet(s State, list []talk.Page) render.Text {
	var blocks []render.Text
	for i, p := range list {
		blocks = append(blocks, render.Bold(glyph.Signs(p.Text)))
		if i < len(s.Progress.Answers) {
			blocks = append(blocks, render.Plain("→ "+glyph.Signs(s.Progress.Answers[i])))
		}
	}
	return chat.Lines(blocks...)
}
