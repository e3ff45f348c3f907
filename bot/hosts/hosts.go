package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
)

// retryInterval is the pause after a fault of the disk.
const retryInterval = 5 * time.Second

// calm is the time after the report of a machine's return until the machine is reported as silent
// again: one that comes and goes would make a sound each time.
const calm = 10 * time.Minute

// Hosts reports and shows the machines of the chat. It needs Run.
type Hosts struct {
	chat  *chat.Chat
	fleet Fleet // nil: the chat has one machine only
	cards card.Kind[away]
	// copies are the cards about copies of a folder that run.
	copies card.Kind[away]
	wake   chan struct{}
	back   map[string]time.Time // the last reported return, by machine; of run
	texts  Texts

	mu     sync.Mutex
	left   []string         // machines that were removed, and whose texts may wait
	offers map[string]offer // by the name in lower case
}

// away is the payload of a card: a machine that does not answer.
type away struct {
	Machine string    `json:"machine"` // id
	Since   time.Time `json:"since,omitzero"`
}

// The kinds of the cards.
const (
	kind   = "host-away"
	copies = "host-copies"
)

// lookInterval is the time between two looks for copies of a machine.
const lookInterval = time.Minute

// Texts are the texts of people that wait for a machine.
type Texts struct {
	Count func(machine string) int
	// End ends them, and reports that under each.
	End func(ctx context.Context, machine string) error
}

// New returns the Hosts of a chat.
func New(c *chat.Chat, fleet Fleet, texts Texts) *Hosts {
	return &Hosts{chat: c, fleet: fleet, texts: texts, cards: card.NewKind[away](c.Cards, kind, nil), copies: card.NewKind[away](c.Cards, copies, nil), wake: make(chan struct{}, 1), back: make(map[string]time.Time), offers: make(map[string]offer)}
}

// Exist reports whether the chat can have other machines.
func (h *Hosts) Exist() bool { return h.fleet != nil && h.fleet.Exists() }

// Feature describes the feature to the dispatcher.
func (h *Hosts) Feature() chat.Feature {
	f := chat.Feature{Name: page, OnMachine: h.onMachine, Run: h.run}
	if h.fleet != nil {
		command := h.chat.Pages.Command(page, page)
		command.Once = h.fleet.Exists
		f.Commands, f.Pages = []chat.Command{command}, map[string]chat.Page{page: {Draw: h.draw, Do: h.do, Typed: h.typed, Own: true}}
	}
	return f
}

// onMachine notes a machine that was removed. Machines are asked in run.
func (h *Hosts) onMachine(id string) {
	if _, there := h.chat.Machines.Find(id); !there && id != "" {
		h.mu.Lock()
		h.left = append(h.left, id)
		h.mu.Unlock()
	}
	pause.Poke(h.wake)
}

// endTexts ends the texts that wait for machines that were removed.
func (h *Hosts) endTexts(ctx context.Context) (err error) {
	h.mu.Lock()
	all := h.left
	h.left = nil
	h.mu.Unlock()
	for _, id := range all {
		if failed := h.texts.End(ctx, id); failed != nil {
			err = errors.Join(err, failed)
			h.mu.Lock()
			h.left = append(h.left, id)
			h.mu.Unlock()
		}
	}
	return err
}

func (h *Hosts) run(ctx context.Context) error {
	for ctx.Err() == nil {
		again, err := h.report(ctx)
		if err != nil {
			h.chat.Log.Warn("host_step_failed", logkey.Error, err)
			again = retryInterval
		}
		pause.Until(ctx, again, h.wake)
	}
	return nil
}

// report brings the cards into agreement with the machines. It returns when to call it again if
// nothing changes.
func (h *Hosts) report(ctx context.Context) (again time.Duration, err error) {
	again, err = pause.Forever, h.endTexts(ctx)
	all := h.chat.Machines.Others()
	if len(all) > 0 && h.fleet != nil {
		again, err = lookInterval, errors.Join(err, h.reportCopies(ctx, all))
	}
	for _, shown := range h.cards.List() {
		i := slices.IndexFunc(all, func(m machine.Info) bool { return m.ID == shown.Payload.Machine })
		if i < 0 { // it was removed
			err = errors.Join(err, h.cards.Close(ctx, shown.Key, render.Text{}))
		} else if !all[i].Away {
			err = errors.Join(err, h.returned(ctx, all[i], shown))
			h.back[all[i].ID] = h.chat.Now()
		}
	}
	for _, m := range all {
		if !m.Lost {
			continue
		}
		if left := h.back[m.ID].Add(calm).Sub(h.chat.Now()); left > 0 {
			again = min(again, left)
			continue
		}
		for _, to := range h.chat.Book.PrivateChats() {
			key := fmt.Sprintf("%s-%d", m.ID, to.ChatID)
			if _, told := h.cards.Get(key); !told {
				err = errors.Join(err, h.cards.Show(ctx, key, h.content(to, m), away{m.ID, m.Heard}))
			}
		}
	}
	return again, err
}

// reportCopies tells the private chats that copies of a folder run.
func (h *Hosts) reportCopies(ctx context.Context, all []machine.Info) (err error) {
	run := make(map[string]bool)
	for _, m := range all {
		s := h.fleet.Status(ctx, m.ID)
		for _, to := range h.chat.Book.PrivateChats() {
			lines := h.starts(h.chat.In(to), m, s)
			if len(lines) == 0 {
				continue
			}
			key := fmt.Sprintf("%s-%d", m.ID, to.ChatID)
			run[key] = true
			content := card.Content{To: to, Text: chat.Lines(lines...), Sounds: h.chat.Sounds(chat.Fault, port.Session{Conversation: to})}
			err = errors.Join(err, h.copies.Show(ctx, key, content, away{Machine: m.ID}))
		}
	}
	for _, shown := range h.copies.List() {
		if !run[shown.Key] {
			err = errors.Join(err, h.copies.Close(ctx, shown.Key, render.Text{}))
		}
	}
	return err
}

// returned reports that a machine answers again.
func (h *Hosts) returned(ctx context.Context, m machine.Info, shown card.Card[away]) error {
	p := h.chat.In(shown.Content.To)
	args := i18n.Args{"Machine": glyph.Name(m.Name)}
	text := p.Say(i18n.MachineBack, args)
	if since := shown.Payload.Since; !since.IsZero() {
		args["Age"] = p.Age(h.chat.Now().Sub(since))
		text = p.Say(i18n.MachineBackAfter, args)
	}
	if err := h.chat.Post(ctx, card.Content{To: shown.Content.To, Text: render.Plain(text)}); err != nil {
		return err
	}
	return h.cards.Close(ctx, shown.Key, render.Text{})
}

// content is the message about a machine that does not answer: what ran there, and what waits.
func (h *Hosts) content(to outbox.Conversation, m machine.Info) card.Content {
	p := h.chat.In(to)
	var names []string
	waits := 0
	all, _ := h.chat.Book.Records.List() // without those of machines that do not answer
	for _, s := range all {
		if s.Machine == m.ID && (s.State.Live() || s.State == port.StateUnknown) {
			names, waits = append(names, chat.ShownName(s.Name)), waits+len(s.Prompts)
		}
	}
	lines := []render.Text{render.Plain(chat.Warning + p.AwayText(m))}
	if len(names) > 0 {
		lines = append(lines, render.Plain(p.Say(i18n.MachineAwaySessions, i18n.Args{"Count": len(names), "Names": p.Some(names, p.Say(i18n.JoinNames))})))
	}
	if waits > 0 {
		lines = append(lines, render.Plain(p.Say(i18n.MachineAwayPrompts, i18n.Args{"Count": waits})))
	}
	return card.Content{To: to, Text: chat.Lines(lines...), Sounds: h.chat.Sounds(chat.Fault, port.Session{Conversation: to})}
}
