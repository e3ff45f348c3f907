package running

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/render"
	"ccbot/cmd/ccbot/socket"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/process"
	"ccbot/port"
)

// scripts returns what programs without a terminal may do at the socket; nil: nothing.
func (s *system) scripts() *socket.Scripts {
	if !s.AllowScripts {
		return nil
	}
	return &socket.Scripts{Table: s.Table, Agents: s.AgentProcesses, Report: func(ctx context.Context, verb string, session uuid.UUID, program process.Process) error {
		c := s.bot.Prompts.Chat
		r, _ := s.bot.Records.Get(session)
		to := callShownAt(r, s.owner.Load())
		said := i18n.Args{"Command": verb, "Path": render.Code(program.Exe), "PID": program.PID}
		return c.Post(ctx, card.Content{To: to, Text: c.In(to).Text(i18n.ScriptCall, said)})
	}}
}

// callShownAt returns where a script's call about a session is shown: in the session's
// conversation, or in the private chat of its owner. first is the owner of a session that is not
// there yet.
func callShownAt(r port.Session, first int64) address.Conversation {
	if r.Conversation.ChatID != 0 {
		return r.Conversation
	}
	return address.Conversation{ChatID: cmp.Or(r.Owner, first)}
}
