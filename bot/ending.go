package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// kill asks whether to end a session and archive it.
func (b *Bot) kill(ctx context.Context, in incoming, arg string) error {
	return b.askEnd(ctx, in, arg, "kill", i18n.KillConfirm, i18n.ButtonKill)
}

// done asks whether to end a session as completed.
func (b *Bot) done(ctx context.Context, in incoming, arg string) error {
	return b.askEnd(ctx, in, arg, "done", i18n.DoneConfirm, i18n.ButtonDone)
}

// askEnd asks first; only who asked may confirm, so their id is in the button.
func (b *Bot) askEnd(ctx context.Context, in incoming, arg, verb string, question, word i18n.Key) error {
	r, ok, err := b.find(in.to, arg, endable)
	if err != nil {
		return err
	}
	if !ok {
		return b.noSession(ctx, in, arg)
	}
	return b.post(ctx, in.to, plain(b.words.Say(question, i18n.Args{"Name": r.Name})), rows(2,
		b.button(word, fmt.Sprintf("%s:%s:%d", verb, r.ID, in.from), outbox.Danger),
		b.button(i18n.ButtonCancel, fmt.Sprintf("no:%d", in.from), "")))
}

// end archives a session that a person confirmed, and gives the receipt.
func (b *Bot) end(ctx context.Context, t tapEvent, id uuid.UUID, final session.State) error {
	r, ok := b.Records.Get(id)
	if !ok || !endable(r.State) {
		return b.stale(ctx, t)
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	ending := plain(b.words.Say(i18n.Archiving, i18n.Args{"Name": r.Name}))
	if err := b.Sender.Edit(ctx, t.to, t.message, outbox.Message{To: t.to, Text: ending}); err != nil {
		b.Log.Debug("edit_failed", "error", err.Error())
	}
	if err := b.show(ctx, t.to, r); err != nil { // the receipt comes as news, to where the session is shown
		return err
	}
	if err := b.Sessions.Archive(ctx, id, final, fmt.Sprintf("asked for by %d", t.from)); err != nil {
		return b.explain(ctx, t.to, b.agentFailure(r, err))
	}
	return nil
}

// tellStopped gives the receipt of an archive.
func (b *Bot) tellStopped(ctx context.Context, n lifecycle.Note) error {
	var undo [][]outbox.Button
	if n.Session.State.Resumable() {
		undo = rows(1, b.button(i18n.ButtonUndo, "undo:"+n.Session.ID.String(), ""))
	}
	return b.post(ctx, n.Session.Conversation, plain(b.receiptText(n.Session, *n.Receipt)), undo)
}

// receiptText says what an archive did, in a few lines.
func (b *Bot) receiptText(r session.Record, receipt lifecycle.Receipt) string {
	name := i18n.Args{"Name": r.Name}
	if r.State == session.CleanupFailed {
		return b.cleanupText(r, receipt)
	}
	lines := []string{b.words.Say(i18n.ReceiptArchived, name)}
	if r.State == session.Completed {
		lines[0] = b.words.Say(i18n.ReceiptCompleted, name)
	}
	ended, spared := split(receipt)
	if receipt.Agent != nil {
		lines = append(lines, b.processLine(*receipt.Agent))
	}
	if len(ended) > 0 {
		lines = append(lines, b.words.Say(i18n.ReceiptEnded, i18n.Args{"Count": len(ended), "Details": b.processLines(ended)}))
	}
	if len(spared) > 0 {
		lines = append(lines, b.words.Say(i18n.ReceiptSpared, i18n.Args{"Count": len(spared), "Details": b.processLines(spared)}))
	}
	if receipt.Split {
		lines = append(lines, b.words.Say(i18n.ReceiptSplit))
	}
	if receipt.Waiting > 0 {
		lines = append(lines, b.words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": receipt.Waiting}))
	}
	return strings.Join(lines, "\n")
}

func split(receipt lifecycle.Receipt) (ended, spared []process.Outcome) {
	for _, out := range receipt.Others {
		switch {
		case out.How == process.HowAlreadyGone:
		case out.Ended:
			ended = append(ended, out)
		default:
			spared = append(spared, out)
		}
	}
	return ended, spared
}

func (b *Bot) cleanupText(r session.Record, receipt lifecycle.Receipt) string {
	return b.words.Say(i18n.CleanupFailed, i18n.Args{"Name": r.Name, "Count": max(len(r.Cleanup.Processes), 1),
		"Details": strings.Join(receipt.Failures, "; ")})
}

// notCleanText says the same of a session whose archive is over.
func (b *Bot) notCleanText(r session.Record) string {
	var receipt lifecycle.Receipt
	if r.Cleanup == nil {
		r.Cleanup = &session.CleanupError{} // a file that was edited
	}
	receipt.Failures = []string{r.Cleanup.Reason}
	return b.cleanupText(r, receipt)
}

func (b *Bot) processLines(outs []process.Outcome) string {
	var lines []string
	for _, out := range outs {
		lines = append(lines, b.processLine(out))
	}
	return strings.Join(lines, "; ")
}

func (b *Bot) processLine(out process.Outcome) string {
	how := out.Spared
	if out.Ended {
		how = b.words.Say(i18n.HowKey(string(out.How)))
	}
	return b.words.Say(i18n.ProcessLine, i18n.Args{"PID": out.Process.PID, "How": how})
}

// resume brings a session back, or shows those that can come back.
func (b *Bot) resume(ctx context.Context, in incoming, arg string) error {
	if arg == "" {
		return b.pickResume(ctx, in)
	}
	r, ok, err := b.find(in.to, arg, resumable)
	if err != nil {
		return err
	}
	if !ok {
		return b.resumeOpen(ctx, in, arg)
	}
	_, err = b.restore(ctx, in.to, r)
	return err
}

// resumeOpen makes a session that is open already the current one.
func (b *Bot) resumeOpen(ctx context.Context, in incoming, arg string) error {
	r, ok, err := b.find(in.to, arg, live)
	if err != nil {
		return err
	}
	if ok {
		return b.open(ctx, in.to, r)
	}
	r, ok, err = b.find(in.to, arg, endable)
	if err != nil {
		return err
	}
	if ok {
		return b.say(ctx, in.to, b.notCleanText(r))
	}
	return b.noSession(ctx, in, arg)
}

// open makes an open session the current one.
func (b *Bot) open(ctx context.Context, to session.Conversation, r session.Record) error {
	if err := b.use(ctx, to, r); err != nil {
		return err
	}
	return b.say(ctx, to, b.words.Say(i18n.ResumeAlreadyOpen, i18n.Args{"Name": r.Name}))
}

// shownToResume bounds the buttons of /resume; a name reaches any session.
const shownToResume = 10

func (b *Bot) pickResume(ctx context.Context, in incoming) error {
	var list []session.Record
	for _, r := range b.Records.List() {
		if r.State.Resumable() {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return b.say(ctx, in.to, b.words.Say(i18n.ResumeNone))
	}
	slices.SortFunc(list, func(a, c session.Record) int { return c.EndedAt.Compare(a.EndedAt) })
	var buttons []outbox.Button
	for _, r := range list[:min(len(list), shownToResume)] {
		text := fmt.Sprintf("%s, %s", r.Name, b.age(b.Now().Sub(r.EndedAt)))
		buttons = append(buttons, outbox.Button{Text: text, Data: "res:" + r.ID.String()})
	}
	return b.post(ctx, in.to, plain(b.words.Say(i18n.ResumePick)), rows(1, buttons...))
}

// restore brings a session back and makes it current. Where it cannot come back,
// that is told.
func (b *Bot) restore(ctx context.Context, to session.Conversation, r session.Record) (back bool, err error) {
	if !b.inRoots(r.Dir) {
		return false, b.say(ctx, to, b.outsideRoots(r.Dir))
	}
	restored, err := b.Sessions.Restore(ctx, r.ID)
	if state := (*lifecycle.StateError)(nil); errors.As(err, &state) && state.State.Live() {
		return true, b.open(ctx, to, r)
	}
	if err != nil {
		return false, b.explain(ctx, to, b.restoreFailure(r, err))
	}
	if err := b.use(ctx, to, r); err != nil {
		return false, err
	}
	dir := b.short(restored.Dir)
	return true, b.post(ctx, to, marked(b.words.Say(i18n.Resuming, i18n.Args{"Name": restored.Name, "Dir": dir}), dir), nil)
}

func (b *Bot) resumeButton(r session.Record) [][]outbox.Button {
	if !r.State.Resumable() {
		return nil
	}
	return rows(1, b.button(i18n.ButtonResume, "res:"+r.ID.String(), outbox.Primary))
}

// age says a duration in its largest unit.
func (b *Bot) age(d time.Duration) string {
	unit, n := i18n.AgeDays, int(d/(24*time.Hour))
	switch {
	case d < time.Minute:
		unit, n = i18n.AgeSeconds, int(d/time.Second)
	case d < time.Hour:
		unit, n = i18n.AgeMinutes, int(d/time.Minute)
	case d < 24*time.Hour:
		unit, n = i18n.AgeHours, int(d/time.Hour)
	}
	return b.words.Say(unit, i18n.Args{"Count": max(n, 0)})
}
