package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// maxChoices is for how many questions, and options of each, pages are made; Claude Code allows 4.
const maxChoices = 10

// question is one page of AskUserQuestion.
type question struct {
	text, header string
	several      bool // several options may be chosen
	options      []option
	more         []exactjson.Member // what else it says
}

type option struct {
	label, description string
	more               []exactjson.Member
}

// questionsOf reads the questions of a request. It is false where taps could not answer them
// without doubt: then only the desk can.
func questionsOf(q Request) (all []question, ok bool) {
	if !q.IsQuestion() || len(q.Input) > maxInput {
		return nil, false
	}
	input, _ := exactjson.Object(q.Input)
	list, _ := exactjson.Elements(input["questions"])
	for _, raw := range list {
		one, ok := questionOf(raw)
		same := func(other question) bool { return other.text == one.text } // answers go by the text
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

// labels are those of the marked options, as Claude Code joins them.
func (q question) labels(chosen []int) (list []string) {
	for i, o := range q.options {
		if slices.Contains(chosen, i) {
			list = append(list, o.label)
		}
	}
	return list
}

// questionSheet shows the page of the question that is to be answered now, or all answers once they
// are given.
func questionSheet(c Card, list []question) sheet {
	at := len(c.Progress.Answers)
	if c.State != StateOpen || at >= len(list) {
		return sheet{title: i18n.AskQuestion, body: answerSheet(c, list)}
	}
	blocks := list[at].page(c.Progress.Chosen)
	input, _ := exactjson.Members(c.Request.Input)
	for _, f := range take(input, "questions", func(json.RawMessage) bool { return true }) {
		blocks = append(blocks, fieldLine(f))
	}
	s := sheet{title: i18n.AskQuestion, body: chat.Lines(blocks...)}
	if len(list) > 1 {
		s.title, s.args = i18n.AskQuestionPage, i18n.Args{"Page": at + 1, "Pages": len(list)}
	}
	return s
}

func (q question) page(chosen []int) []render.Text {
	blocks := []render.Text{render.Italic(glyph.Signs(q.header)), render.Bold(glyph.Signs(q.text))}
	for _, f := range q.more {
		blocks = append(blocks, fieldLine(f))
	}
	for i, o := range q.options {
		label := fmt.Sprintf("%s%d. %s", q.box(chosen, i), i+1, glyph.Signs(o.label))
		blocks = append(blocks, render.Plain(label), render.Italic(glyph.Signs(o.description)))
		for _, f := range o.more {
			blocks = append(blocks, fieldLine(f))
		}
	}
	return blocks
}

// box says whether an option is marked, where several may be.
func (q question) box(chosen []int, i int) string {
	switch {
	case !q.several:
		return ""
	case slices.Contains(chosen, i):
		return "☑ "
	}
	return "☐ "
}

// answerSheet lists each question with its answer; one that was answered elsewhere has none here.
func answerSheet(c Card, list []question) render.Text {
	var blocks []render.Text
	for i, q := range list {
		blocks = append(blocks, render.Bold(glyph.Signs(q.text)))
		if i < len(c.Progress.Answers) {
			blocks = append(blocks, render.Plain("→ "+glyph.Signs(c.Progress.Answers[i])))
		}
	}
	return chat.Lines(blocks...)
}
