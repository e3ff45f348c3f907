package claudeask

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"ccbot/internal/each"
	"ccbot/internal/exactjson"
	"ccbot/port/talk"
)

// maxChoices bounds the questions, and the options of each, that get pages; Claude Code allows 4.
const maxChoices = 10

// pagesOf returns the pages of a question, and the blocks of its other fields. It returns none if
// choices could not answer them unambiguously: then only the terminal can.
func pagesOf(input json.RawMessage) (all []talk.Page, rest []talk.Block) {
	fields, _ := exactjson.Members(input)
	object, _ := exactjson.Object(input)
	list, _ := exactjson.Elements(object["questions"])
	for _, raw := range list {
		one, ok := pageOf(raw)
		same := func(other talk.Page) bool { return other.Text == one.Text } // answers are keyed by the text
		if !ok || slices.ContainsFunc(all, same) || len(all) == maxChoices {
			return nil, nil
		}
		all = append(all, one)
	}
	others := take(fields, "questions", func(json.RawMessage) bool { return true })
	return all, each.As(others, fieldBlock)
}

func pageOf(raw json.RawMessage) (p talk.Page, ok bool) {
	list, ok := exactjson.Members(raw)
	list = take(take(list, "question", textTo(&p.Text)), "header", textTo(&p.Header))
	list = take(list, "multiSelect", func(raw json.RawMessage) bool {
		p.Several = string(raw) == "true"
		return p.Several || isFalse(raw)
	})
	list = take(list, "options", func(raw json.RawMessage) (ok bool) {
		p.Options, ok = optionsOf(raw)
		return ok
	})
	p.Blocks = each.As(list, fieldBlock)
	return p, ok && strings.TrimSpace(p.Text) != "" && len(p.Options) > 0
}

func optionsOf(raw json.RawMessage) (all []talk.Option, ok bool) {
	list, _ := exactjson.Elements(raw)
	for _, raw := range list {
		var o talk.Option
		fields, ok := exactjson.Members(raw)
		more := take(take(fields, "label", textTo(&o.Label)), "description", textTo(&o.Description))
		o.Blocks = each.As(more, fieldBlock)
		same := func(other talk.Option) bool { return other.Label == o.Label }
		if !ok || !seen(o.Label) || slices.ContainsFunc(all, same) || len(all) == maxChoices {
			return nil, false
		}
		all = append(all, o)
	}
	return all, len(all) > 0
}

// seen reports whether a text has a character that a person can see.
func seen(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me) &&
			!strings.ContainsRune("\u115F\u1160\u2800\u3164\uFFA0", r) // letters without a glyph
	})
}
