package socket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/control"
	"ccbot/internal/process"
)

// scriptVerbs are the verbs that a program without a terminal may use if CCBOT_ALLOW_SCRIPTS is
// set.
var scriptVerbs = []string{verbPing, "new", "prompt", "resume"}

// agentVariables are in the environment of an agent and of all that it starts, unless a program
// removes them.
var agentVariables = []string{"CCBOT_LAUNCH=", "CLAUDECODE="}

// Scripts lets programs without a terminal use the verbs in scriptVerbs.
type Scripts struct {
	// Agents returns the processes of the agents and of the tmux server: all that an agent starts
	// is born in the cgroup of one of them.
	Agents func() []process.Identity
	Table  interface {
		Inspect(pid int) (process.Process, error)
		Origin(id process.Identity) (process.Origin, error)
	}
	// Report shows in the chat, durably, that a program uses a verb. session is the one that the call
	// is about; the zero id: about a new one.
	Report func(ctx context.Context, verb string, session uuid.UUID, program process.Process) error
}

// sessionIn returns the session that the body of a call names; the zero id: none.
func sessionIn(body json.RawMessage) uuid.UUID {
	var names struct {
		ID      uuid.UUID `json:"session_id"` // of prompt
		Session uuid.UUID `json:"session"`    // of resume
	}
	if json.Unmarshal(body, &names) != nil {
		return uuid.Nil
	}
	return cmp.Or(names.ID, names.Session)
}

// permit refuses a program that an agent may have started, or has unknown ancestors. No agent is
// among its ancestors. The environment of each ancestor counts, and so does the place in which an
// orphan was born: an agent's program that has detached itself has another parent, but it stays in
// the cgroup of the agent.
func (s *Scripts) permit(p control.Peer) error {
	if !p.Whole {
		return errUnknown
	}
	sessions, cgroups, err := s.places()
	if err != nil {
		return errUnknown
	}
	above := ""
	for i, q := range slices.Backward(p.Chain) {
		// init, or a service of the system; an agent starts neither
		if q.PID == 1 || q.UID != os.Geteuid() {
			above = ""
			continue
		}
		from, err := s.Table.Origin(q.Identity)
		isLeader := func(one process.Process) bool { return one.PID == q.SID }
		adopted := i == len(p.Chain)-1 || p.Chain[i+1].PID == 1 || from.Cgroup != above
		switch {
		case err != nil:
			return errUnknown
		case slices.ContainsFunc(from.Env, isOfAgent):
			return control.Refuse(control.CodeForbidden, "an agent has started this program: its environment has CCBOT_LAUNCH or CLAUDECODE")
		case sessions[q.SID], !slices.ContainsFunc(p.Chain, isLeader):
			return control.Refuse(control.CodeForbidden, "the program that has opened the session of this one is an agent, or has ended")
		case adopted && cgroups[from.Cgroup]:
			return control.Refuse(control.CodeForbidden, "this program is in the control group of an agent, and no program outside of it has started it")
		}
		above = from.Cgroup
	}
	return nil
}

// places returns the sessions and the cgroups of the agents that live.
func (s *Scripts) places() (sessions map[int]bool, cgroups map[string]bool, err error) {
	sessions, cgroups = make(map[int]bool), make(map[string]bool)
	for _, id := range s.Agents() {
		now, err := s.Table.Inspect(id.PID)
		if errors.Is(err, process.ErrGone) || err == nil && now.Identity != id {
			continue
		}
		from, originErr := s.Table.Origin(id)
		if err = errors.Join(err, originErr); err != nil {
			return nil, nil, err
		}
		sessions[now.SID], cgroups[from.Cgroup] = true, true
	}
	return sessions, cgroups, nil
}

func isOfAgent(variable string) bool {
	return slices.ContainsFunc(agentVariables, func(name string) bool { return strings.HasPrefix(variable, name) })
}
