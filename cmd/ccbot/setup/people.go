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

// person is somebody who may speak to the bot.
type person struct {
	id       int64
	language string // of their Telegram, as an IETF tag; empty: not known
}

const (
	codeBytes = 16               // nobody guesses 128 bits
	codeFor   = 10 * time.Minute // how long a code can be used
	pollWait  = 30 * time.Second
	again     = time.Second // between looks that show the same updates, or fail
)

var errNobody = errors.New("nobody has used the code in time: begin again for a new one, or give --allow with your Telegram id")

// choosePeople returns who was named, or who has sent the code; or, where somebody is allowed
// already and nobody is to be added, all who are allowed.
func (s *Setup) choosePeople(ctx context.Context, b bot) (people []person, err error) {
	ids := s.Flags.Allow
	if len(ids) == 0 && len(s.AllowedUsers) > 0 {
		more, err := s.Terminal.Yes(ctx, fmt.Sprintf("Allowed: %s. Let somebody else in?", list(s.AllowedUsers)), false)
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
	door := &door{keep: len(s.AllowedUsers) > 0, say: s.Terminal.say, look: func(ctx context.Context, offset int64) ([]json.RawMessage, error) {
		return telegram.Peek(ctx, client, s.APIURL, offset, pollWait)
	}}
	for {
		found, err := s.pair(ctx, b, door)
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

// pair shows a new code and waits for who sends it. The code is worth nothing afterwards.
func (s *Setup) pair(ctx context.Context, b bot, at *door) (sender, error) {
	random := make([]byte, codeBytes)
	_, _ = rand.Read(random) // it never fails
	code := base64.RawURLEncoding.EncodeToString(random)
	link := b.link() + "?start=" + code
	picture, err := draw(link, s.Terminal.width())
	if err != nil {
		return sender{}, fmt.Errorf("draw the link: %w", err)
	}
	s.Terminal.say("%s %s\nand press Start. It can be used once, for %d minutes. Waiting…",
		cmp.Or(terminal.Words("", picture, "\nScan this with your phone or open"), "Open"), link, int(codeFor/time.Minute))
	return at.wait(ctx, code)
}

// door is where somebody comes in who sends the code. Looks take nothing away from Telegram: what
// waits there may be for the bot. Only where nobody is allowed yet, and so many updates wait that
// no more can be seen, they are taken away.
type door struct {
	keep   bool // somebody is allowed already
	say    func(format string, args ...any)
	look   func(ctx context.Context, offset int64) ([]json.RawMessage, error)
	offset int64
}

// wait returns who has sent the code in a private chat. Everybody else is ignored.
func (d *door) wait(ctx context.Context, code string) (sender, error) {
	limited, cancel := context.WithTimeoutCause(ctx, codeFor, errNobody)
	defer cancel()
	pace := pause.Backoff{Min: again, Max: pollWait}
	for failing := false; ; {
		updates, err := d.look(limited, d.offset)
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
			d.say("Telegram cannot be asked just now, trying again: %s", terminal.Printable(terminal.Plain(err)))
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
				return sender{}, errors.New("so many messages wait at Telegram that the code cannot be seen: start ccbot so that it takes them, and begin again; or give --allow with the Telegram id")
			}
			d.offset = last + 1
		}
		if failing = err != nil; !failing {
			pace.Reset()
		}
		if failing || len(updates) > 0 { // the next look does not wait, because they are still there
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

// read reads an update alone: one that makes no sense does not hide the others.
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
