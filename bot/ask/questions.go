package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/bot/render"
	"ccbot/bot/tool"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// More than these no page of buttons is made for. Claude Code allows four of each.
const (
	maxQuestions = 10
	maxOptions   = 10
)

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
func questionsOf(q Request) ([]question, bool) {
	if !q.IsQuestion() || len(q.Input) > maxInput {
		return nil, false
	}
	list, ok := exactjson.Members(q.Input)
	if !ok {
		return nil, false
	}
	var raws []json.RawMessage
	for _, f := range list {
		if f.Key == "questions" {
			raws, _ = exactjson.Elements(f.Value)
		}
	}
	if len(raws) == 0 || len(raws) > maxQuestions {
		return nil, false
	}
	var all []question
	texts := make(map[string]bool) // answers go by a question's text
	for _, raw := range raws {
		one, ok := questionOf(raw)
		if !ok || texts[one.text] {
			return nil, false
		}
		texts[one.text] = true
		all = append(all, one)
	}
	return all, true
}

func questionOf(raw json.RawMessage) (question, bool) {
	list, ok := exactjson.Members(raw)
	if !ok {
		return question{}, false
	}
	var q question
	for _, f := range list {
		known := true
		switch f.Key {
		case "question":
			q.text, known = exactjson.Text(f.Value)
		case "header":
			q.header, known = exactjson.Text(f.Value)
		case "multiSelect":
			q.several = tool.IsTrue(f.Value)
			known = q.several || string(f.Value) == "false"
		case "options":
			q.options, known = optionsOf(f.Value)
		default:
			q.more = append(q.more, f)
		}
		if !known {
			return question{}, false
		}
	}
	return q, strings.TrimSpace(q.text) != "" && len(q.options) > 0
}

func optionsOf(raw json.RawMessage) ([]option, bool) {
	raws, ok := exactjson.Elements(raw)
	if !ok || len(raws) > maxOptions {
		return nil, false
	}
	var all []option
	labels := make(map[string]bool)
	for _, raw := range raws {
		list, ok := exactjson.Members(raw)
		var o option
		for _, f := range list {
			known := true
			switch f.Key {
			case "label":
				o.label, known = exactjson.Text(f.Value)
			case "description":
				o.description, known = exactjson.Text(f.Value)
			default:
				o.more = append(o.more, f)
			}
			ok = ok && known
		}
		if !ok || labels[o.label] || render.Plain(o.label).Blank() {
			return nil, false
		}
		labels[o.label] = true
		all = append(all, o)
	}
	return all, true
}

// answers are what the agent gets, by the text of each question.
func answers(list []question, given []string) map[string]string {
	all := make(map[string]string, len(list))
	for i, q := range list {
		if i < len(given) {
			all[q.text] = given[i]
		}
	}
	return all
}

// labels are those of the marked options, as Claude Code joins them.
func (q question) labels(chosen []int) []string {
	var list []string
	for i, o := range q.options {
		for _, n := range chosen {
			if n == i {
				list = append(list, o.label)
			}
		}
	}
	return list
}

// questionSheet shows the page of the question that is to be answered now, or all answers once they
// are given.
func questionSheet(c Card, list []question) tool.Sheet {
	at := len(c.Progress.Answers)
	if c.State != StateOpen || at >= len(list) {
		return tool.Sheet{Title: i18n.AskQuestion, Body: answerSheet(c, list)}
	}
	s := tool.Sheet{Title: i18n.AskQuestion}
	if len(list) > 1 {
		s.Title, s.Args = i18n.AskQuestionPage, i18n.Args{"Page": at + 1, "Pages": len(list)}
	}
	s.Above = answersSoFar(list, c.Progress.Answers)
	s.Body = list[at].page(c.Progress.Chosen)
	for _, f := range besides(c.Request) {
		s.Body = tool.Lines([]render.Text{s.Body, tool.Line(f)})
	}
	return s
}

// shownAnswers is of how many earlier answers a page reminds.
const shownAnswers = 3

// answersSoFar reminds of the answers to the questions before, a line each.
func answersSoFar(list []question, given []string) render.Text {
	var blocks []render.Text
	for i := max(0, len(given)-shownAnswers); i < len(given) && i < len(list); i++ {
		asked, _ := tool.Clip(tool.OneLined(list[i].text), maxWord)
		answer, _ := tool.Clip(tool.OneLined(given[i]), maxWord)
		blocks = append(blocks, render.Plain(asked+" → "+answer))
	}
	return tool.Lines(blocks)
}

// besides are the fields of the input beside the questions.
func besides(q Request) []exactjson.Member {
	list, _ := exactjson.Members(q.Input)
	return tool.Take(list, "questions", func(json.RawMessage) bool { return true })
}

func (q question) page(chosen []int) render.Text {
	var blocks []render.Text
	if q.header != "" {
		blocks = append(blocks, render.Italic(glyph.Signs(q.header)))
	}
	blocks = append(blocks, render.Bold(glyph.Signs(q.text)))
	for _, f := range q.more {
		blocks = append(blocks, tool.Line(f))
	}
	for i, o := range q.options {
		mark := ""
		if q.several {
			mark = box(slices.Contains(chosen, i)) + " "
		}
		blocks = append(blocks, render.Plain(fmt.Sprintf("%s%d. %s", mark, i+1, glyph.Signs(o.label))))
		if strings.TrimSpace(o.description) != "" {
			blocks = append(blocks, render.Italic(glyph.Signs(o.description)))
		}
		for _, f := range o.more {
			blocks = append(blocks, tool.Line(f))
		}
	}
	return tool.Lines(blocks)
}

func box(marked bool) string {
	if marked {
		return "☑"
	}
	return "☐"
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
	return tool.Lines(blocks)
}
