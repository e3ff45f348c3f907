package demoagent

import (
	"fmt"
	"slices"
	"strings"

	"ccbot/try/demoagent/script"
	"ccbot/try/demoagent/terminal"
)

// ask is the dialog of AskUserQuestion: one page per question and, unless there is a single
// question with a single answer, a page to review them.
type ask struct {
	questions []script.Question
	page      int // len(questions): the review page
	selected  int // index of the option under the cursor
	marked    map[int]bool
	typed     string // free text of this page
	answers   map[string]string
}

func newAsk(questions []script.Question) *ask {
	return &ask{questions: questions, marked: map[int]bool{}, answers: map[string]string{}}
}

func (a *ask) waitingFor() string { return "input needed" }

func (a *ask) press(in terminal.Input) *outcome {
	switch in.Key {
	case terminal.Escape, terminal.Interrupt:
		return &outcome{escaped: true}
	case terminal.Up:
		a.selected = max(a.selected-1, 0)
	case terminal.Down:
		a.selected = min(a.selected+1, len(a.labels())-1)
	case terminal.Left:
		a.turnTo(max(a.page-1, 0))
	case terminal.Right, terminal.Tab:
		return a.right()
	case terminal.Backspace:
		a.typed = cutLast(a.typed)
	case terminal.Enter:
		return a.choose(a.selected)
	case terminal.Text:
		return a.text(in.Text)
	}
	return nil
}

// A digit chooses, unless the cursor is on the line for free text, which takes everything.
func (a *ask) text(text string) *outcome {
	if a.page < len(a.questions) && a.selected == len(a.question().Options) {
		a.typed += text
		return nil
	}
	if n := digit(text); n >= 1 && n <= len(a.labels()) {
		return a.choose(n - 1)
	}
	return nil
}

// choose acts on one option of the page.
func (a *ask) choose(i int) *outcome {
	if a.page == len(a.questions) {
		return &outcome{escaped: i == 1, answers: a.answers}
	}
	q := a.question()
	switch {
	case i < len(q.Options) && q.MultiSelect:
		a.marked[i] = !a.marked[i]
		a.answers[q.Question] = a.join()
		return nil
	case i < len(q.Options):
		a.answers[q.Question] = q.Options[i].Label
		return a.next()
	case i == len(q.Options): // "Type something."
		if a.selected = i; a.typed == "" {
			return nil
		}
		a.answers[q.Question] = a.typed
		return a.next()
	}
	return &outcome{escaped: true} // "Chat about this"
}

func (a *ask) right() *outcome {
	if a.question().MultiSelect {
		return a.next()
	}
	a.turnTo(min(a.page+1, len(a.questions)))
	return nil
}

func (a *ask) next() *outcome {
	if len(a.questions) == 1 && !a.questions[0].MultiSelect {
		return &outcome{answers: a.answers}
	}
	a.turnTo(min(a.page+1, len(a.questions)))
	return nil
}

func (a *ask) turnTo(page int) { a.page, a.selected, a.typed = page, 0, "" }

func (a *ask) question() script.Question { return a.questions[min(a.page, len(a.questions)-1)] }

func (a *ask) join() string {
	var labels []string
	for i, o := range a.question().Options {
		if a.marked[i] {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

func (a *ask) labels() []string {
	if a.page == len(a.questions) {
		return []string{"Submit answers", "Cancel"}
	}
	var labels []string
	for _, o := range a.question().Options {
		labels = append(labels, o.Label)
	}
	free := "Type something."
	if a.typed != "" {
		free = a.typed
	}
	return append(labels, free, "Chat about this")
}

func (a *ask) lines(width int) []string {
	lines := []string{grey + ruler(width) + plain, a.tabs(), ""}
	if a.page == len(a.questions) {
		return append(lines, a.review()...)
	}
	q := a.question()
	lines = append(lines, bold+q.Question+plain, "")
	indent := "     "
	if q.MultiSelect {
		indent += "    "
	}
	for i, label := range a.labels() {
		if i == len(q.Options)+1 {
			lines = append(lines, grey+ruler(width)+plain)
		}
		lines = append(lines, a.option(i, label))
		if i < len(q.Options) {
			lines = append(lines, indent+grey+q.Options[i].Description+plain)
		}
	}
	keys := "Tab/Arrow keys"
	if len(a.questions) == 1 {
		keys = "↑/↓"
	}
	return append(lines, "", grey+"Enter to select · "+keys+" to navigate · Esc to cancel"+plain)
}

func (a *ask) option(i int, label string) string {
	q := a.question()
	if a.page < len(a.questions) && q.MultiSelect && i <= len(q.Options) {
		label = map[bool]string{true: "[✔] ", false: "[ ] "}[a.marked[i]] + label
	}
	if i == a.selected {
		return blue + "❯ " + grey + fmt.Sprintf("%d. ", i+1) + blue + label + plain
	}
	return "  " + grey + fmt.Sprintf("%d. ", i+1) + plain + label
}

func (a *ask) tabs() string {
	if len(a.questions) == 1 && !a.questions[0].MultiSelect {
		return " ☐ " + a.questions[0].Header
	}
	tabs := "← "
	for i, q := range a.questions {
		tabs += a.tab(i, map[bool]string{true: "☒ ", false: "☐ "}[a.answers[q.Question] != ""]+q.Header)
	}
	return tabs + a.tab(len(a.questions), "✔ Submit") + " →"
}

func (a *ask) tab(i int, label string) string {
	if i == a.page {
		return "\x1b[38;5;16;48;5;153m " + label + " " + plain
	}
	return " " + label + " "
}

func (a *ask) review() []string {
	lines := []string{bold + "Review your answers" + plain, ""}
	for _, q := range a.questions {
		if answer := a.answers[q.Question]; answer != "" {
			lines = append(lines, " ● "+q.Question, "   → "+answer)
		}
	}
	lines = append(lines, "")
	for i, label := range a.labels() {
		lines = append(lines, a.option(i, label))
	}
	return lines
}

// answerText is the tool result the model gets; free text gets another wording, as in the real one.
func answerText(questions []script.Question, answers map[string]string) string {
	var parts []string
	free := false
	for _, q := range questions {
		answer := answers[q.Question]
		if answer == "" {
			continue
		}
		parts = append(parts, fmt.Sprintf("%q=%q", q.Question, answer))
		listed := slices.ContainsFunc(q.Options, func(o script.Option) bool { return o.Label == answer })
		free = free || !listed && !q.MultiSelect
	}
	all := strings.Join(parts, ", ")
	if all == "" {
		return "The user did not answer the questions."
	}
	if free {
		return "The user answered: " + all + ". Read the answers carefully — they may request clarification, changes, " +
			"or that you not proceed — and follow what they actually say."
	}
	return "Your questions have been answered: " + all + ". You can now continue with these answers in mind."
}

func cutLast(s string) string {
	r := []rune(s)
	return string(r[:max(len(r)-1, 0)])
}
