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
	said := render.Plain(text)
	if cut := s.interrupted(r.Interruption); !cut.Blank() && len(r.Prompts) == 0 {
		said = render.Join(said, render.Plain("\n"), cut)
		return s.chat.For(r.ID).Post(ctx, r.Conversation, said, chat.Rows(1, s.chat.ContinueButton(r)...))
	}
	return s.chat.For(r.ID).Post(ctx, r.Conversation, said, nil)
}

// tellOver says how a session ended by itself; of one that crashed or never was ready, with the
// last screen.
func (s *Sessions) tellOver(ctx context.Context, n news.Note) error {
	r, args := n.Session, i18n.Args{"Name": n.Session.Name}
	said, waiting := s.chat.Words.Say(i18n.Ended, args), ""
	switch {
	case n.Kind == news.Failed:
		said = s.chat.Words.Say(i18n.FailedScreen, args)
	case n.Kind == news.Lost:
		said, n.Screen = s.chat.Words.Say(i18n.Lost, args), ""
	case r.Exit != nil && r.Exit.Crashed:
		said = s.crashText(r)
	default:
		n.Screen = ""
	}
	if n := len(r.Prompts); n > 0 {
		waiting = s.chat.Words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": n})
	}
	foot := s.interrupted(r.Interruption)
	if waiting != "" {
		foot = render.Join(render.Plain(waiting+"\n"), foot)
	}
	buttons := s.chat.EndedButton(r.ID)
	buttons[0] = append(buttons[0], s.chat.ContinueButton(r)...)
	return s.chat.PostScreen(ctx, n, said, foot, buttons)
}

// crashText says how the agent of a session crashed.
func (s *Sessions) crashText(r views.Session) string {
	if r.Exit.Signal != 0 {
		return s.chat.Words.Say(i18n.CrashedSignal, i18n.Args{"Name": r.Name, "Signal": r.Exit.Signal})
	}
	return s.chat.Words.Say(i18n.CrashedStatus, i18n.Args{"Name": r.Name, "Status": r.Exit.Status})
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
