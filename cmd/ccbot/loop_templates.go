package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/loop"
	"ccbot/loop/template"
	"ccbot/port"
)

// shownTemplate is a template as the verb prints it.
type shownTemplate struct {
	Name  string `json:"name"`
	Repo  string `json:"repository,omitempty"`
	Known bool   `json:"known"` // it starts without being shown
	Fault string `json:"fault,omitempty"`
	Text  string `json:"text,omitempty"`
}

func (c loopVerbs) templatesCommand() *cobra.Command {
	return &cobra.Command{Use: "templates NAME|ID", Args: oneSession, Short: "List the templates for the loops of a session",
		Example: "  ccbot loop templates api",
		RunE: func(_ *cobra.Command, args []string) error {
			_, r, err := c.session(args[0], offline.AnySession)
			if err != nil {
				return err
			}
			all, err := c.templates(r)
			if err != nil {
				return err
			}
			shown := make([]shownTemplate, 0, len(all))
			for _, t := range all {
				shown = append(shown, shownTemplate{t.Name, t.Repo, t.Known, t.Fault, t.Text})
			}
			return c.show(shown, func(p *terminal.Printer) {
				for _, s := range shown {
					p.Line("%s%s%s", s.Name, terminal.Words(": of ", terminal.Printable(s.Repo), ""), terminal.Words(": not usable: ", terminal.Printable(s.Fault), ""))
				}
			})
		}}
}

// templates reads the templates for a session. The running bot is not asked.
func (c loopVerbs) templates(r port.Session) ([]port.LoopTemplate, error) {
	d, err := offline.Open(c.environ, c.stderr)
	if err != nil {
		return nil, err
	}
	loops, err := c.all()
	if err != nil {
		return nil, err
	}
	now, err := c.now()
	if err != nil {
		return nil, err
	}
	all := template.Source{Own: offline.LoopTemplates(d.Dir)}.Templates(r.Dir, now)
	return template.WithKnown(all, each.As(loops, func(l loop.Loop) port.Loop { return l.Loop })), nil
}

// fromTemplate completes a request from a template, and shows the bounds of the result. Flags of
// the request win, each over the same part of the template. The text of a repository's template is
// shown in full, unless the last loop from it had the same; then a person is asked.
func (c loopVerbs) fromTemplate(flags *pflag.FlagSet, q *loopStart, r port.Session) (shown bool, err error) {
	all, err := c.templates(r)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(t port.LoopTemplate) bool { return t.Name == q.template })
	switch {
	case i < 0:
		return false, fmt.Errorf("there is no template %q; see `ccbot loop templates %s`", q.template, terminal.Printable(r.Name))
	case all[i].Fault != "":
		return false, fmt.Errorf("the template %s cannot be used: %s", q.template, terminal.Printable(all[i].Fault))
	}
	t := all[i]
	q.complete(flags, t.Wanted)
	p := &terminal.Printer{Out: c.stderr}
	if !t.Known {
		p.Line("%s of %s is a file of the repository: whoever writes there may have changed it, also the agent.\n", t.Name, terminal.Printable(t.Repo))
		p.Line("%s\n", glyph.LeftToRight(glyph.Block(t.Text)))
		p.Line("check: %s", glyph.LeftToRight(glyph.Block(q.Check)))
	}
	p.Line("bounds: %s", show.Bounds(q.Bounds))
	return !t.Known, p.Err
}

// complete takes from a template what no flag gives. A flag may give the empty value.
func (q *loopStart) complete(flags *pflag.FlagSet, t port.LoopRequest) {
	q.Task = cmp.Or(q.Task, t.Task)
	q.Phases, q.Template = t.Phases, t.Template
	b := &q.Bounds
	for flag, take := range map[string]func(){
		"check":       func() { q.Check = t.Check },
		"stop-word":   func() { q.StopWord = t.StopWord },
		"todo":        func() { q.ToDo = t.ToDo },
		"worktree":    func() { q.Worktree = t.Worktree },
		"max-turns":   func() { b.Turns = t.Bounds.Turns },
		"max-tokens":  func() { b.Tokens = t.Bounds.Tokens },
		"max-cost":    func() { b.Cost = t.Bounds.Cost },
		"no-cost":     func() { b.NoCost = t.Bounds.NoCost },
		"max-minutes": func() { b.Minutes = t.Bounds.Minutes },
		"until":       func() { b.Until = t.Bounds.Until },
	} {
		if !flags.Changed(flag) {
			take()
		}
	}
}
