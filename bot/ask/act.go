package ask

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/port/decisions"
	"ccbot/internal/glyph"
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
	c.Reason, _ = inUnits(glyph.Signs(words), maxSaid)
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
		c.Missed = &Writer{By: c.Why.By, At: later(now, c.Why.At.Add(maxWhy-maxMissed)).UTC()}
	}
	return giveUp(c)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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

// patience is how long a card may stay unsettled since it was asked, or decided. What the
// transcript does not say an hour after a hook's longest wait, a day, it will not say.
const patience = 25 * time.Hour

// awayPatience is how long a card that nobody decided here may stay away: the dialog was answered
// or is left to the desk.
const awayPatience = 30 * time.Minute

// settle takes in what the transcript says became of the request; the card is over when that is
// known. gone: the session's agent has ended, or the session is over, so that nothing more is to
// come. found says whether the transcript has the call.
func settle(c Card, o decisions.Outcome, found bool, gone bool, now time.Time) Card {
	limit := patience
	if c.State == StateAway {
		limit = awayPatience
	}
	switch {
	case c.IsOver():
		return c
	case found && (o.Done || o.Interrupted || o.ByHook != ""): // the result may come hours later
		return c.over(settled(c, o), now)
	case gone && c.Decision == nil:
		return c.over(Outcome{What: Ended}, now)
	case gone || now.Sub(c.Since) >= limit:
		return GiveWay(c, now)
	}
	return c
}

// isHalf says whether the next line of the transcript may say that somebody interrupted the agent.
func isHalf(o decisions.Outcome) bool {
	return o.Denial == "user-rejected" && !o.Interrupted && o.ByHook == ""
}

// GiveWay is for a card of which nothing more is to be known: it is in the way, or crashed.
func GiveWay(c Card, now time.Time) Card { return c.over(Outcome{What: Unknown}, now) }

func (c Card) over(outcome Outcome, now time.Time) Card {
	c = c.unwait(0, now)
	c.State, c.Since, c.Outcome = StateOver, now.UTC(), outcome
	return c
}

func settled(c Card, o decisions.Outcome) Outcome {
	chat := took(c, o)
	out := Outcome{What: Allowed, Chat: chat}
	if !chat {
		out.Hook, out.Late = o.ByHook != "", c.Decision != nil && !c.isUndelivered()
	}
	switch {
	case chat && !c.Decision.Allows():
		out.What, out.Said = Denied, c.Reason
	case chat:
	case o.Interrupted: // perhaps only after the decision: an Esc while the tool ran looks the same
		out = Outcome{What: Interrupted}
	case o.ByHook == "deny", o.Denial != "":
		out.What = Denied
	case c.Request.IsQuestion():
		out.Said, _ = inUnits(glyph.Signs(o.Text), maxSaid)
	}
	return out
}

// took says that Claude Code took this card's own decision.
func took(c Card, o decisions.Outcome) bool {
	d := c.Decision
	switch {
	case d == nil:
		return false
	case o.ByHook != "":
		return o.ByHook == d.Behavior
	}
	return !d.Allows() && d.Message != "" && strings.Contains(o.Text, d.Message)
}

// leave is for an open card whose hook does not wait any more; desk: it is not to wait here again.
// A decision that is on its way stays so: the transcript says whether it arrived.
func leave(c Card, desk bool, now time.Time) Card {
	if c.State == StateOpen {
		c = c.unwait(0, now)
		c.State, c.Since, c.Desk = StateAway, now.UTC(), desk
	}
	return c
}

// undeliver is for a decision that no hook has taken and that is not to be given any more.
func undeliver(c Card, now time.Time) Card {
	if c.State == StateSent && c.Given.IsZero() {
		c.State, c.Since, c.Desk = StateAway, now.UTC(), true
	}
	return c
}

// isUndelivered reports whether the card's decision never reached a hook.
func (c Card) isUndelivered() bool { return c.State == StateAway && c.Decision != nil }

// Return is for a card whose hook waits again.
func Return(c Card) Card {
	if c.State == StateAway {
		c.State, c.Since = StateOpen, c.Request.Asked
	}
	return c
}
