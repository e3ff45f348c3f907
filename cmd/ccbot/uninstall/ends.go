package uninstall

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/recovery"
)

// Session is a session that has not ended, as far as its record knows.
type Session struct {
	ID     uuid.UUID
	Launch time.Time
	Name   string
	Dir    string
	State  session.State
	Agent  process.Liveness
}

// unendedIn returns the sessions that have not ended, and the reasons why it is not proven that the
// agents of all other sessions have. It is pure.
func unendedIn(w recovery.World) (open []Session, doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if w.Tmux == recovery.TmuxUnknown {
		doubt("tmux does not answer")
	}
	if w.Survey.Writers == nil && len(w.Records) > 0 {
		doubt("it cannot be seen which processes write the conversations of the sessions")
	}
	known := make(map[string]bool)
	for _, r := range w.Records {
		known[r.ID.String()] = true
		name := terminal.Printable(r.Name)
		switch {
		case !r.State.HasEnded():
			open = append(open, Session{r.ID, r.StartedAt, r.Name, r.Dir, r.State, agentOf(w, r)})
			continue
		case r.HandedOver():
			continue
		case agentOf(w, r) != process.Gone:
			doubt("%s is %s, and it is not proven that process %d, its agent, has ended", name, r.State, r.Agent().PID)
		}
		for _, left := range w.Survey.Writers[r.ID] {
			if left.Standing == evidence.Leftover {
				doubt("%s is %s, and process %d of it runs; `ccbot recover` ends what is left over", name, r.State, left.PID)
			}
		}
	}
	for _, a := range w.Unloaded {
		known[a.ID.String()] = true
		doubt("it is not known whether the agent of a session lives: %s", terminal.Printable(offline.Describe(a)))
	}
	for _, p := range w.Panes {
		id, ours := strings.CutPrefix(p.Tag, w.Instance+"/")
		if w.Instance != "" && ours && !known[id] && !p.Dead {
			doubt("window %s has the tag of a session without a record; end what runs in it", p.Window)
		}
	}
	return open, doubts
}

// agentOf returns the liveness of a record's agent. A session that has not ended may have an agent
// that is not bound.
func agentOf(w recovery.World, r session.Record) process.Liveness {
	switch {
	case r.Agent().Valid():
		return w.Survey.Agents[r.ID]
	case r.State.HasEnded():
		return process.Gone
	}
	return process.Unknown
}
