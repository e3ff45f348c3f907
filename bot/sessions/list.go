package sessions

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
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

// look is the list as it is now.
func (s *Sessions) look(ctx context.Context, to address.Conversation) card.Look {
	var lines []render.Text
	var options []card.Option
	ended, now := make(map[string]int), s.chat.Book.CurrentID(to)
	for _, r := range s.chat.Book.Records.List() {
		if r.Resumable {
			ended[s.chat.StateText(r)]++
		}
		if !isEndable(r) {
			continue
		}
		lines = append(lines, s.listLine(ctx, r, r.ID == now))
		options = append(options, s.listOption(r, r.ID == now))
	}
	text := s.chat.Text(i18n.ListEmpty)
	if len(lines) > 0 {
		text = chat.Lines(append([]render.Text{s.chat.Text(i18n.ListTitle, i18n.Args{"Count": len(lines)})}, lines...)...)
	}
	if len(ended) > 0 {
		text = chat.Paragraphs(text, s.chat.Text(i18n.ListEnded, i18n.Args{"Details": s.counts(ended)}))
	}
	return card.Look{To: to, Text: text, Options: chat.Rows(2, options...)}
}

// counts says how many sessions are over in which way: what was lost is not in the archive.
func (s *Sessions) counts(ended map[string]int) string {
	var all []string
	for _, key := range []i18n.Key{i18n.StateArchived, i18n.StateCompleted, i18n.StateCrashed, i18n.StateLost, i18n.StateFailed, i18n.StateAbandoned} {
		if state := s.chat.Words.Say(key); ended[state] > 0 {
			all = append(all, s.chat.Words.Say(i18n.ListCount, i18n.Args{"Count": ended[state], "State": state}))
		}
	}
	return strings.Join(all, s.chat.Words.Say(i18n.JoinNames))
}

func (s *Sessions) listLine(ctx context.Context, r views.Session, current bool) render.Text {
	state := s.chat.StateText(r)
	switch {
	case r.State == views.Running:
		state = lookText(s.chat.Phrases, r.Mode, s.Agents.Look(ctx, r.ID))
	case r.State == views.CleanupFailed && len(r.Failures) > 0:
		note := s.chat.FailureTexts(r)[0] // the first reason is enough here
		state = s.chat.Words.Say(i18n.Noted, i18n.Args{"What": state, "Note": note})
	}
	mark := "•"
	if current {
		mark = "✓"
	}
	what := render.Join(render.Plain(state+s.chat.Words.Say(i18n.JoinParts)), render.Code(s.chat.Short(r.Dir)))
	return render.Join(render.Plain(mark+" "), s.chat.Text(i18n.Named, i18n.Args{"What": chat.BoldName(r), "Said": what}))
}

// lookText says what an agent is doing, whether a person is at the agent's window, its permission mode,
// its model, how full its context is, and what it has cost. The last three are known where the status
// line has told.
func lookText(p chat.Phrases, mode string, l desk.Look) string {
	words := p.Words
	text := append([]string{p.NowText(l.Now)}, p.AtWindow(l)...)
	if mode != "" {
		text = append(text, mode)
	}
	if u := l.Usage; u != nil {
		if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
			text = append(text, model)
		}
		if u.Context >= 0 {
			percent := i18n.Args{"Percent": int(math.Round(u.Context))}
			text = append(text, words.Say(i18n.ListContext, percent))
		}
		if u.Cost > 0 {
			text = append(text, fmt.Sprintf("$%.2f", u.Cost))
		}
	}
	return strings.Join(text, words.Say(i18n.JoinParts))
}

// listOption opens a session; of a session that is not cleaned up, the option tries that again.
func (s *Sessions) listOption(r views.Session, current bool) card.Option {
	name := glyph.Name(r.Name)
	if isNotClean(r) {
		args := i18n.Args{"What": s.chat.Words.Say(i18n.ButtonRetry), "Said": name}
		return card.Option{Text: s.chat.Words.Say(i18n.Named, args), Value: chat.OfLaunch(chat.RetryLink, r)}
	}
	if current {
		name = "✓ " + name
	}
	return card.Option{Text: name, Value: chat.OpenLink + ":" + r.ID.String()}
}

// tapList follows a link of a list, and shows the list as it is now.
func (s *Sessions) tapList(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	return s.follow(ctx, t, func(ctx context.Context) error {
		look := s.look(ctx, t.To)
		parts := look.Text.Split(render.Limit)
		look.Text = parts[len(parts)-1] // the options stand under the last part
		return s.lists.Redraw(ctx, t.Card.Key, look, struct{}{})
	})
}

// tapLink follows a link of another message, which has no options then.
func (s *Sessions) tapLink(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	return s.follow(ctx, t, func(ctx context.Context) error {
		return chat.NewCards[struct{}](s.chat, t.Card.Kind).End(ctx, t, "")
	})
}

// follow does what a link says, and has the message drawn. Whether a session can come back is for
// the session's worker to say: news of an end is told before the end is on disk, and a person may be
// quicker than that.
func (s *Sessions) follow(ctx context.Context, t chat.Tap, draw func(context.Context) error) (chat.Answer, error) {
	word, rest, _ := strings.Cut(t.Card.Option, ":")
	named, _, _ := strings.Cut(rest, ":")
	id, _ := uuid.Parse(named)
	r, ok := s.chat.Book.Records.Get(id)
	q, _ := s.chat.Accepted(control.Restore{Session: id}, t)
	switch {
	case !ok:
	case word == chat.RetryLink && isNotClean(r) && chat.OfLaunch(word, r) == t.Card.Option:
		return s.retry(t, r)
	case word == chat.GoOnLink && chat.OfLaunch(word, r) == t.Card.Option:
		return chat.Do(func(ctx context.Context) error {
			if back, err := s.Continue(ctx, q); err != nil || !back {
				return err
			}
			return draw(ctx)
		})
	case word == chat.OpenLink && (isEndable(q.Session) || t.Card.Kind == chat.NoticeKind):
		return s.open(ctx, t, q.Session, draw)
	case word == chat.UndoLink && r.State == views.Restoring && !comesBack(r): // the second of two taps
		return chat.Answer{Text: s.chat.Words.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name}), Then: draw}, nil
	case word == chat.ResumeLink, word == chat.UndoLink:
		q.Undo = word == chat.UndoLink
		return chat.Do(func(ctx context.Context) error { return s.back(ctx, q, draw) })
	}
	text := i18n.StaleButton
	if !ok {
		text = i18n.SessionGone
	}
	return chat.Answer{Text: s.chat.Words.Say(text), Then: draw}, nil
}

// late answers a tap on a link that was followed already.
func (s *Sessions) late(t chat.Tap) string {
	r, _ := s.chat.Book.Records.Get(t.Card.Session)
	if r = s.chat.Book.Successor(r); !r.Open {
		return ""
	}
	return s.chat.Words.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}

// open makes a session the current one before the tap is answered: a text that follows the tap goes
// to the session. Then the session is shown where the person tapped, and the tapped message is
// drawn. Of a session that is over only the last answer is shown.
func (s *Sessions) open(ctx context.Context, t chat.Tap, r views.Session,
	draw func(context.Context) error) (chat.Answer, error) {
	s.Recall(r, t.To) // before it is current: then its reader shows what is newer
	opened := chat.Answer{Text: "→ " + glyph.Name(r.Name), Then: draw}
	if !isEndable(r) {
		return opened, nil
	}
	opened.Then = func(ctx context.Context) error {
		if err := s.chat.Book.MoveTo(ctx, t.To, r); err != nil {
			return err
		}
		return draw(ctx)
	}
	return opened, s.chat.Book.MakeCurrent(ctx, t.To, r.ID)
}

// back resumes a session, and has the tapped message drawn when the session is back.
func (s *Sessions) back(ctx context.Context, q chat.Resume, draw func(context.Context) error) error {
	if back, err := s.Resume(ctx, q); err != nil || !back {
		return err
	}
	return draw(ctx)
}
