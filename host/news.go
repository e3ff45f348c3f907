package host

import (
	"context"

	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// Chat gets the news about sessions.
type Chat interface {
	SessionNews(ctx context.Context, s views.Session, n news.News) error
}

// News passes the news from lifecycle on to the chat.
type News struct {
	Sessions *Sessions
	Chat     Chat
	Moments  Moments // a session that was ended on purpose needs none
}

// SessionNews passes on one piece of news.
func (n News) SessionNews(ctx context.Context, r session.Record, told news.News) error {
	err := n.Chat.SessionNews(ctx, View(r), n.Sessions.News(r, told))
	if r.State.EndedOnPurpose() {
		_ = n.Moments.Forget(r.ID) // else a start removes them
	}
	return err
}

// News is a piece of news as the chat understands it.
func (m Sessions) News(r session.Record, n news.News) news.News {
	switch n := n.(type) {
	case news.Ready:
		return news.Ready{Answerers: answerersOf(r)}
	case lifecycle.Receipt:
		all := n.Others
		if n.Agent != nil {
			all = append([]lifecycle.Ending{*n.Agent}, all...)
		}
		return news.Stopped{Endings: endingsOf(all), Stays: n.Split || n.Adopted, Quiet: n.Quiet, Together: n.Together}
	case lifecycle.OtherWriters:
		return news.OtherWriters(m.writersOf(n))
	}
	return n
}

// StartOf is what a recovery found and did, in the terms of the chat. It does not include the
// records that were set aside, because the report does not have them.
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
