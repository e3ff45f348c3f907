package agent

import (
	"cmp"
	"context"
	"io/fs"

	"ccbot/agent/history"
	"ccbot/agent/witness"
	"ccbot/port"
	"ccbot/port/talk"
)

// Agent holds the parts of one coding agent.
type Agent struct {
	Starter     Starter
	Settings    Settings // of its launches; nil: they have none
	Witness     witness.Witness
	Presences   witness.Presences     // nil: it writes none
	Locks       witness.Locks         // nil: it locks none
	Asks        Asks                  // nil: it asks only in its terminal
	Requests    Requests              // nil: ccbot-hook makes them
	Keys        func(dir string) Keys // of an agent in a directory
	Manners     Manners
	Reader      Reader
	Transcripts Transcripts
	Replies     Replies
	Keeper      Keeper
	Proof       Proof
	History     history.Reader
	Excerpts    history.Excerpts
	Folders     history.Folders
	Usage       history.Usage
	Delivery    Delivery                         // nil if the agent takes texts only in its prompt box
	Answerers   func(dir string) []talk.Answerer // in a project; nil: nothing answers for a person
	HooksShut   func() bool                      // a policy of the machine keeps it from running ccbot's hooks; nil: none can
	Abilities   port.Abilities
	Launch      Launch // as configured for new sessions
	Product     string // its name for people; empty: the default agent
	Reachable   bool   // a tool that may use the network can answer its requests
}

// Presence returns the file of a process. The error is fs.ErrNotExist if there is none.
func (a Agent) Presence(ctx context.Context, pid int) (witness.Presence, error) {
	if a.Presences == nil {
		return witness.Presence{}, fs.ErrNotExist
	}
	return a.Presences.Read(ctx, pid)
}

// Default is the name of the agent of a session that names none.
const Default = port.DefaultAgent

// Agents holds the known coding agents by name.
type Agents map[string]Agent

// Of returns the agent with a name. It has no parts if the name is not known.
func (a Agents) Of(name string) Agent { return a[cmp.Or(name, Default)] }
