package recovery

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// after is the world as it is once the actions are carried out.
func (w World) after(actions []Action) World {
	w = w.clone()
	for _, a := range actions {
		i := slices.IndexFunc(w.Records, func(r session.Record) bool { return r.ID == a.Record })
		r := &w.Records[i]
		switch a.Do {
		case lifecycle.Discard:
			w.Records = slices.Delete(w.Records, i, i+1)
			continue
		case TakeOver:
			takeOver(r, a, w)
			w.adopted(*r)
			continue
		case lifecycle.FinishStop, lifecycle.EndLeftovers:
			w.endLeftovers(r.ID)
		case lifecycle.Conclude:
			w.noLeftovers(r.ID)
		}
		change(r, a, w)
		w.Watched[r.ID] = w.Watched[r.ID] || a.Do == lifecycle.Reattach || a.Do == lifecycle.Bind
	}
	return w
}

// change applies an action to its record. The model and the fake lifecycle share it.
func change(r *session.Record, a Action, w World) {
	switch a.Do {
	case lifecycle.Bind:
		r.Binding = &session.Binding{Server: session.Server(w.Server), Window: a.Pane.Window.String(), Pane: a.Pane.ID.String(),
			Agent: process.Identity{PID: a.Pane.PID, Start: 1, Boot: "boot"}}
	case lifecycle.MarkLost:
		if r.State != session.Running {
			r.State = session.Failed // it was never ready
		} else {
			r.State = session.Lost
		}
		r.Binding, r.ClosedReason = nil, a.Closed
	case lifecycle.Conclude:
		if r.State == session.Running {
			r.State = session.Completed
		} else {
			r.State = session.Failed
		}
		r.Binding, r.EndedAt = nil, w.Now
	case Abandon:
		r.State, r.Binding, r.ClosedReason = session.Abandoned, nil, ""
	case lifecycle.Fail, lifecycle.FinishRestore: // its launch ends at once
		r.State, r.Binding = session.Failed, nil
	case lifecycle.FinishStop:
		r.State, r.Binding, r.EndedAt = session.Archived, nil, w.Now
	case lifecycle.EndLeftovers:
		r.Cleanup = nil
	}
}

// takeOver binds a session to the agent that continues its conversation.
func takeOver(r *session.Record, a Action, w World) {
	r.State, r.ClosedReason = session.Running, ""
	r.Binding = &session.Binding{Server: session.Server(w.Server), Window: a.Pane.Window.String(), Pane: a.Pane.ID.String(), Agent: a.Agent,
		Adopted: true, BoundAt: w.Now}
	if a.Pane.PID != a.Agent.PID {
		r.Binding.Shell = a.Pane.PID
	}
}

// adopted makes a process a session's agent: no other writer may be ended.
func (w World) adopted(target session.Record) {
	w.Watched[target.ID], w.Survey.Agents[target.ID] = true, process.Alive
	w.Signs[target.ID] = Sign{w.Now, "bound_at"}
	for _, r := range w.Records {
		for i, one := range w.Survey.Writers[r.ID] {
			if one.Identity == target.Binding.Agent {
				w.Survey.Writers[r.ID][i].Spared = evidence.ReasonOtherAgent
			}
		}
	}
}

// noLeftovers makes every writer of a session a person's: its end was not seen.
func (w World) noLeftovers(id uuid.UUID) {
	for i := range w.Survey.Writers[id] {
		w.Survey.Writers[id][i].Standing = evidence.Second
	}
}

// endLeftovers takes the leftovers of a session out of the world.
func (w World) endLeftovers(id uuid.UUID) (ended []process.Identity) {
	for _, one := range w.Survey.Writers[id] {
		if one.Standing == evidence.Leftover && one.Endable() {
			ended = append(ended, one.Identity)
		}
	}
	for id := range w.Survey.Writers {
		w.Survey.Writers[id] = slices.DeleteFunc(w.Survey.Writers[id], func(one evidence.Writer) bool { return slices.Contains(ended, one.Identity) })
	}
	return ended
}

// recovered is the world after a whole recovery: what connects records with
// processes comes first, and then another plan is made. Nothing can be done with
// the records in stuck but to remove them.
func (w World) recovered(stuck map[uuid.UUID]bool) World {
	for _, first := range []bool{true, false} {
		actions, _ := Plan(w)
		w = w.after(slices.DeleteFunc(actions, func(a Action) bool {
			return binds(a.Do) != first || stuck[a.Record] && a.Do.Changes() && a.Do != lifecycle.Discard
		}))
	}
	return w
}
