package bot

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tellStopped gives the receipt of an archive, with what can be done about it.
func (b *Bot) tellStopped(ctx context.Context, n lifecycle.Note) error {
	return b.of(n.Session.ID).post(ctx, n.Session.Conversation, plain(b.receiptText(n.Session, *n.Receipt)), b.afterEnd(n.Session, *n.Receipt))
}

// afterEnd is the button under a receipt.
func (b *Bot) afterEnd(r session.Record, receipt lifecycle.Receipt) [][]outbox.Button {
	switch {
	case !r.State.Resumable():
		return b.retryButton(r)
	case receipt.Quiet > 0: // nobody did it by mistake
		return rows(1, b.button(i18n.ButtonRestore, "res:"+ref(r.ID), outbox.Primary))
	}
	return rows(1, b.button(i18n.ButtonUndo, fmt.Sprintf("undo:%s:%d", ref(r.ID), b.endOf(r).Unix()), ""))
}

// endOf is when a session ended.
func (b *Bot) endOf(r session.Record) time.Time {
	if r.EndedAt.IsZero() {
		return b.Now()
	}
	return r.EndedAt
}

// receiptText says what an archive did: the session and its agent in one line,
// the rest in one more, and what stays behind.
func (b *Bot) receiptText(r session.Record, receipt lifecycle.Receipt) string {
	text := []string{b.endLine(r, receipt)}
	if others := b.othersLine(receipt.Others); others != "" {
		text = append(text, others)
	}
	if receipt.Split {
		text = append(text, b.words.Say(i18n.ReceiptSplit))
	}
	if receipt.Adopted {
		text = append(text, b.words.Say(i18n.ReceiptAdopted))
	}
	if receipt.Waiting > 0 {
		text = append(text, b.words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": receipt.Waiting}))
	}
	return strings.Join(text, "\n")
}

// endLine says that the session is over, or that it is not for sure, and how its
// agent ended.
func (b *Bot) endLine(r session.Record, receipt lifecycle.Receipt) string {
	args := i18n.Args{"Name": r.Name}
	var line string
	switch {
	case r.State == session.CleanupFailed:
		line = b.cleanupText(r, b.failureTexts(receipt.Failures))
	case receipt.Quiet > 0:
		args["Age"] = b.age(receipt.Quiet)
		line = b.words.Say(i18n.ReceiptQuiet, args)
	case r.State == session.Completed:
		line = b.words.Say(i18n.ReceiptCompleted, args)
	default:
		line = b.words.Say(i18n.ReceiptArchived, args)
	}
	if a := receipt.Agent; a != nil && a.Ended && a.How != process.HowAlreadyGone {
		line += " " + b.words.Say(i18n.ReceiptAgent, i18n.Args{"Process": b.processText(a.Process, a.Age), "How": b.howText(a.How)})
	}
	return line
}

// othersLine says which leftovers ended, by what, and what was spared and why.
func (b *Bot) othersLine(others []lifecycle.Ending) string {
	var termed, killed, spared []string
	for _, e := range others {
		who := b.processText(e.Process, e.Age)
		switch {
		case e.How == process.HowAlreadyGone:
		case e.Ended && e.How == process.HowKill:
			killed = append(killed, who)
		case e.Ended:
			termed = append(termed, who)
		case e.Reason != "": // else it is among the failures
			spared = append(spared, who+": "+b.reasonText(e.Reason))
		}
	}
	var parts []string
	for _, part := range []struct {
		word i18n.Key
		who  []string
	}{{i18n.ReceiptTermed, termed}, {i18n.ReceiptKilled, killed}, {i18n.ReceiptSpared, spared}} {
		if len(part.who) > 0 {
			parts = append(parts, b.words.Say(part.word, i18n.Args{"Count": len(part.who), "Details": b.some(part.who, "; ")}))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return b.words.Say(i18n.ReceiptOthers, i18n.Args{"Details": strings.Join(parts, "; ")})
}

// shownProcesses bounds a list of processes; the rest is counted.
const shownProcesses = 6

// some joins the first of a list and says how many more there are.
func (b *Bot) some(list []string, between string) string {
	if more := len(list) - shownProcesses; more > 0 {
		list = append(slices.Clone(list[:shownProcesses]), b.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return strings.Join(list, between)
}

// cleanupText says that an end is not proven.
func (b *Bot) cleanupText(r session.Record, details []string) string {
	return b.words.Say(i18n.CleanupFailed, i18n.Args{"Name": r.Name, "Details": b.some(details, "; ")})
}

// failureTexts say what could not be proven, each once.
func (b *Bot) failureTexts(failures []lifecycle.Failure) []string {
	var all []string
	for _, f := range failures {
		key := i18n.FailureKey(string(f.Kind))
		text := b.words.Say(key, i18n.Args{"PID": f.PID})
		switch {
		case f.PID == 0 && f.Kind == lifecycle.FailureUnknown:
			text = b.words.Say(i18n.FailureSome)
		case text == string(key): // a record may be of a later program
			text = glyph.Name(f.String())
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// notCleanText says the same of a session whose archive is over, by its record.
func (b *Bot) notCleanText(r session.Record) string {
	return b.cleanupText(r, b.notCleanDetails(r))
}

// notCleanDetails say what the record keeps of what could not be proven: the
// same as the receipt. A file that was edited may keep nothing.
func (b *Bot) notCleanDetails(r session.Record) []string {
	var failures []lifecycle.Failure
	if r.Cleanup != nil {
		for _, f := range r.Cleanup.Failures {
			failures = append(failures, lifecycle.Failure{Kind: lifecycle.FailureKind(f.Kind), PID: f.PID, Detail: f.Detail})
		}
	}
	if len(failures) == 0 {
		return []string{b.words.Say(i18n.FailureSome)}
	}
	return b.failureTexts(failures)
}

// retryButton is under what says that a session is not cleaned up.
func (b *Bot) retryButton(r session.Record) [][]outbox.Button {
	return rows(1, b.button(i18n.ButtonRetry, "try:"+ref(r.ID), ""))
}

// tapRetry tries again to end what is left of a session. The receipt comes as
// news; the message stays as it is, because it may be the list.
func (b *Bot) tapRetry(ctx context.Context, t tapEvent) error {
	r, ok := b.session(t)
	if !ok || r.State != session.CleanupFailed {
		return b.stale(ctx, t)
	}
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.Retrying), false)
	if err := b.show(ctx, t.to, r); err != nil { // the receipt comes to where the session is shown
		return err
	}
	final := r.Final
	if final == "" {
		final = session.Archived
	}
	if err := b.Sessions.Archive(ctx, r.ID, final, fmt.Sprintf("another try, asked for by %d", t.from)); err != nil {
		return b.explain(ctx, t.to, b.agentFailure(r, err))
	}
	return nil
}

// endingLine says what became of one process that a person wanted ended.
func (b *Bot) endingLine(e lifecycle.Ending) string {
	args := i18n.Args{"Process": b.processText(e.Process, e.Age)}
	switch {
	case e.Ended && e.Verified:
		args["How"] = b.howText(e.How)
		return b.words.Say(i18n.EndingDone, args)
	case e.Reason != "":
		args["Reason"] = b.reasonText(e.Reason)
		return b.words.Say(i18n.EndingSpared, args)
	}
	return b.words.Say(i18n.EndingUnknown, args)
}

func (b *Bot) howText(how process.How) string { return b.words.Say(i18n.HowKey(string(how))) }

// reasonText says why a process was left alone.
func (b *Bot) reasonText(code string) string { return b.words.Say(i18n.ReasonKey(code)) }

// processText names a process: its program, pid, age and terminal.
func (b *Bot) processText(p process.Process, age time.Duration) string {
	parts := []string{fmt.Sprintf("pid %d", p.PID)}
	if name := program(p); name != "" {
		parts = append([]string{name}, parts...)
	}
	if age > 0 {
		parts = append(parts, b.age(age))
	}
	if tty := p.Terminal(); tty != "" {
		parts = append(parts, tty)
	}
	return strings.Join(parts, ", ")
}

// program is the name by which a person knows a process.
func program(p process.Process) string {
	for _, name := range append(slices.Clone(p.Args[:min(len(p.Args), 1)]), p.Exe, p.Comm) {
		if name != "" {
			return clip(glyph.Name(filepath.Base(name)), 24)
		}
	}
	return ""
}

// visible takes out of somebody's words what does not show, or would turn around
// what stands behind it on the screen. Names are shown by glyph.Name.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200d': // joiners make pictures
			return -1
		}
		return r
	}, text)
}

// clip keeps the end of a text, which tells paths apart.
func clip(text string, letters int) string {
	if all := []rune(text); len(all) > letters {
		return "…" + string(all[len(all)-letters+1:])
	}
	return text
}
