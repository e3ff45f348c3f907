package socket

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/hooks"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
)

// machineOf is a machine of processes: cron and its job, a tmux server with an agent, and what that
// has left.
type machineOf map[int]struct {
	process.Process
	process.Origin
}

func (m machineOf) Inspect(pid int) (process.Process, error) {
	if p, ok := m[pid]; ok {
		return p.Process, nil
	}
	return process.Process{}, process.ErrGone
}

func (m machineOf) Origin(id process.Identity) (process.Origin, error) {
	if p, ok := m[id.PID]; ok && p.Identity == id && p.Cgroup != "" {
		return p.Origin, nil
	}
	return process.Origin{}, errors.New("it cannot be read")
}

const (
	cronGroup, agentGroup, managerGroup = "0::/system.slice/cron.service", "0::/user.slice/tmux.scope", "0::/user.slice/init.scope"
	tmuxPID, agentPID, cronPID, manager = 20, 21, 30, 40
)

func (m machineOf) put(pid, parent, sid int, cgroup string, env ...string) {
	p := m[pid]
	p.Identity, p.PPID, p.SID, p.UID = process.Identity{PID: pid, Start: uint64(pid), Boot: "b"}, parent, sid, os.Geteuid()
	p.Env, p.Cgroup = env, cgroup
	m[pid] = p
}

// machineWithAgent has no script yet.
func machineWithAgent() machineOf {
	m := machineOf{}
	m.put(1, 0, 1, "0::/init.scope")
	m.put(tmuxPID, 1, tmuxPID, agentGroup)
	m.put(agentPID, tmuxPID, agentPID, agentGroup, "CCBOT_LAUNCH=x", "CLAUDECODE=1")
	m.put(cronPID, 1, cronPID, cronGroup)
	m.put(manager, 1, manager, managerGroup)
	return m
}

func (m machineOf) peer(pid int) control.Peer {
	p := control.Peer{PID: pid, Whole: true}
	for pid > 0 {
		p.Chain = append(p.Chain, m[pid].Process)
		pid = m[pid].PPID
	}
	return p
}

func (m machineOf) scripts() *Scripts {
	return &Scripts{Table: m, Agents: func() []process.Identity {
		gone := process.Identity{PID: 99, Start: 1, Boot: "b"}
		return []process.Identity{m[agentPID].Identity, m[tmuxPID].Identity, gone}
	}}
}

// TestP9_ScriptsOfAgentsAreRefused tries what an agent may do to look like a script of a person.
// Process 50 is the script.
func TestP9_ScriptsOfAgentsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		put  func(m machineOf)
		peer func(p control.Peer) control.Peer
		ok   bool
	}{
		{name: "a job of cron", put: func(m machineOf) { m.put(50, cronPID, 50, cronGroup) }, ok: true},
		{name: "a job of cron that runs a shell", put: func(m machineOf) { m.put(49, cronPID, 49, cronGroup); m.put(50, 49, 49, cronGroup) }, ok: true},
		{name: "a unit of the service manager", put: func(m machineOf) { m.put(50, manager, 50, "0::/app.slice/nightly.service") }, ok: true},
		{name: "a unit of the system", put: func(m machineOf) { m.put(50, 1, 50, "0::/system.slice/nightly.service") }, ok: true},

		{name: "the environment of an agent", put: func(m machineOf) { m.put(50, cronPID, 50, cronGroup, "HOME=/", "CLAUDECODE=1") }},
		{name: "the environment of a launch", put: func(m machineOf) { m.put(50, cronPID, 50, cronGroup, "CCBOT_LAUNCH=1") }},
		{name: "the environment of an agent in an ancestor", put: func(m machineOf) {
			m.put(49, cronPID, 49, cronGroup, "CLAUDECODE=1")
			m.put(50, 49, 49, cronGroup)
		}},
		{name: "an empty variable", put: func(m machineOf) { m.put(50, cronPID, 50, cronGroup, "CCBOT_LAUNCH=") }},
		{name: "below the agent, with an empty environment", put: func(m machineOf) { m.put(50, agentPID, agentPID, agentGroup) }},
		{name: "cut loose to pid 1", put: func(m machineOf) { m.put(50, 1, 50, agentGroup) }},
		{name: "cut loose to the service manager", put: func(m machineOf) { m.put(50, manager, 50, agentGroup) }},
		{name: "below a program that is cut loose", put: func(m machineOf) { m.put(49, 1, 49, agentGroup); m.put(50, 49, 50, agentGroup) }},
		{name: "below a program that is cut loose, in another cgroup", put: func(m machineOf) { m.put(49, 1, 49, agentGroup); m.put(50, 49, 50, cronGroup) }},
		{name: "a command of the tmux server", put: func(m machineOf) { m.put(50, tmuxPID, 50, agentGroup) }},
		{name: "in the session of the agent", put: func(m machineOf) { m.put(50, 1, agentPID, cronGroup) }},
		{name: "in the session of a program that has ended", put: func(m machineOf) { m.put(50, 1, 48, cronGroup) }},
		{name: "one cgroup for all, cut loose", put: func(m machineOf) {
			for _, pid := range []int{tmuxPID, agentPID, cronPID} {
				p := m[pid]
				p.Cgroup = "0::/"
				m[pid] = p
			}
			m.put(50, 1, 50, "0::/")
		}},
		{name: "an origin that cannot be read", put: func(m machineOf) { m.put(50, cronPID, 50, "") }},
		{name: "an agent that cannot be read", put: func(m machineOf) {
			m.put(50, cronPID, 50, cronGroup)
			m.put(agentPID, tmuxPID, agentPID, "")
		}},
		{name: "a way up that is hidden", put: func(m machineOf) { m.put(50, cronPID, 50, cronGroup) },
			peer: func(p control.Peer) control.Peer { p.Whole = false; return p }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := machineWithAgent()
			tt.put(m)
			p := m.peer(50)
			if tt.peer != nil {
				p = tt.peer(p)
			}
			for _, verb := range []string{"new", "prompt", "resume", verbPing} {
				script, err := Socket{Scripts: m.scripts()}.permitted(verb, p, evidence.Above{})
				if tt.ok {
					require.NoError(t, err)
					require.True(t, script)
					continue
				}
				refusal := (*control.Refusal)(nil)
				require.ErrorAs(t, err, &refusal, verb)
				assert.Equal(t, control.CodeForbidden, refusal.Code)
			}
		})
	}
}

// TestP9_ScriptsUseFewVerbs, none without the setting, and none below an agent.
func TestP9_ScriptsUseFewVerbs(t *testing.T) {
	m := machineWithAgent()
	m.put(50, cronPID, 50, cronGroup)
	p := m.peer(50)
	for _, verb := range []string{"archive", "done", "forget", "recover", hookwire.VerbSend, hookwire.VerbPermission, "unknown"} {
		_, err := Socket{Scripts: m.scripts()}.permitted(verb, p, evidence.Above{})
		assert.Error(t, err, verb)
	}
	for _, verb := range scriptVerbs {
		_, err := Socket{}.permitted(verb, p, evidence.Above{})
		require.ErrorIs(t, err, errNoTerminal, verb)
		assert.Contains(t, err.Error(), "CCBOT_ALLOW_SCRIPTS=1")
		_, err = Socket{Scripts: m.scripts()}.permitted(verb, p, evidence.Above{Found: true})
		assert.Error(t, err, verb)
	}
}

// TestP9_ScriptsAreShown: a call that the chat cannot show is not executed.
func TestP9_ScriptsAreShown(t *testing.T) {
	m := machineWithAgent()
	m.put(50, cronPID, 50, cronGroup)
	a := &around{wait: func(context.Context, hooks.Request) (hooks.Decision, error) {
		return nil, nil
	}}
	s, scripts := a.socket(), m.scripts()
	var done []string
	var about []uuid.UUID
	scripts.Report = func(_ context.Context, verb string, session uuid.UUID, program process.Process) error {
		done, about = append(done, "shown "+verb), append(about, session)
		assert.Equal(t, cronPID, program.PID)
		return nil
	}
	s.Scripts = scripts
	serve := s.checked(func(_ context.Context, _ caller, c hookwire.Call) (any, error) {
		done = append(done, "done "+c.Verb)
		return nil, nil
	})
	_, err := serve(t.Context(), m.peer(50), hookwire.Call{Verb: "new"})
	require.NoError(t, err)
	one := uuid.New()
	for verb, key := range map[string]string{"prompt": "session_id", "resume": "session"} {
		about = nil
		_, err = serve(t.Context(), m.peer(50), hookwire.Call{Verb: verb, Body: json.RawMessage(`{"` + key + `":"` + one.String() + `"}`)})
		require.NoError(t, err)
		assert.Equal(t, []uuid.UUID{one}, about, verb)
	}
	done = done[:2]
	_, err = serve(t.Context(), m.peer(50), hookwire.Call{Verb: verbPing})
	require.NoError(t, err)
	scripts.Report = func(context.Context, string, uuid.UUID, process.Process) error {
		return errors.New("no room on the disk")
	}
	_, err = serve(t.Context(), m.peer(50), hookwire.Call{Verb: "prompt"})
	require.Error(t, err)
	assert.Equal(t, []string{"shown new", "done new", "done " + verbPing}, done)
	assert.True(t, slices.Contains(scriptVerbs, verbPing))
}
