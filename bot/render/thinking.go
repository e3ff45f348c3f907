package render

import "strings"

// thinking is what an agent thought, as a quotation that stays folded until a person opens it.
func thinking(text string) Text {
	return spanned(strings.Trim(text, "\n"), entity{Type: quoteX})
}

// ThinkingParts are the messages that show what an agent thought, with nothing in it formatted: a section that folds,
// with a title, where there are rich messages, else Thinking. room is that of Renderer.
func ThinkingParts(r Renderer, title, text string, room int) []Part {
	text = clean(text)
	if len(text) > maxSource {
		return []Part{longAnswer(text, room)}
	}
	if _, ok := r.(Rich); ok && !blank(text) {
		p := &rich{pages: newPages(room)}
		p.push(fold(title))
		p.prose(text)
		p.pop()
		return withTexts(p.finish(), room)
	}
	var parts []Part
	for _, t := range thinking(text).Split(Limit - room) {
		parts = append(parts, Part{Text: t})
	}
	return parts
}
