package ask

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/port/decisions"
)

// Sentinels of Tap, matched with errors.Is.
var (
	ErrOver   = errors.New("the request is decided")
	ErrNotNow = errors.New("not possible as the request stands")
	ErrStale  = errors.New("the button is not one of this message any more")
)

// Effect is what is left to do after a transition, besides saving the card.
type Effect int

// None: nothing. Redraw: edit the message. SendDecision: give Card.Decision to the relay, then
// edit. ShowAll: send what All gives, then set AllShown, save and edit. AskWhy: edit the message,
// and take the person's next text to Say.
const (
	None Effect = iota
	Redraw
	SendDecision
	ShowAll
	AskWhy
)

// wrote stands between what happened and the person's own words.
const wrote = " They wrote: "

// Tap is a person's tap on an option with the value "<verb>:<args>". ErrOver: it is decided.
// ErrNotNow: its hook does not wait, or something must be shown first. ErrStale: the button is of
// an earlier page. The card is then as it was.
func Tap(c Card, by int64, verb string, args []string, now time.Time) (Card, Effect, error) {
	switch c.State {
	case StateOver:
		return c, None, ErrOver
	case StateOpen:
	default:
		return c, None, ErrNotNow
	}
	c = c.clone()
	switch verb {
	case verbOption, verbDone, verbOther, verbBack:
		return answerTap(c, by, verb, args, now)
	}
	if len(args) > 0 {
		return c, None, ErrStale
	}
	switch verb {
	case verbAll:
		if c.AllShown || judge(c).tooBig {
			return c, None, ErrStale
		}
		return c, ShowAll, nil
	case verbDeny:
		return decided(c, by, decisions.Deny(denial(c.Request)), now)
	case verbDesk: // a subagent's dialog is not drawn while its hook waits
		if c.Request.SubagentID == "" {
			return c, None, ErrStale
		}
		return Leave(c, ToDesk), Redraw, nil
	case verbWhy, verbKeep:
		c.Why, c.Unheard = &Why{By: by, At: now.UTC()}, false
		return c, AskWhy, nil
	case verbCancel:
		if c.Why == nil {
			return c, None, ErrStale
		}
		c.Why = nil
		return c, Redraw, nil
	}
	return consentTap(c, by, verb, now)
}

// consentTap allows, if all of the request was shown.
func consentTap(c Card, by int64, verb string, now time.Time) (Card, Effect, error) {
	q := c.Request
	switch {
	case q.IsPlan() != (verb == verbApprove || verb == verbEdits) || q.IsQuestion():
		return c, None, ErrStale
	case !Allowable(c):
		return c, None, ErrNotNow
	}
	switch verb {
	case verbAllow:
		return decided(c, by, decisions.Allow(q), now)
	case verbSession:
		d, ok := decisions.AllowForSession(q)
		if !ok {
			return c, None, ErrStale
		}
		return decided(c, by, d, now)
	case verbApprove, verbEdits:
		return decided(c, by, decisions.ApprovePlan(q, verb == verbEdits), now)
	}
	return c, None, ErrStale
}

// answerTap is a tap on a page of a question. Its first argument is the question it was drawn for.
func answerTap(c Card, by int64, verb string, args []string, now time.Time) (Card, Effect, error) {
	list, ok := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	if !ok || at >= len(list) || len(args) == 0 || args[0] != strconv.Itoa(at) || c.Why != nil {
		return c, None, ErrStale
	}
	if !Allowable(c) {
		return c, None, ErrNotNow
	}
	q := list[at]
	switch {
	case verb == verbOption && len(args) == 2:
		i, err := strconv.Atoi(args[1])
		if err != nil || i < 0 || i >= len(q.options) {
			return c, None, ErrStale
		}
		if q.several {
			c.Progress.Chosen = toggled(c.Progress.Chosen, i)
			return c, Redraw, nil
		}
		return answered(c, by, list, q.options[i].label, now)
	case len(args) != 1:
		return c, None, ErrStale
	case verb == verbOther:
		c.Why, c.Unheard = &Why{By: by, At: now.UTC(), Answer: true}, false
		return c, AskWhy, nil
	case verb == verbDone && q.several && len(q.labels(c.Progress.Chosen)) > 0:
		return answered(c, by, list, strings.Join(q.labels(c.Progress.Chosen), ", "), now)
	case verb == verbBack && at > 0:
		c.Progress = Progress{Answers: c.Progress.Answers[:at-1]}
		return c, Redraw, nil
	}
	return c, None, ErrStale
}

func toggled(chosen []int, i int) []int {
	if at := slices.Index(chosen, i); at >= 0 {
		return slices.Delete(chosen, at, at+1)
	}
	chosen = append(chosen, i)
	slices.Sort(chosen)
	return chosen
}

// answered notes the answer of the present question; the last one sends them all.
func answered(c Card, by int64, list []question, answer string, now time.Time) (Card, Effect, error) {
	before := c
	c.Unheard = false
	c.Progress = Progress{Answers: append(c.Progress.Answers, answer)}
	c.Why = nil
	if len(c.Progress.Answers) < len(list) {
		return c, Redraw, nil
	}
	d, err := decisions.AnswerQuestions(c.Request, answers(list, c.Progress.Answers))
	if err != nil {
		return before, None, ErrNotNow
	}
	return decided(c, by, d, now)
}

func decided(c Card, by int64, d Decision, now time.Time) (Card, Effect, error) {
	c.State, c.Decision, c.By, c.DecidedAt, c.Why, c.Unheard = StateSent, &d, by, now.UTC(), nil, false
	return c, SendDecision, nil
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

// GiveUp ends the wait for a text: the person has gone on to something else.
func GiveUp(c Card) Card {
	if c.Why != nil {
		c = c.clone()
		c.Why, c.Unheard = nil, true
	}
	return c
}

// Miss notes that a person's words are not awaited any more, although they may be writing.
func Miss(c Card, by int64, now time.Time) Card {
	c.Missed = Missed{By: by, At: now.UTC()}
	return c
}

// Misses says that the next text of a person was probably meant for this card.
func (c Card) Misses(by int64, now time.Time) bool {
	if w := c.Why; w != nil && w.By == by && c.Overdue(now) {
		return now.Sub(w.At) < maxWhy+maxMissed
	}
	return c.Missed.By == by && by != 0 && now.Sub(c.Missed.At) < maxMissed
}

// Give notes that a hook has taken the decision.
func Give(c Card, now time.Time) Card {
	if c.State == StateSent {
		c = c.clone()
		c.Given = now.UTC()
	}
	return c
}

// Say is a text of the person that Why waits for: the reason of a denial, word for word, or a free
// answer. None: the text is not for this card, or is blank.
func Say(c Card, by int64, text string, now time.Time) (Card, Effect) {
	if !c.Awaits(by, now) || strings.TrimSpace(text) == "" {
		return c, None
	}
	next := c.clone()
	if !c.Why.Answer {
		next, effect, _ := decided(next, by, decisions.Deny(denial(c.Request)+wrote+text), now)
		return next, effect
	}
	list, ok := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	if !ok || at >= len(list) || !Allowable(c) {
		return c, None
	}
	parts := append(list[at].labels(c.Progress.Chosen), text)
	next, effect, err := answered(next, by, list, strings.Join(parts, ", "), now)
	if err != nil {
		return c, None
	}
	return next, effect
}

// DenyWith denies with a text that the person had already sent: [Deny with this]. prompt is its inbox key.
func DenyWith(c Card, by int64, reason, prompt string, now time.Time) (Card, Effect, error) {
	switch {
	case c.State == StateOver:
		return c, None, ErrOver
	case c.State != StateOpen:
		return c, None, ErrNotNow
	}
	c = c.clone()
	c.Prompt = prompt
	return decided(c, by, decisions.Deny(denial(c.Request)+wrote+reason), now)
}

// OneLeft says that a text can answer all that is left: one question, of which one option is to be chosen.
func (c Card) OneLeft() bool {
	list, ok := questionsOf(c.Request)
	at := len(c.Progress.Answers)
	return ok && c.State == StateOpen && at == len(list)-1 && !list[at].several && Allowable(c)
}

// AnswerWith answers the last question with a text that the person had already sent: [Answer with this].
func AnswerWith(c Card, by int64, text, prompt string, now time.Time) (Card, Effect, error) {
	switch {
	case c.State == StateOver:
		return c, None, ErrOver
	case !c.OneLeft():
		return c, None, ErrNotNow
	}
	list, _ := questionsOf(c.Request)
	next := c.clone()
	next.Prompt = prompt
	next, effect, err := answered(next, by, list, text, now)
	if err != nil {
		return c, None, err
	}
	return next, effect, nil
}
