package loops

import (
	"strings"
	"time"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
)

// words writes the texts about loops.
type words struct{ chat.Phrases }

const (
	shownCheck = 200 // letters of a check
	shownTail  = 300 // letters of the output of the last check
	shownTask  = 1500
)

// card is the text of a card.
func (w words) card(r port.Session, of port.Loop, p shown) render.Text {
	tasks := ""
	if p.Tasks > 0 && of.State.Live() {
		tasks = w.Say(i18n.StatusTasks, i18n.Args{"Done": p.Done, "All": p.Tasks})
	}
	diff := ""
	if c := p.Changed; c != nil && c.Files > 0 {
		diff = w.Say(i18n.ChangesSum, i18n.Args{"Count": c.Files, "Details": "+" + w.Number(int64(c.Added)) + " −" + w.Number(int64(c.Deleted))})
	}
	worktree := render.Text{}
	if t := of.Worktree; t != nil && t.Dir != "" && !t.Removed {
		worktree = w.Text(i18n.LoopWorktree, i18n.Args{"Dir": render.Code(w.Short(t.Dir))})
	}
	return chat.Paragraphs(chat.Lines(w.title(r, of), worktree, render.Plain(w.used(of)), render.Plain(tasks), render.Plain(diff)),
		chat.Lines(w.check(of.Check), w.last(of.Last)), render.Plain(attention.LoopReason(w.Phrases, of)))
}

// title names the session and the state of a loop.
func (w words) title(r port.Session, of port.Loop) render.Text {
	said := attention.LoopState(w.Phrases, of)
	if of.State == port.LoopWaiting {
		said += " " + w.Until(of.Until)
	}
	return w.Text(i18n.LoopTitle, i18n.Args{"Name": r.Name, "Said": said})
}

// used compares the use of a loop with its bounds.
func (w words) used(of port.Loop) string {
	compared := func(used, most string) string {
		if most == "" {
			return used
		}
		return w.Say(i18n.LoopOf, i18n.Args{"Used": used, "Most": most})
	}
	tokens, cost, until := "", "", ""
	if of.Bounds.Tokens > 0 {
		tokens = w.Rounded(of.Bounds.Tokens)
	}
	if of.Bounds.Cost > 0 {
		cost = w.Dollars(of.Bounds.Cost, 2)
	}
	lines := []string{attention.LoopTurn(w.Phrases, of)}
	if phase := attention.LoopPhase(w.Phrases, of); phase != "" {
		lines = append(lines, phase)
	}
	lines = append(lines, w.Say(i18n.LoopTokens, i18n.Args{"Tokens": compared(w.Rounded(of.Used.Tokens), tokens)}),
		compared(w.Dollars(of.Used.Cost, 2), cost))
	if of.Used.Unpriced {
		lines = append(lines, w.Say(i18n.LoopUnpriced))
	}
	switch {
	case !of.State.Live():
	case of.Bounds.Minutes > 0:
		until = w.Until(of.CreatedAt.Add(time.Duration(of.Bounds.Minutes) * time.Minute))
	case !of.Bounds.Until.IsZero():
		until = w.Until(of.Bounds.Until)
	}
	if until != "" {
		lines = append(lines, until)
	}
	return strings.Join(lines, w.Say(i18n.JoinParts))
}

func (w words) check(command string) render.Text {
	return w.Text(i18n.LoopCheck, i18n.Args{"Check": render.Code(chat.Head(chat.OneLine(glyph.Signs(command)), shownCheck))})
}

// last is the result of the last check, and the end of its output.
func (w words) last(c *port.CheckResult) render.Text {
	if c == nil {
		return render.Text{}
	}
	said := w.Say(i18n.LoopCheckPassed)
	if c.Exit != 0 {
		said = w.Say(i18n.LoopCheckFailed)
		if c.Exit > 0 {
			said = w.Say(i18n.Noted, i18n.Args{"What": said, "Note": w.Say(i18n.LoopExit, i18n.Args{"Exit": c.Exit})})
		}
	}
	tail := render.Text{}
	if out := strings.TrimSpace(chat.Tail(strings.TrimSpace(glyph.Signs(c.Tail)), shownTail)); out != "" && c.Exit != 0 {
		tail = render.Pre(out, "")
	}
	return chat.Lines(render.Plain(w.Say(i18n.Named, i18n.Args{"What": w.Moment(c.At), "Said": said})), tail)
}

// report is the text of a message about a pause or an end.
func (w words) report(r port.Session, of port.Loop) render.Text {
	return chat.Lines(w.title(r, of), render.Plain(attention.LoopReason(w.Phrases, of)), render.Plain(w.used(of)))
}

// options are the buttons of a loop.
func (w words) options(of port.Loop) [][]card.Option {
	var all [][]card.Option
	changes := w.Option(i18n.ButtonChanges, changesOption, "")
	turns := []card.Option{changes}
	if of.Bounds.Turns > 0 {
		turns = append(turns, card.Option{Text: "+" + w.Say(i18n.StatusTurns, i18n.Args{"Count": moreTurns}), Value: turnsOption})
	}
	switch {
	case of.State == port.LoopPaused:
		goOn := i18n.ButtonLoopGoOn
		if of.Reason == port.WhyBarred {
			goOn = i18n.ButtonRunAsMine
		}
		all = append(all, []card.Option{w.Option(goOn, goOnOption, outbox.Primary), w.Option(i18n.ButtonLoopStop, stopOption, "")}, turns)
	case of.State.Live():
		all = append(all, []card.Option{w.Option(i18n.ButtonLoopPause, pauseOption, ""), w.Option(i18n.ButtonLoopStop, stopOption, "")}, turns)
	case of.State == port.LoopExhausted:
		text := w.Say(i18n.ButtonLoopFree)
		if b := more(of, w.Now()); !b.NoCost {
			text = w.Say(i18n.ButtonLoopMore, i18n.Args{"More": w.bound(b)})
		}
		all = append(all, []card.Option{{Text: text, Value: moreOption, Style: outbox.Primary}}, []card.Option{changes})
	default:
		all = append(all, []card.Option{changes})
	}
	return all
}

// bound is a list of bounds in a line.
func (w words) bound(b port.LoopBounds) string {
	var all []string
	if b.Turns > 0 {
		all = append(all, w.Say(i18n.StatusTurns, i18n.Args{"Count": b.Turns}))
	}
	if b.Cost > 0 {
		all = append(all, w.Dollars(b.Cost, 2))
	}
	if b.Minutes > 0 {
		all = append(all, w.span(b.Minutes))
	}
	if !b.Until.IsZero() {
		all = append(all, w.Until(b.Until))
	}
	if b.Tokens > 0 {
		all = append(all, w.Say(i18n.LoopTokens, i18n.Args{"Tokens": w.Rounded(b.Tokens)}))
	}
	return strings.Join(all, w.Say(i18n.JoinParts))
}

// span is a number of minutes; full hours are hours.
func (w words) span(minutes int) string {
	if minutes%60 == 0 {
		return w.Age(time.Duration(minutes) * time.Minute)
	}
	return w.Say(i18n.AgeKey.Of("minutes"), i18n.Args{"Count": minutes})
}
