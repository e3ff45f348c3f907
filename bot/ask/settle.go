package ask

import (
	"strings"
	"time"

	"ccbot/bot/port/decisions"
	"ccbot/bot/tool"
	"ccbot/internal/glyph"
)

// HookWait is about how long a hook waits for a decision: its timeout is a day.
const HookWait = 24*time.Hour - time.Minute

// patience is how long a card may stay unsettled since it was asked, or decided. What the
// transcript does not say an hour after the longest wait, it will not say.
const patience = 25 * time.Hour

// awayPatience is how long a card that nobody decided here may stay away: the dialog was answered
// or is left to the desk.
const awayPatience = 30 * time.Minute

// Settle takes in what the transcript says became of the request; the card is over when that is
// known. gone: the session's agent has ended, or the session is over, so that nothing more is to
// come. found says whether the transcript has the call.
func Settle(c Card, o decisions.Outcome, found bool, gone bool, now time.Time) Card {
	if c.IsOver() {
		return c
	}
	since, limit := c.Request.Asked, patience
	switch {
	case c.Decision != nil:
		since = c.DecidedAt
	case c.State == StateAway && !c.AwayAt.IsZero():
		since, limit = c.AwayAt, awayPatience
	}
	var outcome Outcome
	switch {
	case found && known(o):
		outcome = settled(c, o)
	case gone && c.Decision == nil:
		outcome = Outcome{What: Ended}
	case !gone && now.Sub(since) < limit:
		return c
	case c.Decision == nil && (c.State == StateOpen || c.Away == WaitedOut):
		outcome = Outcome{What: Expired}
	default:
		outcome = Outcome{What: Unknown}
	}
	return c.over(outcome, now)
}

// isHalf says whether the next line of the transcript may say that the person interrupted the agent.
func isHalf(o decisions.Outcome) bool {
	return o.Denial == "user-rejected" && !o.Interrupted && o.ByHook == ""
}

// GiveWay is for a card of which nothing more is to be known: one that takes the place of a new one, or crashed.
func GiveWay(c Card, now time.Time) Card { return c.over(Outcome{What: Unknown}, now) }

func (c Card) over(outcome Outcome, now time.Time) Card {
	c = c.clone()
	c.State, c.Outcome, c.Over, c.Why, c.Unheard, c.Away = StateOver, outcome, now.UTC(), nil, false, ""
	return c
}

// known: a decision of a hook stands before the result, which may take hours.
func known(o decisions.Outcome) bool { return o.Done || o.Interrupted || o.ByHook != "" }

func settled(c Card, o decisions.Outcome) Outcome {
	chat := took(c, o)
	out := Outcome{Chat: chat, Hook: o.ByHook != "" && !chat, Late: c.Decision != nil && !chat}
	switch {
	case chat && !c.Decision.Allows():
		out.What = Denied
	case chat && c.Request.IsQuestion():
		out.What = Answered
	case chat:
		out.What = Allowed
	case o.Interrupted: // perhaps only after the decision: an Esc while the tool ran looks the same
		out = Outcome{What: Interrupted}
	case o.ByHook == "deny", o.Denial != "":
		out.What = Denied
	case c.Request.IsQuestion():
		out.What = Answered
		out.Said, _ = tool.Clip(glyph.Signs(o.Text), maxSaid)
	default:
		out.What = Allowed // a tool that ran and failed was allowed too
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

// Leave is for an open card whose hook does not wait any more. A decision that is on its way stays
// so: the transcript says whether it arrived.
func Leave(c Card, why Cause) Card {
	if c.State == StateOpen {
		c = c.clone()
		c.State, c.Away, c.Why, c.Unheard = StateAway, why, nil, false
	}
	return c
}

// Lose is for a card whose hook has not come back. Its decision, if there is one, stays: the hook
// may come yet.
func Lose(c Card) Card {
	if c.State == StateSent {
		c = c.clone()
		c.State, c.Away = StateAway, HookLeft
	}
	return Leave(c, HookLeft)
}

// Return is for a card whose hook waits again: for the decision that it has, or for a person's.
func Return(c Card) Card {
	if c.State == StateAway {
		c = c.clone()
		c.State, c.Away, c.AwayAt = StateOpen, "", time.Time{}
		if c.Decision != nil {
			c.State = StateSent
		}
	}
	return c
}
