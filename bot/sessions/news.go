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

// tellReady says that a session takes prompts, and what in its project may keep permission requests
// from the chat.
func (s *Sessions) tellReady(ctx context.Context, n news.Note) error {
	r := n.Session
	text := s.chat.Words.Say(i18n.Ready, i18n.Args{"Name": r.Name})
	if answers := s.agents.ProjectAnswers(r.ID); answers != "" {
		text += "\n" + answers
	}
	return s.chat.For(r.ID).Say(ctx, r.Conversation, text)
}

// tellOver says how a session ended by itself; of one that crashed or never was ready, with the
// last screen.
func (s *Sessions) tellOver(ctx context.Context, n news.Note) error {
	r, word, args, waiting := n.Session, i18n.Ended, i18n.Args{"Name": n.Session.Name}, ""
	switch e := r.Exit; {
	case n.Asked:
		word, n.Screen = i18n.EndedAsked, ""
	case n.Kind == news.Failed:
		word = i18n.FailedScreen
	case n.Kind == news.Lost:
		word, n.Screen = i18n.Lost, ""
	case e != nil && e.Crashed && e.Signal != 0:
		word, args["Signal"] = i18n.CrashedSignal, e.Signal
	case e != nil && e.Crashed:
		word, args["Status"] = i18n.CrashedStatus, e.Status
	default:
		n.Screen = ""
	}
	if n := len(r.Prompts); n > 0 {
		waiting = s.chat.Words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": n})
	}
	return s.chat.PostScreen(ctx, n, s.chat.Words.Say(word, args), waiting, s.chat.EndedButton(r.ID))
}

// tellStopped gives the receipt of an archive, with what can be done about it.
func (s *Sessions) tellStopped(ctx context.Context, n news.Note) error {
	r, text := n.Session, render.Plain(receiptText(s.chat.Phrases, n.Session, *n.Receipt))
	if !r.Resumable {
		return s.chat.For(r.ID).Post(ctx, r.Conversation, text, s.chat.ResumeButton(r))
	}
	back := offer{Offer: chat.Offer{Session: r.ID}}
	option := s.chat.Option(i18n.ButtonRestore, plainOption, outbox.Primary)
	if n.Receipt.Quiet == 0 {
		back.Undo, option = true, s.chat.Option(i18n.ButtonUndo, plainOption, "")
	}
	return s.offer(ctx, r.Conversation, text, back, option)
}

// receiptText says what an archive did, a line for each process, and what stays behind.
func receiptText(p chat.Phrases, r views.Session, receipt news.Receipt) string {
	head := i18n.ReceiptArchived
	switch {
	case receipt.Quiet > 0:
		head = i18n.ReceiptQuiet
	case r.State == views.Completed:
		head = i18n.ReceiptCompleted
	}
	text := []string{p.Words.Say(head, i18n.Args{"Name": r.Name, "Age": p.Age(receipt.Quiet)})}
	if isNotClean(r) {
		text[0] = p.NotCleanText(r)
	}
	text = append(text, endingLines(p, receipt.Endings)...)
	if receipt.Stays {
		text = append(text, p.Words.Say(i18n.ReceiptStays))
	}
	if n := len(r.Prompts); n > 0 {
		text = append(text, p.Words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": n}))
	}
	return strings.Join(text, "\n")
}

// endingLines say which processes ended and how, and which were spared and why. What is not proven
// is among the failures.
func endingLines(p chat.Phrases, all []control.Ending) []string {
	var lines []string
	for _, e := range all {
		if e.How != control.AlreadyGone && (e.Ended || e.Reason != "") {
			lines = append(lines, "• "+p.EndingText(e))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []string{p.Some(lines, "\n")}
}
