package host

import (
	"context"

	"ccbot/bot/port/news"
	"ccbot/bot/port/prompts"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// Chat hears what happens to sessions.
type Chat interface {
	SessionNews(ctx context.Context, n news.Note) error
}

// News tells the chat what lifecycle tells.
type News struct {
	Sessions *Sessions
	Chat     Chat
}

// SessionNews tells one piece of news.
func (n News) SessionNews(ctx context.Context, note lifecycle.Note) error {
	return n.Chat.SessionNews(ctx, n.Sessions.Note(note))
}

// Note is a piece of news as the chat understands it.
func (m Sessions) Note(n lifecycle.Note) news.Note {
	shown := news.Note{Kind: n.Kind, Session: View(n.Session), From: View(n.From), Asked: n.Asked, InBox: n.InBox,
		Screen: n.Screen, Attach: n.Attach, Draft: n.Draft, Dialog: n.Dialog, Writers: m.writersOf(n.Writers),
		Now: n.Now, Prompt: promptOf(n.Prompt)}
	if n.Kind == lifecycle.NoteNotReporting {
		shown.Waited = lifecycle.StartNotice
	}
	if n.Kind == lifecycle.NoteReady {
		shown.Answerers = answerersOf(n.Session)
	}
	if n.Receipt != nil {
		receipt := receiptOf(*n.Receipt)
		shown.Receipt = &receipt
	}
	return shown
}

func promptOf(p lifecycle.Prompt) prompts.Prompt {
	shown := prompts.Prompt{Key: p.Key, Text: p.Text, Class: p.Class}
	if p.Mark != nil {
		shown.Mark = &prompts.Mark{At: p.Mark.At, Path: p.Mark.Path, Offset: p.Mark.Offset}
	}
	return shown
}

func receiptOf(r lifecycle.Receipt) news.Receipt {
	all := r.Others
	if r.Agent != nil {
		all = append([]lifecycle.Ending{*r.Agent}, all...)
	}
	return news.Receipt{Endings: endingsOf(all), Stays: r.Split || r.Adopted, Quiet: r.Quiet}
}

// StartOf is what a recovery found and did, as the chat understands it. What was set aside it does not know.
func StartOf(r recovery.Report) (s news.Start) {
	s.Booted = r.Booted
	for _, done := range r.Results {
		s.Repaired = append(s.Repaired, news.Repair{Session: done.Action.Record, Failed: done.Err != nil})
	}
	for _, n := range r.Notices {
		switch n.Kind {
		case recovery.Unclear:
			s.Unclear = append(s.Unclear, n.Record)
		case recovery.Newer:
			s.Newer++
		}
	}
	return s
}
