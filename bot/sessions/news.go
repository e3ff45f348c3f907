package sessions

import (
	"context"

	"ccbot/bot/port/news"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// tellReady says that a session takes prompts, and what in its project may keep permission requests
// from the chat.
func (s *Sessions) tellReady(ctx context.Context, n news.Note) error {
	r := n.Session
	text := s.words.Say(i18n.Ready, i18n.Args{"Name": r.Name})
	if answers := s.agents.ProjectAnswers(r.ID); answers != "" {
		text += "\n" + answers
	}
	return s.chat.For(r.ID).Say(ctx, r.Conversation, text)
}

func (s *Sessions) tellFailed(ctx context.Context, n news.Note) error {
	head := s.words.Say(i18n.FailedScreen, i18n.Args{"Name": n.Session.Name})
	return s.chat.PostScreen(ctx, n, head, s.waiting(n), s.chat.EndedButton(n.Session.ID))
}

func (s *Sessions) tellLost(ctx context.Context, n news.Note) error {
	return s.tellOver(ctx, n, i18n.Lost)
}

func (s *Sessions) tellOver(ctx context.Context, n news.Note, word i18n.Key) error {
	text := s.words.Say(word, i18n.Args{"Name": n.Session.Name}) + s.waiting(n)
	return s.chat.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Plain(text), s.chat.EndedButton(n.Session.ID))
}

func (s *Sessions) tellEnded(ctx context.Context, n news.Note) error {
	e := n.Session.Exit
	if e == nil || !e.Crashed {
		return s.tellOver(ctx, n, i18n.Ended)
	}
	args := i18n.Args{"Name": n.Session.Name, "Status": e.Status, "Signal": e.Signal}
	key := i18n.CrashedStatus
	if e.Signal != 0 {
		key = i18n.CrashedSignal
	}
	return s.chat.PostScreen(ctx, n, s.words.Say(key, args), s.waiting(n), s.chat.EndedButton(n.Session.ID))
}

// waiting says how many prompts wait for the session to come back.
func (s *Sessions) waiting(n news.Note) string {
	if len(n.Session.Prompts) == 0 {
		return ""
	}
	return "\n" + s.words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": len(n.Session.Prompts)})
}
