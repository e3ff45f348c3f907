package ask

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/glyph"
	"ccbot/port/talk"
)

// Errors of a tap or text that changes nothing.
var (
	errEnded  = errors.New("the request has ended")
	errNotNow = errors.New("not possible as the request stands")
)

// undecided returns nil if a person may decide.
func (s State) undecided() error {
	switch s.Stage {
	case StageEnded:
		return errEnded
	case StageOpen:
		return nil
	}
	return errNotNow
}

// Tap applies a person's tap on an option.
func Tap(s State, by int64, option string, now time.Time) (State, error) {
	if err := s.undecided(); err != nil {
		return s, err
	}
	verb, rest, more := strings.Cut(option, ":")
	if more {
		return answerTap(s, by, verb, strings.Split(rest, ":"), now)
	}
	for _, a := range possibleActions(s, judge(s)) {
		if a.verb == option {
			return a.do(s, by, now), nil
		}
	}
	return s, errNotNow
}

// answerTap applies a tap on a question's page. Its first argument is the index of that question.
func answerTap(s State, by int64, verb string, args []string, now time.Time) (State, error) {
	list := s.Request.Ask.Pages
	at := len(s.Progress.Answers)
	if at >= len(list) || args[0] != strconv.Itoa(at) || s.Why != nil || !allowable(s) {
		return s, errNotNow
	}
	q, chosen := list[at], s.Progress.Chosen
	switch {
	case (verb == verbOption || verb == verbUntick) && len(args) == 2:
		i, err := strconv.Atoi(args[1])
		switch {
		case err != nil || i < 0 || i >= len(q.Options) || slices.Contains(chosen, i) != (verb == verbUntick):
		case q.Several:
			s.Progress.Chosen = toggled(chosen, i)
			return s, nil
		default:
			return answered(s, by, q.Options[i].Label, now), nil
		}
	case verb == verbDone && q.Several && len(chosen) > 0 && slices.Equal(args[1:], ticks(chosen)):
		return answered(s, by, strings.Join(labels(q, chosen), ", "), now), nil
	case len(args) != 1:
	case verb == verbOther:
		s.Why = &Writer{By: by, At: now.UTC(), Answer: true}
		return s, nil
	case verb == verbBack && at > 0:
		s.Progress = Progress{Answers: s.Progress.Answers[:at-1]}
		return s, nil
	}
	return s, errNotNow
}

func toggled(chosen []int, i int) []int {
	without := slices.DeleteFunc(slices.Clone(chosen), func(n int) bool { return n == i })
	if len(without) < len(chosen) {
		return without
	}
	return slices.Sorted(slices.Values(append(without, i)))
}

// answered stores the current question's answer; the last answer sends all.
func answered(s State, by int64, answer string, now time.Time) State {
	s.Progress = Progress{Answers: append(slices.Clone(s.Progress.Answers), answer)}
	if len(s.Progress.Answers) < len(s.Request.Ask.Pages) {
		return s.unwait(by, now)
	}
	return s.decided(by, talk.Answer{Choice: talk.ChoiceAnswer, Answers: s.Progress.Answers}, now)
}

// decided stores an answer to the content that is shown.
func (s State) decided(by int64, a talk.Answer, now time.Time) State {
	s = s.unwait(by, now)
	a.Shown = s.Request.Ask.Digest()
	s.Stage, s.Since, s.Answer, s.By = StageSent, now.UTC(), &a, by
	return s
}

// denied denies with the person's own words.
func (s State) denied(by int64, words string, now time.Time) State {
	s.Reason, _ = inUnits(glyph.Signs(words), maxReply)
	return s.decided(by, talk.Answer{Choice: talk.ChoiceDeny, Text: words}, now)
}

// Awaits reports whether the next text of a person is for this request. applyText takes it.
func (s State) Awaits(by int64, now time.Time) bool {
	return s.Stage == StageOpen && s.Why != nil && s.Why.By == by && !s.Overdue(now)
}

// Overdue reports whether the wait for a text has timed out.
func (s State) Overdue(now time.Time) bool { return s.Why != nil && now.Sub(s.Why.At) >= maxWhy }

// giveUp ends the wait for a text: the person has turned to something else.
func giveUp(s State) State {
	s.Why = nil
	return s
}

// unwait ends the wait for a text. If another person ends it, the writer may still be writing.
func (s State) unwait(by int64, now time.Time) State {
	if s.Why != nil && s.Why.By != by {
		s.Missed = &Writer{By: s.Why.By, In: s.Why.In, At: slices.MaxFunc([]time.Time{now, s.Why.At.Add(maxWhy - maxMissed)}, time.Time.Compare).UTC()}
	}
	return giveUp(s)
}

// Misses reports whether the next text of a person was probably meant for this request.
func (s State) Misses(by int64, now time.Time) bool {
	if w := s.Why; w != nil && w.By == by && s.Overdue(now) {
		return now.Sub(w.At) < maxWhy+maxMissed
	}
	return s.Missed != nil && s.Missed.By == by && now.Sub(s.Missed.At) < maxMissed
}

// give notes that a hook has accepted the decision.
func give(s State, now time.Time) State {
	if s.Stage == StageSent {
		s.Given = now.UTC()
	}
	return s
}

// applyText applies the text of the person in Why: the reason of a denial, word for word, or a free
// answer. It returns errNotNow if the text is not for this request, or is blank.
func applyText(s State, by int64, text string, now time.Time) (State, error) {
	switch {
	case !s.Awaits(by, now) || strings.TrimSpace(text) == "":
		return s, errNotNow
	case !s.Why.Answer:
		return s.denied(by, text, now), nil
	}
	list := s.Request.Ask.Pages
	at := len(s.Progress.Answers)
	if at >= len(list) || !allowable(s) {
		return s, errNotNow
	}
	parts := append(labels(list[at], s.Progress.Chosen), text)
	return answered(s, by, strings.Join(parts, ", "), now), nil
}

// ownWords answers the current question with a person's own words, as after a tap on [Own words].
func ownWords(s State, by int64, text string, now time.Time) (State, error) {
	if err := s.undecided(); err != nil || s.Why != nil {
		return s, cmp.Or(err, errNotNow)
	}
	s.Why = &Writer{By: by, At: now.UTC(), Answer: true}
	return applyText(s, by, text, now)
}

// denyWith denies with an earlier text: [Deny with this text]. prompt is its key in the inbox.
func denyWith(s State, by int64, reason, prompt string, now time.Time) (State, error) {
	if err := s.undecided(); err != nil {
		return s, err
	}
	s.Prompt = prompt
	return s.denied(by, reason, now), nil
}

// OneLeft reports whether a text can complete the answers: one single-choice question is left.
func (s State) OneLeft() bool {
	list := s.Request.Ask.Pages
	at := len(s.Progress.Answers)
	return s.Stage == StageOpen && at == len(list)-1 && !list[at].Several && allowable(s)
}

// answerWith answers the last question with a text that was already sent: [Answer with this].
func answerWith(s State, by int64, text, prompt string, now time.Time) (State, error) {
	if !s.OneLeft() {
		return s, cmp.Or(s.undecided(), errNotNow)
	}
	next := answered(s, by, text, now)
	next.Prompt = prompt
	return next, nil
}

// timeout is the time that a request may stay unsettled after it was asked or decided: a hook's
// longest wait, a day, and an hour.
const timeout = 25 * time.Hour

// awayTimeout is that time for an undecided request that is away: its dialog may be answered.
const awayTimeout = 30 * time.Minute

// settle applies the transcript's outcome, which ends the request. gone reports that the agent or
// the session has ended, so nothing more will come; found, whether the transcript has the call.
func settle(s State, o talk.RequestOutcome, found bool, gone bool, now time.Time) State {
	limit := timeout
	if s.Stage == StageAway {
		limit = awayTimeout
	}
	switch {
	case s.HasEnded():
		return s
	case found && (o.Done || o.Interrupted || o.Unclear || o.ByHook != ""): // the result may come hours later
		return s.end(outcomeOf(s, o), now)
	case gone && s.Answer == nil:
		return s.end(Outcome{What: Ended}, now)
	case gone || now.Sub(s.Since) >= limit:
		return GiveWay(s, now)
	}
	return s
}

// GiveWay ends a request with an unknown outcome: it is in the way, or crashed.
func GiveWay(s State, now time.Time) State { return s.end(Outcome{What: Unknown}, now) }

func (s State) end(outcome Outcome, now time.Time) State {
	s = s.unwait(0, now)
	s.Stage, s.Since, s.Outcome = StageEnded, now.UTC(), outcome
	return s
}

func outcomeOf(s State, o talk.RequestOutcome) Outcome {
	chat := took(s, o)
	out := Outcome{What: Allowed, Chat: chat}
	if !chat {
		out.Hook, out.Late = o.ByHook != "", s.Answer != nil && !s.isUndelivered()
	}
	switch {
	case chat && !s.Answer.Allows():
		out.What, out.Reply = Denied, s.Reason
	case chat:
	case o.Interrupted: // perhaps only after the decision: an Esc while the tool ran looks the same
		out = Outcome{What: Interrupted}
	case o.ByHook == "deny", o.Denial != "":
		out.What = Denied
	case o.Unclear:
		out = Outcome{What: Unknown}
	case s.Request.Ask.Kind == talk.AskQuestion:
		out.Reply, _ = inUnits(glyph.Signs(o.Text), maxReply)
	}
	return out
}

// took reports whether the agent used this request's own answer.
func took(s State, o talk.RequestOutcome) bool {
	switch {
	case s.Answer == nil:
		return false
	case o.ByHook != "":
		return s.Answer.Allows() == (o.ByHook == "allow")
	}
	return o.Quoted
}

// leave moves an open request to away because its hook no longer waits; inTerminal makes that
// permanent. A sent decision stays sent: the transcript shows whether it arrived.
func leave(s State, inTerminal bool, now time.Time) State {
	if s.Stage == StageOpen {
		s = s.unwait(0, now)
		s.Stage, s.Since, s.InTerminal = StageAway, now.UTC(), inTerminal
	}
	return s
}

// undeliver withdraws a decision that no hook has accepted.
func undeliver(s State, now time.Time) State {
	if s.Stage == StageSent && s.Given.IsZero() {
		s.Stage, s.Since, s.InTerminal = StageAway, now.UTC(), true
	}
	return s
}

// isUndelivered reports whether the request's decision never reached a hook.
func (s State) isUndelivered() bool { return s.Stage == StageAway && s.Answer != nil }

// renewed replaces the content of an open request if its agent's side, after an update of ccbot,
// now makes another one of it.
func renewed(s State, q Request) State {
	if s.Stage == StageOpen && s.Request.Ask.Digest() != q.Ask.Digest() {
		s.Request.Ask, s.AllShown, s.Progress, s.Why = q.Ask, false, Progress{}, nil
	}
	return s
}

// Return reopens a request whose hook waits again.
func Return(s State) State {
	if s.Stage == StageAway {
		s.Stage, s.Since = StageOpen, s.Request.RequestedAt
	}
	return s
}
