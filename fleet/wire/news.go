package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"ccbot/port"
	"ccbot/port/news"
)

// Chat takes the news about sessions.
type Chat interface {
	SessionNews(ctx context.Context, s port.Session, n news.News) error
}

// newsKind is the kind of an envelope with news.
const newsKind = "News"

// reported is the body of an envelope with news.
type reported[N any] struct {
	Session port.Session `json:"session"`
	Of      string       `json:"of"` // the type of the news
	News    N            `json:"news"`
}

// SessionNews sends news to the chat and returns when the chat has kept them. It implements Chat.
func (c *Client) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	body, err := json.Marshal(reported[news.News]{Session: s, Of: reflect.TypeOf(n).Name(), News: n})
	if err != nil {
		return fmt.Errorf("news: %w", err)
	}
	a, err := c.send(ctx, Envelope{V: Version, Kind: newsKind, From: c.From, To: c.To, Session: s.ID, ID: strconv.FormatInt(c.last.Add(1), 10), Body: body})
	if err != nil {
		return err
	}
	return a.Error.decode()
}

// Reader passes the news of another machine on to the chat.
type Reader struct {
	Chat Chat
	Late bool // see port.Session
}

// ErrUnread is returned for news that this program cannot read. A newer one may.
var ErrUnread = errors.New("news of a newer program")

// Answer passes on the news of an envelope and returns the answer.
func (r Reader) Answer(ctx context.Context, e Envelope) Envelope {
	s, n, err := readNews(e)
	if err == nil {
		err = r.Chat.SessionNews(ctx, s, n)
	}
	return e.answer(nil, err)
}

// Take passes on news in the form of Encode. The error is ErrUnread or the chat's.
func (r Reader) Take(ctx context.Context, data []byte) error {
	e, err := Decode(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnread, err)
	}
	s, n, err := readNews(e)
	if err != nil {
		return err
	}
	s.Late = r.Late
	return r.Chat.SessionNews(ctx, s, n)
}

func readNews(e Envelope) (port.Session, news.News, error) {
	var in reported[json.RawMessage]
	if err := unmarshal(e.Body, &in); err != nil {
		return port.Session{}, nil, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	read, ok := newsKinds[in.Of]
	if e.Kind != newsKind || !ok {
		return port.Session{}, nil, fmt.Errorf("%w: %s %s", ErrUnread, e.Kind, in.Of)
	}
	n, err := read(in.News)
	if err == nil {
		err = checkBounds(reflect.ValueOf(&in.Session))
	}
	if err != nil {
		return port.Session{}, nil, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return in.Session, n, nil
}

func decodeNews[N news.News](data json.RawMessage) (news.News, error) {
	var n N
	err := unmarshal(data, &n)
	if err == nil {
		err = checkBounds(reflect.ValueOf(&n))
	}
	if err != nil {
		return nil, fmt.Errorf("news: %w", err)
	}
	return n, nil
}
