package lifecycle

import (
	"slices"
	"time"

	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Times that pace the life of a session. None of them ends anything.
const (
	presenceGrace = 5 * time.Second  // how long a start waits for a presence file
	StartNotice   = 10 * time.Second // an agent that is not ready after this time is reported
)

// These are the acts besides those that Decide returns and those of typing.
const (
	actNothing   Do = ""
	actReady     Do = "ready"      // starting or restoring → running
	actNotReport Do = "not_report" // report that the agent is not ready yet
	actDialog    Do = "dialog"     // report what the terminal asks
	actGrant     Do = "grant"      // carry out what a person wants the agent to run with
	actTidy      Do = "tidy"       // there is nothing else to do: end the processes that killed ones left running
)

// decision is one act. Why is the reason for waiting if the act is to hold the head prompt. Again
// is the time of the next check at the latest; 0 means that only news wakes the session.
type decision struct {
	Act   Do
	Why   news.Wait
	Again time.Duration
}

// decide determines the next act of a session from one View. head is the prompt to type next, nil
// if none waits. It is pure.
func decide(r session.Record, v view.View, head *typing.Prompt) decision {
	return decideTidy(r, v, head, decideLife(r, v, head))
}

func decideLife(r session.Record, v view.View, head *typing.Prompt) decision {
	d := Decide(r, factsOf(v))
	if d.Do != Reattach && d.Do != "" || !r.State.Open() {
		return decision{Act: d.Do, Again: d.Again}
	}
	if r.State != session.Running {
		return decideStart(r, v, head)
	}
	if d, first := decideModeChange(r, v, head); first {
		return d
	}
	if v.DialogOpen() {
		return decideDialog(r, v, head)
	}
	if head == nil && v.Agent == process.Gone {
		return decision{Again: 2 * time.Second} // the kernel reports an end earlier than tmux
	}
	if head == nil && v.Agent == process.Unknown {
		return decision{Again: view.Slow} // nothing reports that it becomes known
	}
	if head == nil && v.State.Word != "" {
		return decision{Again: view.HoldPace} // the screen decides, and nothing reports that it changes
	}
	if head == nil {
		return decision{}
	}
	t := typing.Decide(r, v, head)
	return decision{Act: Do(t.Act), Why: t.Why, Again: t.Again}
}

// RetryMost is the longest pause between two tries of a cleanup.
const RetryMost = time.Hour

// retryAfter is the pause before the next try of a cleanup that failed: a minute, doubled each
// time, at most an hour.
func retryAfter(attempts int) time.Duration {
	return pause.Doubled(time.Minute, RetryMost, attempts-1)
}

// tidyPace is the pause between two attempts to end the processes that killed ones left running.
const tidyPace = time.Minute

// decideTidy uses a moment in which there is nothing else to do to end the processes that killed
// ones left running. A stop and its retries end these processes themselves.
func decideTidy(r session.Record, v view.View, head *typing.Prompt, d decision) decision {
	if len(r.Descendants) == 0 || r.State == session.Stopping || r.State == session.CleanupFailed {
		return d
	}
	reported := d.Act == Do(typing.Hold) && head != nil && slices.Contains(head.Reported, d.Why)
	wait := tidyPace - v.Now.Sub(v.Tidied)
	if wait <= 0 || wait > tidyPace { // the second case: the clock was set back
		wait = tidyPace
		if d.Act == actNothing || reported {
			d.Act, d.Why = actTidy, ""
		}
	}
	if d.Again == 0 || d.Again > wait {
		d.Again = wait
	}
	return d
}

// decideStart waits until the agent is ready: it has reported in, is idle, shows an empty prompt
// box and asks nothing.
func decideStart(r session.Record, v view.View, head *typing.Prompt) decision {
	age := v.Now.Sub(r.StartedAt)
	switch {
	case v.TypeSafe() && isUp(r, v, age):
		return decision{Act: actReady, Again: view.Soon}
	case v.DialogOpen():
		d := decideDialog(r, v, head)
		d.Again = min(d.Again, backoff(age))
		return d
	case age >= StartNotice && v.Settles > 0:
		return decision{Again: v.Settles}
	case age >= StartNotice:
		return decision{Act: actNotReport, Again: backoff(age)}
	}
	return decision{Again: backoff(age)}
}

// isUp reports whether an agent with a free prompt box has started. A server has a conversation once its
// terminal has asked all that it asks at a start: a slow one draws its box before that.
func isUp(r session.Record, v view.View, age time.Duration) bool {
	if v.ByServer {
		return v.State.Decides() || v.State.Known != view.StateUnwritten && age >= presenceGrace
	}
	return age >= presenceGrace || !r.ReportsAt.IsZero() && v.State.Decides()
}

// backoff returns the pause between two checks of a slow start: a tenth of its age, between Soon
// and half a minute.
func backoff(age time.Duration) time.Duration {
	return min(max(age/10, view.Soon), 30*time.Second)
}

// decideDialog reports the terminal's question, unless the chat has it as a request or will soon
// have it.
func decideDialog(r session.Record, v view.View, head *typing.Prompt) decision {
	held := head != nil && head.IsWaiting()
	wait := dialog.RelayWait(r, v)
	switch {
	// The presence file is ahead of the screen, which still shows an answered dialog or not yet the
	// open one.
	case v.IsFresh(view.Drawn) && (v.Screen.Dialog == nil || !v.State.Phase.Waiting()):
		return decision{Again: view.Soon}
	case !held && typing.HasOpened(v, head):
		return decision{Act: Do(typing.Proven), Again: view.Soon}
	case v.Relayed && held:
		return decision{Act: Do(typing.Hold), Why: news.HeldDialog, Again: view.Slow}
	case v.Relayed && head.AwaitsReceipt(v):
		return decision{Act: Do(typing.Settle), Again: view.Soon}
	case v.Relayed:
		return decision{Again: view.Slow}
	case wait > 0:
		return decision{Again: wait}
	case v.Settles > 0:
		return decision{Again: v.Settles}
	case held:
		return decision{Act: actDialog, Why: news.HeldDialog, Again: view.Slow}
	}
	if head.IsEntered() && v.Now.Sub(head.Mark.At) < typing.ProofWait {
		return decision{Act: actDialog, Again: typing.EnterRetry} // the proof that the prompt arrived may still come
	}
	return decision{Act: actDialog, Again: view.Slow}
}

// decideModeChange decides a step for a request of a mode or a model. first is false if the request
// changes nothing now. A request comes before the next prompt, and never between a prompt and its
// proof.
func decideModeChange(r session.Record, v view.View, head *typing.Prompt) (d decision, first bool) {
	switch {
	case r.ModeRequest == nil || r.Binding == nil, head != nil && head.State == typing.Typing:
		return decision{}, false
	case r.ModeRequest.Agent != r.Binding.Agent, dialog.TakesModeKeys(r, v), dialog.OwnModels(r, v):
		return decision{Act: actGrant, Again: view.Soon}, true
	case v.DialogOpen():
		return decision{}, false
	case v.TypeSafe() && view.TakesKeys(r, v): // agents in the background work, or a request has just come
		return decision{Act: Do(typing.Hold), Why: news.Queued, Again: view.HoldPace}, true
	case head == nil && (v.Phase() != talk.PhaseWorking || !v.State.Decides()):
		return decision{Again: view.HoldPace}, true // nothing reports that a draft is gone
	}
	return decision{}, false
}
