package ask

import (
	"strings"
	"time"

	"ccbot/bot/port/decisions"
	"ccbot/internal/glyph"
)

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
		out.Hook, out.Late = o.ByHook != "", c.Decision != nil
	}
	switch {
	case chat && !c.Decision.Allows():
		out.What = Denied
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

// Return is for a card whose hook waits again.
func Return(c Card) Card {
	if c.State == StateAway {
		c.State, c.Since = StateOpen, c.Request.Asked
	}
	return c
}
