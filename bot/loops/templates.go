package loops

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
)

// from is the template that a person has chosen. Its task, check and bounds were copied with its
// text.
type from struct {
	Name   string           `json:"name"`
	Text   string           `json:"text,omitempty"`
	Fault  string           `json:"fault,omitempty"`
	Terms  port.LoopTerms   `json:"terms,omitzero"`
	Phases port.LoopPhases  `json:"phases,omitzero"`
	Copy   *port.LoopSource `json:"copy,omitempty"`
}

const (
	templateOption = "template:"
	maxOffered     = 12 // templates as buttons
	offeredPerRow  = 2
)

// offered are the templates as buttons. If they cannot be read, there are none: a person may reply
// with the task.
func (l *Loops) offered(ctx context.Context, to place, r port.Session) [][]card.Option {
	all, err := l.Templates.Templates(ctx, r.ID, l.Chat.In(to).Now())
	if err != nil {
		l.Chat.Log.Warn("loop_templates_unread", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
	var buttons []card.Option
	for _, t := range all[:min(len(all), maxOffered)] {
		buttons = append(buttons, card.Option{Text: t.Name, Value: templateOption + t.Name})
	}
	return chat.Rows(offeredPerRow, buttons...)
}

// chooseTemplate copies a template into the page, which then shows all of its text.
func (l *Loops) chooseTemplate(ctx context.Context, to place, v wanted, name string) (chat.Answer, string, error) {
	all, err := l.Templates.Templates(ctx, v.Session, l.Chat.In(to).Now())
	if err != nil {
		return chat.Answer{}, "", err
	}
	v.Of = nil // it was removed
	for _, t := range all {
		if t.Name != name {
			continue
		}
		q := t.Wanted
		v.Of = &from{Name: t.Name, Fault: t.Fault}
		if t.Fault == "" {
			v.Of.Text, v.Of.Terms, v.Of.Phases, v.Of.Copy = t.Text, q.LoopTerms, q.Phases, q.Template
			v.Task, v.Check, v.Bounds, v.Worktree = q.Task, q.Check, q.Bounds, q.Worktree
		}
	}
	return chat.Answer{}, v.address(), nil
}

// request is the request that the page has, of a person.
func (v wanted) request(by int64) port.LoopRequest {
	q := port.LoopRequest{Key: v.Key, Session: v.Session, Task: v.Task, Check: v.Check, Bounds: v.Bounds, Worktree: v.Worktree, By: by}
	if v.Of != nil && v.Of.Copy != nil {
		q.LoopTerms, q.Phases, q.Template = v.Of.Terms, v.Of.Phases, v.Of.Copy
	}
	return q
}

// refused reports why the chosen template cannot be used.
func (w words) refused(of *from) render.Text {
	if of == nil || of.Fault == "" {
		return render.Text{}
	}
	return render.Plain(chat.Warning + w.Say(i18n.LoopTemplateBad, i18n.Args{"Name": of.Name, "Detail": of.Fault}))
}

// wanted is the task, or the whole text of the template.
func (w words) wanted(v wanted) render.Text {
	if v.Of == nil {
		return w.task(v.Task)
	}
	key := i18n.LoopTemplateOwn
	if v.Of.Copy.Repo != "" {
		key = i18n.LoopTemplateRepo
	}
	return chat.Lines(render.Plain(w.Say(key, i18n.Args{"Name": v.Of.Name})), render.Pre(glyph.LeftToRight(glyph.Block(v.Of.Text)), ""))
}
