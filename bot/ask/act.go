package ask

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/port/decisions"
)

// Why nothing is done with what a person tapped or wrote; the card is then as it was.
var (
	errOver   = errors.New("the request is over")
	errNotNow = errors.New("not possible as the request stands")
)

// wrote stands between what happened and the person's own words.
const wrote = " They wrote: "

// undecided is nil while a person may decide.
func (c Card) undecided() error {
	switch c.State {
	case StateOver:
		return errOver
	case StateOpen:
		return nil
	}
	return errNotNow
}

// Tap is a person's tap on an option.
func Tap(c Card, by int64, option string, now time.Time) (Card, error) {
	if err := c.undecided(); err != nil {
		return c, err
	}
	verb, rest, more := strings.Cut(option, ":")
	if more {
		return answerTap(c, by, verb, strings.Split(rest, ":"), now)
	}
	for _, a := range doable(c, judge(c)) {
		if a.verb == option {
			return a.do(c, by, now), nil
		}
	}
	return c, errNotNow
}

// answerTap is a tap on a page of a question. Its first argument is the question it was drawn for.
func answerTap(c Card, by int64, verb string, args []string, now time.Time) (Card, error) {
	list, _ := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	if at >= len(list) || args[0] != strconv.Itoa(at) || c.Why != nil || !allowable(c) {
		return c, errNotNow
	}
	q, chosen := list[at], c.Progress.Chosen
	switch {
	case verb == verbOption && len(args) == 2:
		i, err := strconv.Atoi(args[1])
		switch {
		case err != nil || i < 0 || i >= len(q.options):
		case q.several:
			c.Progress.Chosen = toggled(chosen, i)
			return c, nil
		default:
			return answered(c, by, list, q.options[i].label, now)
		}
	case len(args) != 1:
	case verb == verbOther:
		c.Why = &Writer{By: by, At: now.UTC(), Answer: true}
		return c, nil
	case verb == verbDone && q.several && len(chosen) > 0:
		return answered(c, by, list, strings.Join(q.labels(chosen), ", "), now)
	case verb == verbBack && at > 0:
		c.Progress = Progress{Answers: c.Progress.Answers[:at-1]}
		return c, nil
	}
	return c, errNotNow
}

func toggled(chosen []int, i int) []int {
	without := slices.DeleteFunc(slices.Clone(chosen), func(n int) bool { return n == i })
	if len(without) < len(chosen) {
		return without
	}
	return slices.Sorted(slices.Values(append(without, i)))
}

// answered notes the answer of the present question; the last one sends them all.
func answered(c Card, by int64, list []question, answer string, now time.Time) (Card, error) {
	next := c
	next.Progress = Progress{Answers: append(slices.Clone(c.Progress.Answers), answer)}
	if len(next.Progress.Answers) < len(list) {
		return next.unwait(by, now), nil
	}
	all := make(map[string]string, len(list))
	for i, q := range list {
		all[q.text] = next.Progress.Answers[i]
	}
	d, err := decisions.AnswerQuestions(c.Request, all)
	if err != nil {
		return c, errNotNow
	}
	return next.decided(by, d, now), nil
}

func (c Card) decided(by int64, d decision, now time.Time) Card {
	c = c.unwait(by, now)
	c.State, c.Since, c.Decision, c.By = StateSent, now.UTC(), &d, by
	return c
}

// denied denies with the person's own words.
func (c Card) denied(by int64, words string, now time.Time) Card {
	return c.decided(by, decisions.Deny(denial(c.Request)+wrote+words), now)
}

// denial is what Claude reads when a person says no, in the language that its own messages have.
func denial(q Request) string {
	switch {
	case q.IsPlan():
		return "The user does not approve the plan yet (said in the chat): keep planning."
	case q.IsQuestion():
		return "The user declined to answer, from the chat."
	}
	return decisions.Denied
}

// Awaits says that the next text of a person belongs to this card, and goes to Say.
func (c Card) Awaits(by int64, now time.Time) bool {
	return c.State == StateOpen && c.Why != nil && c.Why.By == by && !c.Overdue(now)
}

// Overdue says that a text was waited for too long.
func (c Card) Overdue(now time.Time) bool { return c.Why != nil && now.Sub(c.Why.At) >= maxWhy }

// giveUp ends the wait for a text: the person has gone on to something else.
func giveUp(c Card) Card {
	c.Why = nil
	return c
}

// unwait ends the wait for a text. Unless it is the writer who ends it, they may be writing still.
func (c Card) unwait(by int64, now time.Time) Card {
	if c.Why != nil && c.Why.By != by {
		c.Missed = &Writer{By: c.Why.By, At: now.UTC()}
	}
	return giveUp(c)
}

// Misses says that the next text of a person was probably meant for this card.
func (c Card) Misses(by int64, now time.Time) bool {
	if w := c.Why; w != nil && w.By == by && c.Overdue(now) {
		return now.Sub(w.At) < maxWhy+maxMissed
	}
	return c.Missed != nil && c.Missed.By == by && now.Sub(c.Missed.At) < maxMissed
}

// give notes that a hook has taken the decision.
func give(c Card, now time.Time) Card {
	if c.State == StateSent {
		c.Given = now.UTC()
	}
	return c
}

// say is a text of the person that Why waits for: the reason of a denial, word for word, or a free
// answer. errNotNow: the text is not for this card, or is blank.
func say(c Card, by int64, text string, now time.Time) (Card, error) {
	switch {
	case !c.Awaits(by, now) || strings.TrimSpace(text) == "":
		return c, errNotNow
	case !c.Why.Answer:
		return c.denied(by, text, now), nil
	}
	list, _ := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	if at >= len(list) || !allowable(c) {
		return c, errNotNow
	}
	parts := append(list[at].labels(c.Progress.Chosen), text)
	return answered(c, by, list, strings.Join(parts, ", "), now)
}

// denyWith denies with a text that the person had already sent: [Deny with this text]. prompt is the key
// of that text in the inbox.
func denyWith(c Card, by int64, reason, prompt string, now time.Time) (Card, error) {
	if err := c.undecided(); err != nil {
		return c, err
	}
	c.Prompt = prompt
	return c.denied(by, reason, now), nil
}

// OneLeft says that a text can answer all that is left: one question, with one option to choose.
func (c Card) OneLeft() bool {
	list, ok := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	return ok && c.State == StateOpen && at == len(list)-1 && !list[at].several && allowable(c)
}

// answerWith answers the last question with a text that was already sent: [Answer with this].
func answerWith(c Card, by int64, text, prompt string, now time.Time) (Card, error) {
	if !c.OneLeft() {
		return c, cmp.Or(c.undecided(), errNotNow)
	}
	list, _ := questionsOf(c.Request)
	next, err := answered(c, by, list, text, now)
	if err == nil {
		next.Prompt = prompt
	}
	return next, err
}
