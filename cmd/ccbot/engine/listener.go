package engine

import (
	"context"

	"ccbot/hooks"
	"ccbot/host"
	"ccbot/internal/logkey"
	"ccbot/port/news"
)

// listener implements hooks.Listener: the chat gets permission requests as news.
type listener struct{ *Engine }

// OnRequest implements hooks.Listener. The news have what the chat shows next to the request: it
// calls no port.
func (e listener) OnRequest(ctx context.Context, q hooks.Request) error {
	project, err := e.Decisions().Answerers(ctx, q.Session)
	if err != nil {
		return err
	}
	return e.report(ctx, q, news.Requested{Request: q, Project: project})
}

// OnLeft implements hooks.Listener. Without the news the chat notices it later.
func (e listener) OnLeft(ctx context.Context, q hooks.Request) {
	if err := e.report(ctx, q, news.RequestLeft{Request: q.ID}); err != nil {
		e.Log.Warn("host_step_failed", logkey.Error, err)
	}
}

func (e listener) report(ctx context.Context, q hooks.Request, n news.News) error {
	s, known := e.Views().Get(q.Session)
	if !known {
		return hooks.ErrRefused
	}
	return e.Receipts.Chat.SessionNews(ctx, s, n)
}

// Decisions returns the port through which the chat decides requests.
func (e *Engine) Decisions() host.Decisions {
	return host.Decisions{Relay: e.Relay, Agents: e.Coding, Records: e.Store}
}
