package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/clip"
	"ccbot/internal/each"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
)

// maxChoices bounds the questions, and the options of each, that get pages; Claude Code allows 4.
const maxChoices = 10

// question is one page of AskUserQuestion.
type question struct {
	text, header string
	several      bool // several options may be chosen
	options      []option
	more         []exactjson.Member // its other fields
}

type option struct {
	label, description string
	more               []exactjson.Member
}

// questionsOf parses the questions of a request. It returns false if taps could not answer them
// unambiguously: then only the terminal can.
func questionsOf(q Request) (all []question, ok bool) {
	if !q.IsQuestion() || len(q.Input) > maxInput {
		return nil, false
	}
	input, _ := exactjson.Object(q.Input)
	list, _ := exactjson.Elements(input["questions"])
	for _, raw := range list {
		one, ok := questionOf(raw)
		same := func(other question) bool { return other.text == one.text } // answers are keyed by the text
		if !ok || slices.ContainsFunc(all, same) || len(all) == maxChoices {
			return nil, false
		}
		all = append(all, one)
	}
	return all, len(all) > 0
}

func questionOf(raw json.RawMessage) (q question, ok bool) {
	list, ok := exactjson.Members(raw)
	list = take(take(list, "question", textTo(&q.text)), "header", textTo(&q.header))
	list = take(list, "multiSelect", func(raw json.RawMessage) bool {
		q.several = string(raw) == "true"
		return q.several || isFalse(raw)
	})
	q.more = take(list, "options", func(raw json.RawMessage) (ok bool) {
		q.options, ok = optionsOf(raw)
		return ok
	})
	return q, ok && strings.TrimSpace(q.text) != "" && len(q.options) > 0
}

func optionsOf(raw json.RawMessage) (all []option, ok bool) {
	list, _ := exactjson.Elements(raw)
	for _, raw := range list {
		var o option
		fields, ok := exactjson.Members(raw)
		o.more = take(take(fields, "label", textTo(&o.label)), "description", textTo(&o.description))
		same := func(other option) bool { return other.label == o.label }
		unseen := render.Plain(o.label).Blank()
		if !ok || unseen || slices.ContainsFunc(all, same) || len(all) == maxChoices {
			return nil, false
		}
		all = append(all, o)
	}
	return all, len(all) > 0
}

// labels returns the labels of the marked options, as Claude Code joins them.
func (q question) labels(chosen []int) (list []string) {
	for i, o := range q.options {
		if slices.Contains(chosen, i) {
			list = append(list, o.label)
		}
	}
	return list
}

// questionSheet shows the page of the current question, or all answers once they are complete.
func questionSheet(s State, list []question) sheet {
	at := len(s.Progress.Answers)
	if s.Stage != StageOpen || at >= len(list) {
		return sheet{title: i18n.AskQuestion, body: answerSheet(s, list)}
	}
	blocks := list[at].page(s.Progress.Chosen)
	input, _ := exactjson.Members(s.Request.Input)
	rest := take(input, "questions", func(json.RawMessage) bool { return true })
	page := sheet{title: i18n.AskQuestion, body: chat.Lines(append(blocks, each.As(rest, fieldLine)...)...)}
	if len(list) > 1 {
		page.title, page.args = i18n.AskQuestionPage, i18n.Args{"Page": at + 1, "Pages": len(list)}
	}
	return page
}

func (q question) page(chosen []int) []render.Text {
	blocks := []render.Text{render.Italic(oneLined(q.header)), render.Bold(glyph.Signs(q.text))}
	blocks = append(blocks, each.As(q.more, fieldLine)...)
	for i, o := range q.options {
		label := fmt.Sprintf("%s%d. %s", q.box(chosen, i), i+1, oneLined(o.label))
		blocks = append(blocks, render.Plain(label), render.Italic(glyph.Signs(o.description)))
		blocks = append(blocks, each.As(o.more, fieldLine)...)
	}
	return blocks
}

// box returns the check box of an option, or "" for a single choice.
func (q question) box(chosen []int, i int) string {
	switch {
	case !q.several:
		return ""
	case slices.Contains(chosen, i):
		return "☑ "
	}
	return "☐ "
}

// answerSheet lists the questions with their answers; questions answered elsewhere have none here.
func answerSheet(s State, list []question) render.Text {
	var blocks []render.Text
	for i, q := range list {
		blocks = append(blocks, render.Bold(glyph.Signs(q.text)))
		if i < len(s.Progress.Answers) {
			blocks = append(blocks, render.Plain("→ "+glyph.Signs(s.Progress.Answers[i])))
		}
	}
	return chat.Lines(blocks...)
}

// maxDepth bounds the depth of a tool's input; deeper values are shown only by [Show all].
const maxDepth = 32

// take calls use with the field, and removes the field if use returns true.
func take(list []exactjson.Member, key string, use func(json.RawMessage) bool) []exactjson.Member {
	for i, f := range list {
		if f.Key == key && use(f.Value) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// textTo returns a function that stores a text in to.
func textTo(to *string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		s, ok := exactjson.Text(raw)
		if ok {
			*to = s
		}
		return ok
	}
}

func isFalse(raw json.RawMessage) bool { return string(raw) == "false" }

// odd reports whether a part of the JSON is invisible when drawn: an invisible character, a
// duplicate key, or a value that is too deep.
func odd(raw json.RawMessage, depth int) bool {
	if depth > maxDepth {
		return true
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return true
	}
	switch raw[0] {
	case '"':
		s, ok := exactjson.Text(raw)
		return !ok || glyph.Hides(s)
	case '[':
		list, ok := exactjson.Elements(raw)
		return !ok || slices.ContainsFunc(list, func(v json.RawMessage) bool { return odd(v, depth+1) })
	case '{':
		list, plain := exactjson.Members(raw)
		return !plain || slices.ContainsFunc(list, func(f exactjson.Member) bool {
			return glyph.Hides(f.Key) || odd(f.Value, depth+1)
		})
	}
	return false // a number, true, false, null
}

// escapes matches the escapes of JSON texts.
var escapes = lazyregexp.New(`\\(u00(3c|3e|26)|.)`)

// compact returns JSON in one line, without the escapes that only web pages need.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return escapes.ReplaceAllStringFunc(b.String(), func(s string) string {
		if len(s) == 2 {
			return s
		}
		return map[string]string{"3c": "<", "3e": ">", "26": "&"}[s[4:]]
	})
}

// quoted returns a text as JSON, for a person.
func quoted(s string) string {
	data, _ := json.Marshal(s) // a string always encodes
	return compact(data)
}

// Bounds of the stored beginning of an input that is too big.
const (
	maxFields = 64
	keptText  = 2 << 10
)

// beginnings shortens the first fields of an object. A shortened value of another type becomes a
// text.
func beginnings(object json.RawMessage) json.RawMessage {
	list, _ := exactjson.Members(object)
	var b strings.Builder
	for i, f := range list[:min(len(list), maxFields)] {
		value := string(f.Value)
		if len(value) > keptText {
			s, isText := exactjson.Text(f.Value)
			if !isText {
				s = value
			}
			value = quoted(clip.Bytes(s, keptText, "…"))
		}
		fmt.Fprintf(&b, "%s%s:%s", ","[:min(i, 1)], quoted(clip.Bytes(f.Key, keptText, "…")), value)
	}
	return json.RawMessage("{" + b.String() + "}")
}
