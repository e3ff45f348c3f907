package offer

import (
	"errors"

	"ccbot/bot/inbox"
	"ccbot/internal/spool"
	"ccbot/port"
	"ccbot/port/news"
)

// Stored reads entries, also finished ones.
type Stored interface {
	Load(key string) (inbox.Entry, error)
	Finished(key string) (inbox.Entry, error)
}

// IsForeign reports whether a machine reports about a prompt that another one has, or had last. The
// keys of prompts can be guessed.
func IsForeign(in Stored, of port.Session, n news.News) (bool, error) {
	key := promptIn(n)
	if of.Machine == "" || key == "" {
		return false, nil
	}
	e, err := in.Load(key)
	if errors.Is(err, inbox.ErrNoEntry) {
		e, err = in.Finished(key)
	}
	switch {
	case errors.Is(err, inbox.ErrNoEntry), errors.Is(err, spool.ErrName):
		return false, nil
	case err != nil:
		return false, err
	}
	return e.Machine != of.Machine && (e.Machine != unknownMachine || e.Session != of.ID), nil
}

// promptIn returns the key of the prompt that news are about; empty: none.
func promptIn(n news.News) string {
	switch n := n.(type) {
	case news.Held:
		return n.Key
	case news.Unproven:
		return n.Key
	case news.Typed:
		return n.Key
	case news.Delivered:
		return n.Key
	case news.TakenBack:
		return n.Key
	}
	return ""
}
