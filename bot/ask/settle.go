package ask

import (
	"strings"
	"time"

	"ccbot/internal/transcript"
)

// patience is how long a card may stay unsettled. Hooks wait a day; what the transcript does not say an hour later, it
// will not say.
const patience = 25 * time.Hour

// Settle takes in what the transcript says became of the request; the card is over when that is known. gone: the
// session's agent has ended, or the session is over, so that nothing more is to come. found is FindOutcome's.
func Settle(c Card, o transcript.Outcome, found bool, gone bool, now time.Time) Card {
	if c.IsOver() {
		return c
	}
	var outcome Outcome
	switch {
	case found && known(o):
		outcome = settled(c, o)
	case gone && c.Decision != nil:
		outcome = Outcome{What: Unknown}
	case gone:
		outcome = Outcome{What: Ended}
	case now.Sub(c.Request.Asked) < patience:
		return c
	case c.Decision != nil:
		outcome = Outcome{What: Unknown}
	default:
		outcome = Outcome{What: Expired}
	}
	c = c.clone()
	c.State, c.Outcome, c.Over, c.Why = StateOver, outcome, now.UTC(), nil
	return c
}

// known: a decision of a hook stands before the result, which may take hours.
func known(o transcript.Outcome) bool { return o.Done || o.Interrupted || o.ByHook != "" }

func settled(c Card, o transcript.Outcome) Outcome {
	chat := took(c, o)
	out := Outcome{Chat: chat, Late: c.Decision != nil && !chat}
	switch {
	case chat && !c.Decision.Allows():
		out.What = Denied
	case chat && c.Request.IsQuestion():
		out.What = Answered
	case chat:
		out.What = Allowed
	case o.Interrupted: // perhaps only after the decision: an Esc while the tool ran looks the same
		out.What, out.Late = Interrupted, false
	case o.ByHook == "deny", o.Denial != "":
		out.What = Denied
	case c.Request.IsQuestion():
		out.What = Answered
		out.Said, _ = clip(visible(o.Text), maxSaid)
	default:
		out.What = Allowed // a tool that ran and failed was allowed too
	}
	return out
}

// took says that Claude Code took this card's own decision.
func took(c Card, o transcript.Outcome) bool {
	d := c.Decision
	switch {
	case d == nil:
		return false
	case o.ByHook != "":
		return o.ByHook == d.Behavior
	}
	return !d.Allows() && d.Message != "" && strings.Contains(o.Text, d.Message)
}

// Leave is for a card whose hook does not wait any more. A decision that is on its way stays so: the transcript says
// whether it arrived.
func Leave(c Card) Card {
	if c.State == StateOpen {
		c = c.clone()
		c.State, c.Why = StateAway, nil
	}
	return c
}

// Return is for a card whose hook waits again.
func Return(c Card) Card {
	if c.State == StateAway {
		c = c.clone()
		c.State = StateOpen
	}
	return c
}
