package turn

import (
	"fmt"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/talk"
)

const (
	shownLine = 44 // letters of a step: a line of a phone
	between   = " · "
)

// The signs of steps and subagents.
const (
	signRuns   = "▸"
	signDone   = "✓"
	signFailed = "✗"
	signAgent  = "◆"
)

// words builds the texts of a card.
type words struct{ chat.Phrases }

// running is the card of a turn that runs.
func (w words) running(s *state, r port.Session) render.Text {
	does := w.NowText(s.Now)
	if s.Now.Until.IsZero() && s.Now.Phase != talk.PhaseUnknown {
		does = w.Say(i18n.TurnSince, i18n.Args{"State": does, "Since": w.Since(s.Since)})
	}
	lines := []render.Text{render.Join(render.Bold(chat.ShownName(r.Name)), render.Plain(between+does))}
	var with []string
	if r.Product != "" {
		with = append(with, r.Product)
	}
	if s.Model != "" {
		with = append(with, chat.Head(glyph.Name(s.Model), shownLine))
	}
	if s.Context >= 0 {
		with = append(with, w.Say(i18n.ListContext, i18n.Args{"Percent": w.Percent(s.Context)}))
	}
	if s.Edits {
		with = append(with, w.Say(i18n.TurnEdits))
	}
	lines = append(lines, render.Plain(strings.Join(with, between)))
	var steps []render.Text
	if t := s.Todo; t != nil && t.All > 0 {
		text := w.Number(int64(t.Done)) + "/" + w.Number(int64(t.All))
		if t.Item != "" {
			text = w.Say(i18n.Named, i18n.Args{"What": text, "Said": chat.Head(glyph.Name(t.Item), shownLine)})
		}
		steps = append(steps, render.Plain("☰ "+text))
	}
	for _, agents := range []bool{false, true} {
		for _, one := range s.Steps {
			if one.Agent == agents {
				steps = append(steps, w.step(one, r))
			}
		}
	}
	return chat.Paragraphs(chat.Lines(lines...), chat.Lines(steps...), w.waiting(s.waits))
}

// shownWaits is the number of waiting prompts that are listed.
const shownWaits = 3

func (w words) waiting(all []string) render.Text {
	if len(all) == 0 {
		return render.Text{}
	}
	var lines []string
	for i, line := range all {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, chat.Head(line, shownLine)))
	}
	count := w.Say(i18n.TurnWaiting, i18n.Args{"Count": len(all)})
	return render.Plain(count + "\n" + w.First(shownWaits, lines, "\n"))
}

// step is one step in a line. As code nothing in it can be tapped.
func (w words) step(one step, r port.Session) render.Text {
	sign := signRuns
	switch {
	case one.Failed:
		sign = signFailed
	case !one.Ended.IsZero():
		sign = signDone
	case one.Agent:
		sign = signAgent
	}
	took := ""
	if d := one.Ended.Sub(one.Began); !one.Ended.IsZero() && d >= time.Second {
		took = between + w.took(d)
	}
	return render.Join(render.Plain(sign+" "), render.Code(w.line(one.Line, r)), render.Plain(took))
}

// line is a call in one line, seen from the session's folders.
func (w words) line(line string, r port.Session) string {
	for _, dir := range []string{r.Dir, r.Start} {
		if dir != "" && dir != "/" {
			line = strings.ReplaceAll(line, dir+"/", "")
		}
	}
	return chat.Head(strings.TrimSpace(glyph.Name(line)), shownLine)
}

// took is a duration in its two largest units.
func (w words) took(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	large := w.Age(d)
	var rest time.Duration
	switch {
	case d >= time.Hour && d < 24*time.Hour:
		rest = d % time.Hour / time.Minute * time.Minute
	case d >= time.Minute && d < time.Hour:
		rest = d % time.Minute
	}
	if rest == 0 {
		return large
	}
	return large + " " + w.Age(rest)
}

var endings = map[talk.Ending]i18n.Key{talk.EndedTurn: i18n.TurnEnded, talk.StoppedTurn: i18n.TurnStopped, talk.FailedTurn: i18n.TurnFailed, cut: i18n.TurnOver}

// ended returns the card of a finished turn. In a topic it does not name the session.
func (w words) ended(s *state, r port.Session, topic bool) render.Text {
	said := []string{w.Say(endings[s.End], i18n.Args{"Took": w.took(s.Ended.Sub(s.Began))})}
	if s.Count > 0 {
		said = append(said, w.Say(i18n.TurnSteps, i18n.Args{"Count": s.Count}))
	}
	if s.Failed > 0 {
		said = append(said, w.Say(i18n.TurnStepsFailed, i18n.Args{"Count": s.Failed}))
	}
	if s.Files > 0 {
		said = append(said, w.Say(i18n.TurnFiles, i18n.Args{"Count": s.Files, "Added": s.Added, "Removed": s.Removed}))
	}
	if s.Cost >= 0.005 {
		said = append(said, w.Dollars(s.Cost, 2))
	}
	text := render.Plain(strings.Join(said, between))
	if topic {
		return text
	}
	return render.Join(render.Bold(chat.ShownName(r.Name)), render.Plain(between), text)
}
