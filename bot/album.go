package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/internal/session"
)

// albumQuiet is how long nothing more of an album has to come until it is taken for
// whole: Telegram sends each of its files as a message, and never says how many.
const albumQuiet = 1500 * time.Millisecond

// albumRetry is the pause after a prompt that could not be made of an album.
const albumRetry = 10 * time.Second

// fetchTries is how often the intake hands on an update. One of an album is not
// given up with it: the others go, and it is named.
const fetchTries = 3

// album names one in its conversation.
type album struct {
	to session.Conversation
	id string // Telegram's media_group_id
}

// albums makes one prompt of the messages of an album. Each lies in the inbox as
// gathered, with its file fetched, until the prompt is saved: its entry is that of
// the first message, and the others know by then which one has taken them in.
type albums struct {
	*Bot
	quiet time.Duration
	wake  chan struct{}
	one   sync.Mutex // over every change of gathered entries but the first

	mu     sync.Mutex
	loaded bool
	due    map[album]*albumWait
	tries  map[string]int // downloads that failed, by inbox key
}

// albumWait is an album that may not be whole.
type albumWait struct {
	busy int // messages of it that are being handled
	at   time.Time
}

func newAlbums(b *Bot) *albums {
	return &albums{Bot: b, quiet: albumQuiet, wake: make(chan struct{}, 1), due: make(map[album]*albumWait), tries: make(map[string]int)}
}

// Run makes prompts of albums that are whole, until ctx ends. Those that an earlier
// run has left are taken up.
func (a *albums) Run(ctx context.Context) error {
	for {
		wait, some := a.next()
		timer := time.NewTimer(wait)
		var ripe <-chan time.Time
		if some {
			ripe = timer.C
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-a.wake:
		case <-ripe:
			a.completeRipe(ctx)
		}
		timer.Stop()
	}
}

// next says how long it is until an album may be whole, if there is one.
func (a *albums) next() (wait time.Duration, some bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loadLocked()
	for _, g := range a.due {
		if left := time.Until(g.at); g.busy == 0 && (!some || left < wait) {
			wait, some = left, true
		}
	}
	return wait, some
}

// loadLocked finds what an earlier run has left.
func (a *albums) loadLocked() {
	if a.loaded {
		return
	}
	entries, err := a.Entries.List()
	if err != nil {
		a.Log.Error("albums_not_read", "error", err.Error())
		return
	}
	a.loaded = true
	for _, e := range entries {
		if k := (album{e.Conversation, e.Album}); e.State == inbox.Gathered && a.due[k] == nil {
			a.due[k] = &albumWait{at: time.Now().Add(a.quiet)}
		}
	}
}

func (a *albums) begin(k album) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loadLocked()
	if a.due[k] == nil {
		a.due[k] = &albumWait{}
	}
	a.due[k].busy++
}

func (a *albums) end(k album) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.due[k]; g != nil {
		g.busy--
		g.at = time.Now().Add(a.quiet)
	}
	poke(a.wake)
}

// again looks at an album once more after a while.
func (a *albums) again(k album, after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due[k] == nil {
		a.due[k] = &albumWait{}
	}
	a.due[k].at = time.Now().Add(after)
	poke(a.wake)
}

// take takes the albums that fit out of those that are waited for.
func (a *albums) take(fits func(album, albumWait) bool) (ripe []album) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loadLocked()
	for k, g := range a.due {
		if g.busy == 0 && fits(k, *g) {
			ripe = append(ripe, k)
			delete(a.due, k)
		}
	}
	return ripe
}

func (a *albums) completeRipe(ctx context.Context) {
	now := time.Now()
	for _, k := range a.take(func(_ album, g albumWait) bool { return !g.at.After(now) }) {
		a.complete(ctx, k, true)
	}
}

// flush makes prompts of a conversation's albums before another message of it is
// handled: the messages of an album come together, and what is written after it
// must not overtake it.
func (a *albums) flush(ctx context.Context, to session.Conversation, but string) {
	for _, k := range a.take(func(k album, _ albumWait) bool { return k.to == to && k.id != but }) {
		a.complete(ctx, k, false)
	}
}

// complete makes a prompt of what has come of an album. An error is nobody's to
// hear: it is tried again.
func (a *albums) complete(ctx context.Context, k album, patient bool) {
	a.one.Lock()
	defer a.one.Unlock()
	all, more, err := a.members(k)
	switch {
	case err == nil && more && patient: // the intake has one that waits, or failed and is tried again
		a.again(k, a.quiet)
		return
	case err == nil && len(all) > 0:
		err = a.settle(ctx, all)
	}
	if err != nil && ctx.Err() == nil {
		a.Log.Error("album_not_passed_on", "error", err.Error())
		a.again(k, albumRetry)
	}
}

// members are the gathered messages of an album in order, and whether more of it
// wait to be handled.
func (a *albums) members(k album) (all []inbox.Entry, more bool, err error) {
	entries, err := a.Entries.List()
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		switch {
		case e.Conversation != k.to:
		case e.State == inbox.Gathered && e.Album == k.id:
			all = append(all, e)
		case e.State == inbox.Accepted:
			m, err := prompt.MessageOf(e)
			more = more || err == nil && m.MediaGroupID == k.id
		}
	}
	slices.SortStableFunc(all, func(a, b inbox.Entry) int { return a.MessageID - b.MessageID })
	return all, more, nil
}
