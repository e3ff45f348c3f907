package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// onWriters is a tap on a button about writers: it looks at them again, and does do only if they are
// those that the person saw. Else the message is drawn anew.
func (b *Bot) onWriters(k scene, do func(ctx context.Context, t chat.Tap, a about) error) tap {
	return func(_ context.Context, t chat.Tap) (chat.Answer, error) {
		q, r, ok := b.wished(t)
		if !ok {
			return b.stale(t)
		}
		return chat.Do(func(ctx context.Context) error {
			a := about{wish: q, r: r}
			if ok, err := b.look(ctx, t, &a); err != nil || !ok {
				return err
			}
			a.scene = k.now(a.r)
			a.unasked = a.scene == refused && (k == second || len(t.Args) > 2 && t.Args[2] == unaskedMark)
			if a.scene != k || len(t.Args) < 2 || t.Args[1] != writersMark(identities(a.writers)) {
				return b.changed(ctx, t, a)
			}
			return do(ctx, t, a)
		})
	}
}

// unaskedMark stands in the buttons of a message that began as one about a session
// that was open: nobody had asked for it to come back.
const unaskedMark = "n"

// look finds who else writes a session at this moment. Where that is unknown, the person is told so.
func (b *Bot) look(ctx context.Context, t chat.Tap, a *about) (ok bool, err error) {
	a.writers, err = b.Sessions.Writers(ctx, a.r.ID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return false, b.overtaken(ctx, t)
	case err != nil:
		b.Log.Warn("writers_unknown", "session_id", a.r.ID.String(), "error", err.Error())
		return false, b.tell(ctx, t, i18n.WritersUnknown, i18n.Args{"Name": a.r.Name})
	}
	return true, nil
}

// changed says that things are not any more as the person saw them, and shows how they are.
func (b *Bot) changed(ctx context.Context, t chat.Tap, a about) error {
	return errors.Join(b.tell(ctx, t, i18n.WritersChanged), b.redraw(ctx, t, a))
}

// redraw sets the message to what is true now.
func (b *Bot) redraw(ctx context.Context, t chat.Tap, a about) error {
	text, buttons := b.writersMessage(a, t.From)
	first := text.Split(render.Limit)[0]
	return edited(b.Sender.Edit(ctx, t.To, t.Message, outbox.Message{To: t.To, Text: first, Buttons: buttons}))
}

// showWriters shows all that is known of the writers. The buttons stay.
func (b *Bot) showWriters(ctx context.Context, t chat.Tap, a about) error {
	a.details = true
	return b.redraw(ctx, t, a)
}

// askEndWriters asks whether to end the writers; who tapped may confirm.
func (b *Bot) askEndWriters(ctx context.Context, t chat.Tap, a about) error {
	if !canEnd(a.writers) {
		return b.changed(ctx, t, a)
	}
	question, word := i18n.TakeBackConfirm, i18n.ButtonTakeOver
	switch a.scene {
	case second:
		question = i18n.TakeOnlyConfirm
	case ghost:
		question, word = i18n.StopConfirm, i18n.ButtonStopIt
		if !a.r.Resumable() { // then /resume would be refused
			question = i18n.StopOnlyConfirm
		}
	}
	text := b.words.Say(question, i18n.Args{"Name": a.r.Name, "Processes": b.writerNames(a.writers)})
	yes := fmt.Sprintf("%sdo:%s:%s:%d", a.scene, a.wish.data(), writersMark(identities(a.writers)), t.From)
	return b.For(a.r.ID).Post(ctx, t.To, render.Plain(text), chat.Rows(2, b.Button(word, yes, outbox.Danger), b.cancelButton(t.From)))
}

func (b *Bot) writerNames(all []lifecycle.Writer) string {
	var names []string
	for _, w := range all {
		names = append(names, b.processText(w.Process, w.Age))
	}
	return b.Some(names, "; ")
}

// endWriters ends the writers that a person has confirmed, and nothing else. A
// refused resume goes on when all of them are gone.
func (b *Bot) endWriters(ctx context.Context, t chat.Tap, a about) error {
	if !canEnd(a.writers) {
		return b.changed(ctx, t, a)
	}
	names := i18n.Args{"Processes": b.writerNames(a.writers)}
	b.progress(ctx, t, b.words.Say(i18n.Taking, names))
	endings, err := b.Sessions.EndWriters(ctx, a.r.ID, identities(a.writers))
	if err != nil && len(endings) == 0 {
		b.progress(ctx, t, b.words.Say(i18n.TakingFailed, names))
		return b.Explain(ctx, t.To, b.Internal(err))
	} else if err != nil { // what has ended is told all the same
		b.Log.Error("record_not_saved", "session_id", a.r.ID.String(), "error", err.Error())
	}
	all := len(endings) > 0
	var said []string
	for _, e := range endings {
		said = append(said, b.endingLine(e))
		all = all && e.Ended && e.Verified
	}
	b.progress(ctx, t, strings.Join(said, "\n"))
	if !all {
		return b.notEnded(ctx, t, a, said)
	}
	return b.goOn(ctx, t, a, said)
}

// progress says in the message that was tapped how far it is. It may be lost:
// what has to arrive is posted.
func (b *Bot) progress(ctx context.Context, t chat.Tap, text string) {
	if err := b.replace(ctx, t, text); err != nil {
		b.Log.Debug("edit_failed", "error", err.Error())
	}
}

// goOn does what was wanted once nobody else writes any more.
func (b *Bot) goOn(ctx context.Context, t chat.Tap, a about, said []string) error {
	if a.scene == refused {
		_, err := b.bringBack(ctx, comeback{wish: a.wish, r: a.r, to: t.To, from: t.From, before: said})
		return err
	}
	text, buttons := b.nobodyMessage(a)
	return b.For(a.r.ID).Post(ctx, t.To, render.Join(render.Plain(strings.Join(said, "\n")+"\n"), text), buttons)
}

// notEnded says who was not ended and why, and what can still be done.
func (b *Bot) notEnded(ctx context.Context, t chat.Tap, a about, said []string) error {
	text := render.Plain(strings.Join(said, "\n"))
	now, err := b.Sessions.Writers(ctx, a.r.ID)
	if err != nil {
		b.Log.Warn("writers_unknown", "session_id", a.r.ID.String(), "error", err.Error())
		return b.For(a.r.ID).Post(ctx, t.To, text, nil)
	}
	a.writers = now
	rest, buttons := b.writersMessage(a, t.From)
	return b.For(a.r.ID).Post(ctx, t.To, render.Join(text, render.Plain("\n\n"), rest), buttons)
}

// fork starts a session that begins with a copy of the conversation. An open
// session is archived before that: the other one goes on with the original, of
// which a crash in between leaves one writer.
func (b *Bot) fork(ctx context.Context, t chat.Tap, a about) error {
	origin := fmt.Sprintf("tap-%d-%d", t.To.ChatID, t.Message)
	dir := cmp.Or(a.wish.dir, a.r.Dir)
	if b.started(origin) {
		return b.overtaken(ctx, t) // a double tap
	}
	if !b.inRoots(dir) {
		return b.Say(ctx, t.To, b.outsideRoots(dir))
	}
	if a.scene == second {
		why := fmt.Sprintf("left to another writer, asked for by %d", t.From)
		if err := b.Sessions.Archive(ctx, a.r.ID, session.Archived, why); err != nil {
			return b.Explain(ctx, t.To, b.agentFailure(a.r, err))
		}
	}
	r, err := b.Sessions.Start(ctx, lifecycle.StartRequest{Name: a.r.Name + "-fork", Dir: dir, Conversation: t.To,
		Owner: t.From, Origin: origin, ForkOf: a.r.ClaudeSessionID})
	if err != nil {
		return b.Explain(ctx, t.To, b.forkFailure(a, err))
	}
	if err := b.MakeCurrent(ctx, t.To, r.ID); err != nil {
		return err
	}
	text := b.words.Say(i18n.ForkStarted, i18n.Args{"Name": r.Name, "From": a.r.Name, "Dir": b.Short(r.Dir)})
	if err := b.For(r.ID).Post(ctx, t.To, chat.Marked(text, b.Short(r.Dir)), nil); err != nil {
		return err
	}
	return b.spend(ctx, t)
}

// forkFailure explains why a copy was not started. An open session was given up
// for it already.
func (b *Bot) forkFailure(a about, err error) chat.Failure {
	f := b.startFailure(err)
	if a.scene != second {
		return f
	}
	head := b.words.Say(i18n.ForkFailed, i18n.Args{"Name": a.r.Name})
	f.Text = render.Join(render.Plain(head+"\n"), f.Text)
	if now, ok := b.Records.Get(a.r.ID); ok {
		f.Buttons = b.resumeButton(now)
	}
	return f
}

// started says whether a session was already started for this.
func (b *Bot) started(origin string) bool {
	for _, r := range b.Records.List() {
		if r.Origin == origin && r.State != session.Failed {
			return true
		}
	}
	return false
}

// adopt goes on with a session in the terminal where somebody runs it.
func (b *Bot) adopt(ctx context.Context, t chat.Tap, a about) error {
	if !a.canAdopt() {
		return b.changed(ctx, t, a)
	}
	one := a.writers[0]
	if dir := cmp.Or(one.Cwd, a.r.Dir); !b.inRoots(dir) {
		return b.Say(ctx, t.To, b.outsideRoots(dir))
	}
	r, err := b.Sessions.Adopt(ctx, lifecycle.AdoptRequest{Agent: one.Identity, Claude: a.r.ClaudeSessionID, From: a.r.ID,
		Asked: true, Rule: "chat.adopt", Why: fmt.Sprintf("asked for by %d", t.From)})
	if err != nil {
		return b.notAdopted(ctx, t, a, err)
	}
	if err := b.Use(ctx, t.To, r); err != nil {
		return err
	}
	if err := b.For(r.ID).Say(ctx, t.To, b.adoptedText(i18n.Adopted, r, one.Pane.WindowName)); err != nil {
		return err
	}
	return b.spend(ctx, t)
}

// adoptedText says that a session goes on in a window that a person opened, and
// what is different there.
func (b *Bot) adoptedText(head i18n.Key, r session.Record, window string) string {
	text := []string{b.words.Say(head, i18n.Args{"Name": r.Name, "Window": window})}
	if r.Binding == nil || r.Binding.Shell == 0 { // no shell keeps the window
		text = append(text, b.words.Say(i18n.AdoptedBare, i18n.Args{"Name": r.Name}))
	}
	return strings.Join(append(text, b.words.Say(i18n.AdoptedAsks)), " ")
}

// notAdopted explains why a session could not be adopted; mostly because it is
// not any more what the person saw.
func (b *Bot) notAdopted(ctx context.Context, t chat.Tap, a about, why error) error {
	state, others, moved := (*lifecycle.StateError)(nil), (*lifecycle.WriterError)(nil), (*lifecycle.MovedError)(nil)
	switch {
	case errors.Is(why, lifecycle.ErrNoTerminal):
		return b.tell(ctx, t, i18n.FootAdoptElsewhere)
	case errors.Is(why, lifecycle.ErrEvidence):
		b.Log.Warn("writers_unknown", "session_id", a.r.ID.String(), "error", why.Error())
		return b.tell(ctx, t, i18n.WritersUnknown, i18n.Args{"Name": a.r.Name})
	case errors.Is(why, lifecycle.ErrChanged), errors.As(why, &others), errors.As(why, &state), errors.As(why, &moved),
		errors.Is(why, session.ErrNotFound):
		return b.notAsSeen(ctx, t, a)
	}
	return fmt.Errorf("adopt %s: %w", a.r.ID, why)
}

// notAsSeen looks once more at a session whose writers are not as the person saw them.
func (b *Bot) notAsSeen(ctx context.Context, t chat.Tap, a about) error {
	now, ok := b.Records.Get(a.r.ID)
	if !ok {
		return b.overtaken(ctx, t)
	}
	a.r = b.Successor(now)
	a.wish.session = a.r.ID
	if ok, err := b.look(ctx, t, &a); err != nil || !ok {
		return err
	}
	a.scene = ghost.now(a.r)
	return b.changed(ctx, t, a)
}

// tapLeaveSecond leaves both writers as they are.
func (b *Bot) tapLeaveSecond(_ context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := b.session(t)
	if !ok {
		return b.stale(t)
	}
	return chat.Do(func(ctx context.Context) error {
		return b.replace(ctx, t, b.words.Say(i18n.SecondLeft, i18n.Args{"Name": r.Name}))
	})
}
