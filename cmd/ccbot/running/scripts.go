package running

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/render"
	"ccbot/cmd/ccbot/socket"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/process"
)

// scripts returns what programs without a terminal may do at the socket; nil: nothing.
func (s *system) scripts() *socket.Scripts {
	if !s.AllowScripts {
		return nil
	}
	return &socket.Scripts{Table: s.table, Agents: s.agents, Tell: func(ctx context.Context, verb string, program process.Process) error {
		c, to := s.bot.Prompts.Chat, address.Conversation{ChatID: s.owner.Load()}
		said := i18n.Args{"Command": verb, "Path": render.Code(program.Exe), "PID": program.PID}
		return c.Post(ctx, card.Look{To: to, Text: c.In(to).Text(i18n.ScriptCall, said)})
	}}
}

// agents returns the agents of all records, and the tmux servers that they run in.
func (s *system) agents() (all []process.Identity) {
	for _, r := range s.store.List() {
		if b := r.Binding; b != nil {
			all = append(all, b.Agent, process.Identity{PID: b.Server.PID, Start: b.Server.Start, Boot: b.Agent.Boot})
		}
	}
	return all
}
