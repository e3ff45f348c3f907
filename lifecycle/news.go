package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// notify reports what happened to the session. News that are kept are stored with the next save and
// delivered after it; other news are delivered at once.
func (w *turn) notify(ctx context.Context, n news.News) error {
	told := w.News.Translate(*w.r, n)
	if !news.IsKept(told) {
		return w.tell(ctx, w.News.View(w.r.Clone()), told)
	}
	kind, body, err := news.Encode(told)
	if err == nil {
		err = w.r.AddNews(kind, body, w.Now())
	}
	w.reports = true
	if err != nil {
		return fmt.Errorf("store %T of session %s: %w", n, w.r.ID, err)
	}
	return nil
}

func (w *turn) tell(ctx context.Context, s port.Session, n news.News) error {
	if err := w.News.SessionNews(ctx, s, n); err != nil {
		return fmt.Errorf("tell %T of session %s: %w", n, s.ID, err)
	}
	return nil
}

// saveNews puts the record on disk, and then delivers its news, if this turn reports any. News that
// the chat does not take stay in the record: a step tries again.
func (w *turn) saveNews(ctx context.Context) error {
	if err := w.addViews(); err != nil {
		return err
	}
	if err := w.write(); err != nil || !w.reports {
		return err
	}
	if w.deliver(ctx) != nil {
		w.agenda.wake(w.r.ID) // a step reports why
	}
	return nil
}

// failureLimit bounds the failures in a stored view.
const failureLimit = 50

// addViews stores with the news that may be delivered what the session is at this save: they may be
// delivered much later.
func (w *turn) addViews() error {
	w.r.News = slices.Clone(w.r.News)
	var view string
	for i, n := range due(*w.r) {
		if n.View != "" {
			continue
		}
		if view == "" {
			s := w.News.View(w.r.Clone()).WithPresent(port.Session{})
			s.Failures = s.Failures[:min(len(s.Failures), failureLimit)]
			data, err := json.Marshal(s)
			if err != nil {
				return fmt.Errorf("view of session %s: %w", w.r.ID, err)
			}
			view = string(data)
		}
		w.r.News[i].View = view
	}
	return nil
}

// viewWith returns the session as it was when the news were stored.
func (w *turn) viewWith(n session.News) port.Session {
	now := w.News.View(w.r.Clone())
	s := now
	if n.View != "" {
		var then port.Session
		if err := json.Unmarshal([]byte(n.View), &then); err != nil { // of a later program
			w.Log.Error("news_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
		} else {
			s = then.WithPresent(now)
		}
	}
	s.News = n.Number
	return s
}

// due returns the news that may be delivered. While a session is being ended, the last one waits:
// it may be the news of that end, and a record is never older than its news. The others do not
// wait, because the receipt needs a place.
func due(r session.Record) []session.News {
	if last := len(r.News) - 1; last >= 0 && r.State == session.Stopping {
		return r.News[:last]
	}
	return r.News
}

// deliver sends the chat the news of a record that is as on disk, in order. The next save removes
// delivered news from the file; the last save of a session that has ended is here.
func (w *turn) deliver(ctx context.Context) error {
	all := due(*w.r)
	if len(all) == 0 {
		return nil
	}
	w.at("news-saved")
	for _, n := range all {
		told, err := news.Decode(n.Kind, n.Body)
		if err != nil { // of a later program
			w.Log.Error("news_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
		} else {
			if err := w.tell(ctx, w.viewWith(n), told); err != nil {
				return err
			}
		}
		w.r.News = w.r.News[1:]
		w.at("news-told")
	}
	if !w.r.State.HasEnded() {
		w.store.Acknowledge(*w.r)
		return nil
	}
	w.r.Upkeep()
	if err := w.write(); err != nil {
		return fmt.Errorf("note that the chat has the news: %w", err)
	}
	w.at("news-acknowledged")
	return nil
}

// deliverNews sends the chat the news that it did not take, or that a crash has left.
func (c *core) deliverNews(ctx context.Context, r session.Record) error {
	if len(due(r)) == 0 {
		return nil
	}
	return c.do(ctx, r.ID, func(w *work) error { return w.deliver(ctx) })
}
