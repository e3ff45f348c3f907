package host

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot/port/phase"
	"ccbot/bot/port/views"
	"ccbot/internal/clip"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// Work returns what the agent of a session has done.
func (m Sessions) Work(ctx context.Context, id uuid.UUID) views.Work {
	r, ok := m.Records.Get(id)
	if !ok {
		return views.Work{}
	}
	w := m.Brief(ctx, id)
	w.Git = gitOf(ctx, m.Git, r)
	if m.Memory != nil && r.State.Live() {
		w.Memory = m.Memory(ctx, m.Observer.PIDs(ctx, r)...)
	}
	return w
}

// Brief is Work without what git and the kernel say.
func (m Sessions) Brief(_ context.Context, id uuid.UUID) views.Work {
	r, ok := m.Records.Get(id)
	if !ok {
		return views.Work{}
	}
	p := r.Progress
	path := p.Path
	if c, ok := r.Cursor(); ok && filepath.Base(c.Path) == r.ClaudeSessionID.String()+".jsonl" { // otherwise it is the transcript before a /clear
		path = c.Path
	}
	p, err := p.Advance(path) // on an error the values in the record, as of the last change of the phase, are better than nothing
	w := views.Work{Phase: phase.Phase(r.Phase), PhaseAt: r.PhaseAt, Model: p.Model, Permissions: p.PermissionMode, Turns: p.Turns,
		Tokens: views.Tokens(p.Tokens), Partly: p.From > 0}
	if w.Failed.Phase = phase.Unknown; err == nil && path != "" && p.Path == path {
		w.Failed = lifecycle.After(p.Failed)
	}
	for _, t := range p.Tasks {
		w.Tasks = append(w.Tasks, views.Task(t))
	}
	if l := r.Launch; l != nil {
		w.Flags = l.Flags
	}
	if w.Usage = m.Usage(id); w.Usage != nil {
		w.Model = cmp.Or(w.Usage.Model, w.Model)
	}
	return w
}

// Usage is what the agent's status line says, or has said at last; nil: that is not known.
func (m Sessions) Usage(id uuid.UUID) *views.Usage {
	r, _ := m.Records.Get(id)
	u := r.Usage
	if r.State.Live() {
		u = cmp.Or(m.Observer.Usage(r), u)
	}
	if u == nil {
		return nil
	}
	return usageOf(*u)
}

// askedRoom bounds what is shown of a prompt, in letters.
const askedRoom = 1000

// asked is the beginning of the last prompt in a transcript; empty: none was found.
func asked(ctx context.Context, path string) string {
	return clip.Runes(transcript.LastPrompt(ctx, path), askedRoom)
}

func usageOf(u session.Usage) *views.Usage {
	return &views.Usage{Model: u.Model, Context: u.Context, Cost: u.Cost}
}

// gitOf asks git about a session's folder; nil where git does not answer.
func gitOf(ctx context.Context, look func(ctx context.Context, dir, since string) (*git.State, *git.Changes, error), r session.Record) *views.Git {
	if look == nil {
		return nil
	}
	start := ""
	if r.GitStart != nil {
		start = r.GitStart.Head
	}
	state, changes, err := look(ctx, r.Dir, start)
	switch {
	case state == nil && err != nil:
		return nil
	case state == nil:
		return &views.Git{}
	}
	g := &views.Git{Root: state.Root, Branch: state.Branch, Head: state.Head, Dirty: state.Dirty, At: state.At, Start: start}
	if changes != nil {
		shown := views.Changes(*changes)
		g.Changes = &shown
	}
	return g
}
