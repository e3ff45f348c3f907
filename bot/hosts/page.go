package hosts

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/health"
	"ccbot/port"
)

const page = "hosts"

// view is the address of a page: the list, or a step of a machine that is added or removed.
type view struct {
	Add    bool   `json:"add,omitempty"`    // asks for a name
	Name   string `json:"name,omitempty"`   // shows the code of a name, or who waits with it
	Joined bool   `json:"joined,omitempty"` // with Name
	Remove string `json:"remove,omitempty"` // asks whether the machine with an id is removed
}

func (v view) address() string { return chat.Address(page, v) }

const (
	removeOption = "remove"
	admitOption  = "admit"
	refuseOption = "refuse"
	followOption = "follow"
)

// offer is a code that a person has asked for.
type offer struct {
	Code
	by int64
}

// OnCandidate redraws the pages: a machine waits for a decision.
func (h *Hosts) OnCandidate() { h.chat.Pages.Change(page) }

// draw shows the machines. They are added and removed in private chats only, because a code lets
// its reader in.
func (h *Hosts) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	p, at := h.chat.In(v.To), chat.ViewAt[view](v.Rest)
	private := v.To.ChatID == v.By
	switch {
	case !h.fleet.Exists():
		return chat.Screen{Text: render.Plain(p.Say(i18n.HostsNone))}, nil
	case private && at.Add:
		return chat.Screen{Text: render.Plain(p.Say(i18n.HostNameAsk)), Back: page}, nil
	case private && at.Joined:
		name := render.Code("/new " + at.Name + ":~")
		return chat.Screen{Text: p.Text(i18n.HostJoined, i18n.Args{"Machine": glyph.Name(at.Name), "Command": name}), Back: page}, nil
	case private && at.Name != "":
		return h.joining(p, v, at.Name), nil
	}
	if m, found := h.chat.Machines.Find(at.Remove); found && private {
		ask := render.Plain(p.Say(i18n.HostRemoveAsk, i18n.Args{"Machine": glyph.Name(m.Name)}))
		if n := h.texts.Count(m.ID); n > 0 {
			ask = chat.Lines(ask, render.Plain(p.Say(i18n.HostRemoveTexts, i18n.Args{"Count": n})))
		}
		return chat.Screen{Text: ask, Back: page,
			Options: chat.Rows(1, p.Option(i18n.ButtonRemove, removeOption, outbox.Danger))}, nil
	}
	text := []render.Text{render.Bold(p.Say(i18n.HostsTitle))}
	buttons := []card.Option{p.Option(i18n.ButtonRefresh, chat.ToPage(page), "")}
	if private {
		buttons = append(buttons, p.Option(i18n.ButtonAdd, chat.ToPage(view{Add: true}.address()), outbox.Primary))
	}
	for _, m := range h.machines() {
		text = append(text, h.describe(ctx, p, m))
		for i, s := range h.fleet.Status(ctx, m.ID).Torn {
			if private {
				buttons = append(buttons, card.Option{Text: p.Say(i18n.HostButtonFollow, i18n.Args{"Machine": glyph.Name(m.Name), "ID": i + 1}),
					Value: followOption + ":" + m.ID + ":" + s.ID})
			}
		}
		if private && m.ID != "" {
			buttons = append(buttons, card.Option{Text: p.Say(i18n.HostButtonRemove, i18n.Args{"Machine": glyph.Name(m.Name)}),
				Value: chat.ToPage(view{Remove: m.ID}.address())})
		}
	}
	return chat.Screen{Text: chat.Paragraphs(text...), Options: chat.Rows(2, buttons...)}, nil
}

// machines returns all machines, the chat's own first.
func (h *Hosts) machines() []machine.Info {
	return append([]machine.Info{{Name: h.chat.Host}}, h.chat.Machines.Others()...)
}

// Lines describes each machine but the chat's own.
func (h *Hosts) Lines(ctx context.Context, p chat.Phrases) []render.Text {
	if h.fleet == nil {
		return nil
	}
	return each.As(h.chat.Machines.Others(), func(m machine.Info) render.Text { return h.describe(ctx, p, m) })
}

// describe returns a machine's state, its last report and the last contact.
func (h *Hosts) describe(ctx context.Context, p chat.Phrases, m machine.Info) render.Text {
	s := h.fleet.Status(ctx, m.ID)
	lines := []render.Text{render.Bold(glyph.Name(m.Name))}
	switch {
	case m.Away:
		m.Heard = cmp.Or(m.Heard, s.Heard)
		lines = append(lines, render.Plain(p.AwayText(m)))
	case m.ID != "" && !s.Heard.IsZero():
		lines = append(lines, render.Plain(p.Say(i18n.HostHeard, i18n.Args{"Age": p.Age(max(p.Now().Sub(s.Heard), time.Second))})))
	}
	if s.Version != "" {
		lines = append(lines, render.Plain(p.Say(i18n.HostFigures, i18n.Args{"Version": chat.Head(chat.OneLine(glyph.Signs(s.Version)), shownWord),
			"Agents": s.Agents, "Load": p.Percent(100 * s.Load), "Free": p.Size(s.DiskFree), "Total": p.Size(s.DiskSize)})))
	}
	if late := s.Ahead.Abs(); late > health.MostSkew {
		word := i18n.HostClockAhead
		if s.Ahead < 0 {
			word = i18n.HostClockBehind
		}
		lines = append(lines, render.Plain(chat.Warning+p.Say(word, i18n.Args{"Machine": glyph.Name(m.Name), "Age": p.Age(late)})))
	}
	lines = append(lines, h.starts(p, m, s)...)
	if s.Unread > 0 {
		lines = append(lines, render.Plain(chat.Warning+p.Say(i18n.HostUnread, i18n.Args{"Machine": glyph.Name(m.Name)})))
	}
	return chat.Lines(append(lines, h.faults(p, s)...)...)
}

// faults names what keeps the messages of a machine back; /health has that too.
func (h *Hosts) faults(p chat.Phrases, s machine.Status) []render.Text {
	return each.As(s.Faults.Warnings(), func(w health.Warning) render.Text {
		return render.Plain(chat.Warning + p.Say(i18n.HealthKey.Of(string(w.Code)), i18n.Args{"Machine": glyph.Name(w.Machine), "Name": glyph.Name(w.Own),
			"Count": w.Count, "Age": p.Age(w.For), "Path": p.Short(w.Path)}))
	})
}

// starts names the starts of a copied folder.
func (h *Hosts) starts(p chat.Phrases, m machine.Info, s machine.Status) (lines []render.Text) {
	say := func(key i18n.Key, numbered bool, all ...machine.Start) {
		lines = append(lines, render.Plain(chat.Warning+p.Say(key, i18n.Args{"Machine": glyph.Name(m.Name)})))
		for i, one := range all {
			name := chat.Head(chat.OneLine(glyph.Signs(one.On)), shownWord) + ", " + p.At(one.Since)
			if numbered {
				name = fmt.Sprintf("%d. %s", i+1, name)
			}
			lines = append(lines, render.Plain(name))
		}
	}
	if s.Undecided {
		say(i18n.HostTorn, true, s.Torn...) // none of them may speak now
	}
	if n := len(s.Refused); n > 0 {
		say(i18n.HostRefusedStart, n > 1, s.Refused...)
	}
	if s.Elsewhere.ID != "" {
		say(i18n.HostElsewhere, false, s.Elsewhere)
	}
	return lines
}

// shownWord bounds the letters of a word that another machine has sent.
const shownWord = 64

// joining shows the code for a name, and then the machine that waits with it.
func (h *Hosts) joining(p chat.Phrases, v chat.Visit, name string) chat.Screen {
	h.mu.Lock()
	o, open := h.offers[strings.ToLower(name)]
	h.mu.Unlock()
	c, waits := h.fleet.Candidate(name)
	said := i18n.Args{"Machine": glyph.Name(name)}
	switch {
	case !open || o.by != v.By || h.chat.Now().After(o.Until):
		return chat.Screen{Text: render.Plain(p.Say(i18n.HostCodeOver)), Back: page}
	case !waits:
		said["At"], said["Command"] = p.At(o.Until), render.Code("ccbot join "+o.Text)
		return chat.Screen{Text: p.Text(i18n.HostCode, said), Back: page, Options: chat.Rows(1, p.Option(i18n.ButtonRefresh, chat.ToPage(view{Name: name}.address()), ""))}
	}
	word := func(text string) string { return chat.Head(chat.OneLine(glyph.Signs(text)), shownWord) }
	said["Details"], said["ID"] = word(c.System)+" · "+word(c.Owner), render.Code(c.Fingerprint)
	text := p.Text(i18n.HostCandidate, said)
	if c.Rivals > 0 {
		text = chat.Paragraphs(render.Plain(chat.Warning+p.Say(i18n.HostRivals, i18n.Args{"Count": c.Rivals})), text)
	}
	seen := ":" + c.Code + ":" + c.Fingerprint
	return chat.Screen{Text: text, Until: o.Until, Options: chat.Rows(2, p.Option(i18n.HostAdmit, admitOption+seen, outbox.Primary), p.Option(i18n.HostRefuse, refuseOption+seen, outbox.Danger))}
}

// typed takes the name of a new machine.
func (h *Hosts) typed(ctx context.Context, v chat.Visit, text string) (string, error) {
	if !chat.ViewAt[view](v.Rest).Add || v.To.ChatID != v.By {
		return "", chat.ErrNotTaken
	}
	name := strings.TrimSpace(text)
	code, err := h.fleet.Offer(ctx, name)
	if err != nil {
		return "", h.chat.Explain(ctx, v.To, h.chat.In(v.To).Failure(port.Session{}, err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.offers[strings.ToLower(name)] = offer{code, v.By}
	return view{Name: name}.address(), nil
}

// do carries out an option. A machine is let in by the fingerprint that the option was drawn with.
func (h *Hosts) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	at := chat.ViewAt[view](v.Rest)
	verb, seen, _ := strings.Cut(what, ":")
	code, fingerprint, _ := strings.Cut(seen, ":")
	switch {
	case v.To.ChatID != v.By:
	case verb == removeOption:
		return chat.Answer{Then: func(ctx context.Context) error { return h.remove(ctx, v.To, at.Remove) }}, page, nil
	case verb == followOption:
		if err := h.fleet.Follow(code, fingerprint); err != nil { // it was decided since
			return chat.Answer{Text: h.chat.In(v.To).Say(i18n.StaleButton)}, page, nil
		}
		return chat.Answer{}, page, nil
	case verb == admitOption, verb == refuseOption:
		admit, next := verb == admitOption, page
		if admit {
			next = view{Name: at.Name, Joined: true}.address()
		}
		return chat.Answer{Then: func(ctx context.Context) error {
			return h.decide(ctx, at.Name, Candidate{Code: code, Fingerprint: fingerprint}, admit)
		}}, next, nil
	}
	return chat.Answer{Text: h.chat.In(v.To).Say(i18n.StaleButton)}, "", nil
}

// remove removes a machine. A server that is not the chat's own disconnects it later.
func (h *Hosts) remove(ctx context.Context, to outbox.Conversation, id string) error {
	m, _ := h.chat.Machines.Find(id)
	server, err := h.fleet.Remove(ctx, id)
	if err != nil || server == "" {
		return err
	}
	text := h.chat.In(to).Text(i18n.HostRemovedServer, i18n.Args{"Machine": glyph.Name(m.Name), "Command": render.Pre(SignCommands(server), "sh")})
	return h.chat.Post(ctx, card.Content{To: to, Text: text})
}

// SignCommands returns the commands with which the operator of a server signs the account of the
// chat; the first one is for the chat's machine.
func SignCommands(server string) string {
	return "ccbot host hub " + server + " > account.jwt\nnsc import account --overwrite --file account.jwt\nnsc push"
}

func (h *Hosts) decide(ctx context.Context, name string, c Candidate, admit bool) error {
	err := h.fleet.Decide(ctx, c, admit)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.offers, strings.ToLower(name))
	}
	return err
}
