package bot

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tellStopped gives the receipt of an archive, with what can be done about it.
func (b *Bot) tellStopped(ctx context.Context, n lifecycle.Note) error {
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Plain(b.receiptText(n.Session, *n.Receipt)), b.afterEnd(n.Session, *n.Receipt))
}

// afterEnd is the button under a receipt.
func (b *Bot) afterEnd(r session.Record, receipt lifecycle.Receipt) [][]outbox.Button {
	switch {
	case !r.State.Resumable():
		return b.retryButton(r)
	case receipt.Quiet > 0: // nobody did it by mistake
		return chat.Rows(1, b.Button(i18n.ButtonRestore, "res:"+ref(r.ID), outbox.Primary))
	}
	return chat.Rows(1, b.Button(i18n.ButtonUndo, fmt.Sprintf("undo:%s:%d", ref(r.ID), b.endOf(r).Unix()), ""))
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
		args["Age"] = b.Age(receipt.Quiet)
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
			parts = append(parts, b.words.Say(part.word, i18n.Args{"Count": len(part.who), "Details": b.Some(part.who, "; ")}))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return b.words.Say(i18n.ReceiptOthers, i18n.Args{"Details": strings.Join(parts, "; ")})
}

// cleanupText says that an end is not proven.
func (b *Bot) cleanupText(r session.Record, details []string) string {
	return b.words.Say(i18n.CleanupFailed, i18n.Args{"Name": r.Name, "Details": b.Some(details, "; ")})
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
	return chat.Rows(1, b.Button(i18n.ButtonRetry, "try:"+ref(r.ID), ""))
}

// tapRetry tries again to end what is left of a session. The receipt comes as news; the message
// stays as it is, because it may be the list.
func (b *Bot) tapRetry(_ context.Context, t chat.Tap) (chat.Answer, error) {
	r, ok := b.session(t)
	if !ok || r.State != session.CleanupFailed {
		return b.stale(t)
	}
	return chat.Answer{Text: b.words.Say(i18n.Retrying), Then: func(ctx context.Context) error {
		if err := b.MoveTo(ctx, t.To, r); err != nil { // the receipt comes to where the session is shown
			return err
		}
		final := cmp.Or(r.Final, session.Archived)
		if err := b.Sessions.Archive(ctx, r.ID, final, fmt.Sprintf("another try, asked for by %d", t.From)); err != nil {
			return b.Explain(ctx, t.To, b.agentFailure(r, err))
		}
		return nil
	}}, nil
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
		parts = append(parts, b.Age(age))
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
			return chat.Tail(glyph.Name(filepath.Base(name)), 24)
		}
	}
	return ""
}
