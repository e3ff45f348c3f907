package sessions

import (
	"context"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tellStopped gives the receipt of an archive, with what can be done about it.
func (m *Resumer) tellStopped(ctx context.Context, n news.Note) error {
	r, receipt := n.Session, *n.Receipt
	offered := offer{Offer: chat.Offer{Session: r.ID}}
	option := m.chat.Option(i18n.ButtonUndo, "0", "")
	switch {
	case !r.Resumable:
		option = m.chat.Option(i18n.ButtonRetry, "0", "")
		offered.Retry, offered.Launch = true, chat.LaunchOf(r)
	case receipt.Quiet > 0: // nobody did it by mistake
		option = m.chat.Option(i18n.ButtonRestore, "0", outbox.Primary)
	case r.EndedAt.IsZero():
		offered.UndoUntil = m.chat.Now().Add(undoFor)
	default:
		offered.UndoUntil = r.EndedAt.Add(undoFor)
	}
	return m.offer(ctx, r.Conversation, r.ID, render.Plain(receiptText(m.chat.Phrases, r, receipt)), []offer{offered}, option)
}

// receiptText says what an archive did: the session and its agent in one line, the rest in one
// more, and what stays behind.
func receiptText(p chat.Phrases, r views.Session, receipt news.Receipt) string {
	text := []string{endLine(p, r, receipt)}
	if others := othersLine(p, receipt.Others); others != "" {
		text = append(text, others)
	}
	if receipt.Split {
		text = append(text, p.Words.Say(i18n.ReceiptSplit))
	}
	if receipt.Adopted {
		text = append(text, p.Words.Say(i18n.ReceiptAdopted))
	}
	if receipt.Waiting > 0 {
		text = append(text, p.Words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": receipt.Waiting}))
	}
	return strings.Join(text, "\n")
}

// endLine says that the session is over, or that the end is not proven, and how the agent ended.
func endLine(p chat.Phrases, r views.Session, receipt news.Receipt) string {
	args := i18n.Args{"Name": r.Name}
	var line string
	switch {
	case r.State == views.CleanupFailed:
		line = p.NotProvenText(r, p.FailureTexts(receipt.Failures))
	case receipt.Quiet > 0:
		args["Age"] = p.Age(receipt.Quiet)
		line = p.Words.Say(i18n.ReceiptQuiet, args)
	case r.State == views.Completed:
		line = p.Words.Say(i18n.ReceiptCompleted, args)
	default:
		line = p.Words.Say(i18n.ReceiptArchived, args)
	}
	if a := receipt.Agent; a != nil && a.Ended && a.How != control.AlreadyGone {
		how := p.Words.Say(i18n.HowKey(string(a.How)))
		agent := i18n.Args{"Process": p.ProcessText(a.Process), "How": how}
		line += " " + p.Words.Say(i18n.ReceiptAgent, agent)
	}
	return line
}

// othersLine says which leftovers ended, by what, and what was spared and why.
func othersLine(p chat.Phrases, others []control.Ending) string {
	var termed, killed, spared []string
	for _, e := range others {
		who := p.ProcessText(e.Process)
		switch {
		case e.How == control.AlreadyGone:
		case e.Ended && e.How == control.Killed:
			killed = append(killed, who)
		case e.Ended:
			termed = append(termed, who)
		case e.Reason != "": // else it is among the failures
			spared = append(spared, who+": "+p.Words.Say(i18n.ReasonKey(e.Reason)))
		}
	}
	var parts []string
	for _, part := range []struct {
		word i18n.Key
		who  []string
	}{{i18n.ReceiptTermed, termed}, {i18n.ReceiptKilled, killed}, {i18n.ReceiptSpared, spared}} {
		if len(part.who) > 0 {
			args := i18n.Args{"Count": len(part.who), "Details": p.Some(part.who, "; ")}
			parts = append(parts, p.Words.Say(part.word, args))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return p.Words.Say(i18n.ReceiptOthers, i18n.Args{"Details": strings.Join(parts, "; ")})
}
