package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/pause"
)

// person is a person who may use the bot.
type person struct {
	id       int64
	language string // of their Telegram, as an IETF tag; empty: not known
}

const (
	codeBytes = 16               // 128 bits cannot be guessed
	codeFor   = 10 * time.Minute // how long a code can be used
	pollWait  = 30 * time.Second
	again     = time.Second // between looks that show the same updates, or fail
)

var errNobody = errors.New("the code was not used in time: begin again for a new one, or give --allow with your Telegram id")

// choosePeople returns the named people, or the sender of the code; or, if people are allowed
// already and no person is added, all allowed people.
func (s *Setup) choosePeople(ctx context.Context, b bot) (people []person, err error) {
	ids := s.Flags.Allow
	if len(ids) == 0 && len(s.AllowedUsers) > 0 {
		more, err := s.Terminal.Yes(ctx, fmt.Sprintf("Allowed: %s. Allow another person?", list(s.AllowedUsers)), false)
		if err != nil {
			return nil, err
		}
		if !more {
			ids = s.AllowedUsers
		}
	}
	for _, id := range ids {
		people = append(people, person{id: id})
	}
	if len(people) > 0 {
		return people, nil
	}
	if s.Terminal.In == nil {
		return nil, exit.Usage(errors.New("there is no terminal to ask at: say with --allow who may speak to the bot"))
	}
	client := telegram.Client(b.token, s.APIURL, s.Proxy())
	defer client.CloseIdleConnections()
	pairing := &pairing{keep: len(s.AllowedUsers) > 0, printf: s.Terminal.printLine, fetch: func(ctx context.Context, offset int64) ([]json.RawMessage, error) {
		return telegram.Peek(ctx, client, s.APIURL, offset, pollWait)
	}}
	for {
		found, err := s.pair(ctx, b, pairing)
		if err != nil {
			return nil, err
		}
		yours, err := s.Terminal.Yes(ctx, fmt.Sprintf("%s, id %d: yours?", found.named(), found.ID), false)
		if err != nil {
			return nil, err
		}
		if yours {
			return []person{{found.ID, found.Language}}, nil
		}
	}
}

// pair shows a new code and waits for a person to send it. The code is worthless afterwards.
func (s *Setup) pair(ctx context.Context, b bot, at *pairing) (sender, error) {
	random := make([]byte, codeBytes)
	_, _ = rand.Read(random) // it never fails
	code := base64.RawURLEncoding.EncodeToString(random)
	link := b.link() + "?start=" + code
	picture, err := draw(link, s.Terminal.width())
	if err != nil {
		return sender{}, fmt.Errorf("draw the link: %w", err)
	}
	s.Terminal.printLine("%s %s\nand press Start. It can be used once, for %d minutes. Waiting…",
		cmp.Or(terminal.Words("", picture, "\nScan this with your phone or open"), "Open"), link, int(codeFor/time.Minute))
	return at.wait(ctx, code)
}

// pairing receives the code. It does not remove updates from Telegram, because they may be for the
// bot. Only if no person is allowed yet, and the pending updates fill the page, are they removed.
type pairing struct {
	keep   bool // a person is allowed already
	printf func(format string, args ...any)
	fetch  func(ctx context.Context, offset int64) ([]json.RawMessage, error)
	offset int64
}

// wait returns the person who has sent the code in a private chat. All others are ignored.
func (d *pairing) wait(ctx context.Context, code string) (sender, error) {
	limited, cancel := context.WithTimeoutCause(ctx, codeFor, errNobody)
	defer cancel()
	pace := pause.Backoff{Min: again, Max: pollWait}
	for failing := false; ; {
		updates, err := d.fetch(limited, d.offset)
		switch {
		case ctx.Err() != nil:
			return sender{}, ctx.Err()
		case limited.Err() != nil:
			return sender{}, errNobody
		case errors.Is(err, telegram.ErrRival):
			return sender{}, fmt.Errorf("%w: end it and begin again, or give --allow with your Telegram id", err)
		case errors.Is(err, telegram.ErrRevoked), errors.Is(err, telegram.ErrWebhook):
			return sender{}, err
		case err != nil && !failing:
			d.printf("Telegram does not answer, trying again: %s", terminal.Printable(terminal.Plain(err)))
		}
		last := int64(0)
		for _, raw := range updates {
			u := read(raw)
			if from, ok := u.with(code); ok {
				return from, nil
			}
			last = max(last, u.ID)
		}
		if len(updates) >= telegram.MostUpdates {
			if d.keep {
				return sender{}, errors.New("100 messages are pending at Telegram, so the code cannot be seen: start ccbot to receive them, and begin again; or use --allow with the Telegram id")
			}
			d.offset = last + 1
		}
		if failing = err != nil; !failing {
			pace.Reset()
		}
		if failing || len(updates) > 0 { // a fetch does not wait while updates are pending
			_ = pause.For(limited, pace.Next())
		}
	}
}

// update is as much of an update as counts here.
type update struct {
	ID      int64 `json:"update_id"`
	Message *struct {
		Text string `json:"text"`
		From sender `json:"from"`
		Chat struct {
			ID   int64  `json:"id"`
			Type string `json:"type"`
		} `json:"chat"`
	} `json:"message"`
}

type sender struct {
	ID        int64  `json:"id"`
	Bot       bool   `json:"is_bot"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
	Language  string `json:"language_code"`
}

// read reads an update alone: an invalid one does not hide the others.
func read(raw json.RawMessage) (u update) {
	if json.Unmarshal(raw, &u) != nil {
		u.Message = nil
	}
	return u
}

// with returns the sender if the update is the code, from a person in the private chat.
func (u update) with(code string) (sender, bool) {
	m := u.Message
	if m == nil || m.From.Bot || m.From.ID <= 0 || m.Chat.Type != "private" || m.Chat.ID != m.From.ID {
		return sender{}, false
	}
	return m.From, subtle.ConstantTimeCompare([]byte(m.Text), []byte("/start "+code)) == 1
}

// named is the sender for a person to recognise. Names can be chosen freely, the id cannot; the
// quotes keep a name from looking like an id.
func (f sender) named() string {
	if f.Username != "" {
		return "@" + terminal.Printable(f.Username)
	}
	return strconv.Quote(f.FirstName)
}
