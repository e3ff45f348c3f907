package session

import (
	"errors"
	"slices"
	"time"
)

// News is news of the session that the chat may not have yet. The save of a change stores the news
// about it, see [ccbot/port/news.Kept].
type News struct {
	// Number is higher than the numbers of all earlier news of the session, also of a record that
	// was restored from a copy, see WithLaterNews: it is not below the time in milliseconds.
	Number int64  `json:"number"`
	Kind   string `json:"kind"`
	Body   string `json:"body"` // JSON
	// View is the session as the chat shall see it with the news, in JSON. It is empty until the
	// news may be delivered.
	View string `json:"view,omitempty"`
}

// newsLimit bounds the news that wait for the chat. There are more only if the chat has taken none
// for long; then changes wait that have news.
const newsLimit = 50

// errTooMuchNews prevents a change whose news could not be stored.
var errTooMuchNews = errors.New("too many news wait for the chat")

// AddNews appends news. The caller saves.
func (r *Record) AddNews(kind string, body string, now time.Time) error {
	if len(r.News) >= newsLimit {
		return errTooMuchNews
	}
	r.LastNews = max(r.LastNews+1, now.UnixMilli())
	r.News = append(slices.Clone(r.News), News{Number: r.LastNews, Kind: kind, Body: body})
	return nil
}

// Acknowledge makes a record without the news that the chat has visible to readers without writing
// it: the next save writes it. It is called inside Do, with the record of a session that has not
// ended.
func (s *Store) Acknowledge(r Record) { s.publish(r, true) }
