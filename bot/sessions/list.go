package sessions

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

// list shows the sessions with a link each, and the windows that belong to none.
func (s *Sessions) list(ctx context.Context, in chat.Incoming, _ string) error {
	if err := s.lists.Post(ctx, s.look(ctx, in.To), struct{}{}); err != nil {
		return err
	}
	return s.Others.Post(ctx, in.To, s.Others.All(ctx))
}

// idleOption is a button under the list: whether to end the idle sessions is asked then.
const idleOption = "idle"

// look is the list as it is now: first who waits for a person, then who works, and of those the oldest
// first. The buttons stay where they are, whatever the sessions do.
func (s *Sessions) look(ctx context.Context, to address.Conversation) card.Look {
	p := s.chat.In(to)
	var entries []entry
	var open []views.Session
	ended, now, quiet := make(map[i18n.Key]int), s.chat.Book.CurrentID(to), false
	var running []uuid.UUID
	for _, r := range s.chat.Book.Records.List() {
		if r.Resumable {
			ended[chat.StateKey(r)]++
		}
		if Endable(r) {
			open = append(open, r)
		}
		if r.State == views.Running {
			running = append(running, r.ID)
		}
	}
	looks := s.Agents.Looks(ctx, running...)
	for _, r := range open {
		e := s.entryOf(p, r, looks[r.ID], r.ID == now)
		entries, quiet = append(entries, e), quiet || e.quiet
	}
	shown := card.Look{To: to, Text: listText(p.Words, entries), Options: s.Switcher.Switch(to, open, looks)}
	if len(ended) > 0 {
		more := p.Say(i18n.ListEnded, i18n.Args{"Details": counts(p, ended)})
		shown.Text = render.Join(shown.Text, render.Plain("\n\n"+more))
	}
	if quiet {
		shown.Options = append(shown.Options, []card.Option{p.Option(i18n.ButtonEndIdle, idleOption, "")})
	}
	return shown
}

func listText(words i18n.Words, entries []entry) render.Text {
	if len(entries) == 0 {
		return render.Plain(words.Say(i18n.ListEmpty))
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.need, b.need) })
	lines := []render.Text{render.Plain(words.Say(i18n.ListTitle, i18n.Args{"Count": len(entries)}))}
	for _, e := range entries {
		lines = append(lines, e.text())
	}
	return chat.Lines(lines...)
}

// counts says how many sessions are over in which way: what was lost is not in the archive.
func counts(p chat.Phrases, ended map[i18n.Key]int) string {
	var all []string
	for _, key := range []i18n.Key{i18n.StateArchived, i18n.StateCompleted, i18n.StateCrashed, i18n.StateLost, i18n.StateFailed, i18n.StateAbandoned} {
		if ended[key] > 0 {
			all = append(all, p.Say(i18n.ListCount, i18n.Args{"Count": ended[key], "State": p.Say(key)}))
		}
	}
	return strings.Join(all, p.Say(i18n.JoinNames))
}

// tapList follows a link of a list, and shows the list as it is now.
func (s *Sessions) tapList(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	if t.Card.Option == idleOption {
		return chat.Do(func(ctx context.Context) error { return s.Idle.Offer(ctx, t) })
	}
	return s.Follow(ctx, t, func(ctx context.Context) error {
		look := s.look(ctx, t.To)
		parts := look.Text.Split(render.Limit)
		look.Text = parts[len(parts)-1] // the options stand under the last part
		return s.lists.Redraw(ctx, t.Card.Key, look, struct{}{})
	})
}

// listPage is the list in the menu.
const listPage = "sessions"

type page struct{ sessions *Sessions }

// draw is the list as a page; of a text that is too long for one message, a part of it.
func (p page) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	look := p.sessions.look(ctx, v.To)
	parts := look.Text.Split(render.Limit)
	at, _ := strconv.Atoi(v.Rest)
	at = min(max(at, 0), len(parts)-1)
	for _, row := range look.Options {
		for i := range row {
			row[i].Value = chat.Does(row[i].Value)
		}
	}
	turns := chat.Turns(at, at+1 < len(parts), func(page int) card.Option {
		return card.Option{Value: chat.ToPage(listPage + "/" + strconv.Itoa(page))}
	})
	if len(turns) > 0 {
		look.Options = append(look.Options, turns)
	}
	return chat.Screen{Text: parts[at], Options: look.Options, Back: "menu"}, nil
}

// do follows a link of the page, which is drawn anew then.
func (p page) do(ctx context.Context, v chat.Visit, what string) (a chat.Answer, next string, err error) {
	t := chat.Tap{From: v.By, To: v.To, Card: card.Tapped{Option: what}}
	if what == idleOption {
		a, err = chat.Do(func(ctx context.Context) error { return p.sessions.Idle.Offer(ctx, t) })
		return a, "", err
	}
	a, err = p.sessions.Follow(ctx, t, func(context.Context) error { return nil })
	return a, "", err
}

// tapLink follows a link of another message, which has no options then.
func (s *Sessions) tapLink(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	return s.Follow(ctx, t, func(ctx context.Context) error {
		return chat.NewCards[struct{}](s.chat, t.Card.Kind).End(ctx, t, "")
	})
}

// Follow does what a link says, and has the message drawn. Whether a session can come back is for
// the session's worker to say: news of an end is told before the end is on disk, and a person may be
// quicker than that.
func (s *Sessions) Follow(ctx context.Context, t chat.Tap, draw func(context.Context) error) (chat.Answer, error) {
	word, rest, _ := strings.Cut(t.Card.Option, ":")
	named, _, _ := strings.Cut(rest, ":")
	id, _ := uuid.Parse(named)
	r, ok := s.chat.Book.Records.Get(id)
	q, _ := s.chat.Accepted(control.Restore{Session: id}, t)
	switch {
	case word == allLink:
		return chat.Do(func(ctx context.Context) error { return s.Switcher.chooseAll(ctx, t) })
	case !ok:
	case word == chat.RetryLink && isNotClean(r) && chat.OfLaunch(word, r) == t.Card.Option:
		return s.Retry(t, r)
	case word == chat.GoOnLink && chat.OfLaunch(word, r) == t.Card.Option:
		return chat.Do(func(ctx context.Context) error {
			if back, err := s.Continue(ctx, q); err != nil || !back {
				return err
			}
			return draw(ctx)
		})
	case word == chat.OpenLink && (Endable(q.Session) || t.Card.Kind == chat.NoticeKind):
		return s.open(ctx, t, q.Session, draw)
	case word == chat.UndoLink && r.State == views.Restoring && !comesBack(r): // the second of two taps
		return chat.Answer{Text: s.chat.In(t.To).Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name}), Then: draw}, nil
	case word == chat.ResumeLink, word == chat.UndoLink:
		q.Undo = word == chat.UndoLink
		return chat.Do(func(ctx context.Context) error { return s.back(ctx, q, draw) })
	}
	text := i18n.StaleButton
	if !ok {
		text = i18n.SessionGone
	}
	return chat.Answer{Text: s.chat.In(t.To).Say(text), Then: draw}, nil
}

// late answers a tap on a link that was followed already.
func (s *Sessions) late(t chat.Tap) string {
	r, _ := s.chat.Book.Records.Get(t.Card.Session)
	if r = s.chat.Book.Successor(r); !r.Open {
		return ""
	}
	return s.chat.In(t.To).Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}

// open makes a session the current one before the tap is answered: a text that follows the tap goes
// to the session. Then the session is shown where the person tapped, or in its own topic there, and the
// tapped message is drawn. Of a session that is over only the last answer is shown.
func (s *Sessions) open(ctx context.Context, t chat.Tap, r views.Session,
	draw func(context.Context) error) (chat.Answer, error) {
	at := s.chat.Book.Home(t.To, r)
	s.Recall(r, at) // before it is current: then its reader shows what is newer
	opened := chat.Answer{Text: "→ " + glyph.Name(r.Name), Then: draw}
	if !Endable(r) {
		return opened, nil
	}
	opened.Then = func(ctx context.Context) error {
		if err := s.chat.Book.MoveTo(ctx, at, r); err != nil {
			return err
		}
		if err := s.chat.Lead(ctx, t.To, r, at); err != nil {
			return err
		}
		return draw(ctx)
	}
	return opened, s.chat.Book.MakeCurrent(ctx, at, r.ID)
}

// back resumes a session, and has the tapped message drawn when the session is back.
func (s *Sessions) back(ctx context.Context, q chat.Resume, draw func(context.Context) error) error {
	if back, err := s.Resume(ctx, q); err != nil || !back {
		return err
	}
	return draw(ctx)
}
