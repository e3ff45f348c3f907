package rpc_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/rpc"
	"ccbot/fleet/wire"
	"ccbot/internal/spool"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// chat keeps the screens of news, the first of them at the second attempt. Late ones have a mark.
type chat struct {
	mu      sync.Mutex
	failed  bool
	screens []string
}

func (c *chat) SessionNews(_ context.Context, s port.Session, n news.News) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.failed {
		c.failed = true
		return errors.New("no room")
	}
	screen := n.(news.Dialog).Terminal.Screen //nolint:forcetypeassert // it fails the test
	if s.Late {
		screen = "late " + screen
	}
	c.screens = append(c.screens, screen)
	return nil
}

func (c *chat) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.screens...)
}

// TestP8_NewsOutliveHubAndHost: news are stored at the host, and reach the chat in order, although
// the hub and the host were lost in between, and the chat had no room at first.
func TestP8_NewsOutliveHubAndHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	e := f.host(host1, echo)
	to := new(chat)
	reported := make(chan error, 9)
	f.run(func(ctx context.Context) error {
		return rpc.Delivery{End: e.news, To: to, Report: func(err error) { reported <- err }, Unread: spool.Folder{Path: filepath.Join(e.chatDir, "unread")}, OnUnread: func(int) {}}.Run(ctx)
	})
	say := func(screen string) {
		t.Helper()
		err := rpc.Outbox{End: e.out, Host: "b"}.SessionNews(t.Context(), port.Session{ID: uuid.New()}, news.Dialog{Terminal: news.Terminal{Screen: screen}})
		require.NoError(t, err)
	}
	say("one")
	require.EqualError(t, <-reported, "no room")
	f.Stop()
	say("two")
	e.stopHost()
	f.Restart(true)
	e.startHost(f.Hub(), echo)
	say("three")
	waittest.Until(t, func() bool { return len(to.all()) == 3 })
	assert.Equal(t, []string{"one", "two", "three"}, to.all())

	big := news.Dialog{Terminal: news.Terminal{Screen: strings.Repeat("x", 1<<20)}}
	require.ErrorIs(t, rpc.Outbox{End: e.out}.SessionNews(t.Context(), port.Session{}, big), rpc.ErrTooLarge)
}

// TestP5_NewsOfANewerHostStay: news that the chat's program cannot read delay no others, stay with
// the chat, and are read by the next start of a program that can. Many of them wait at the host.
func TestP5_NewsOfANewerHostStay(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	e := f.host(host1, echo)
	dialog := func(screen string) []byte {
		var data []byte
		c := wire.Client{From: "b", To: "chat", Transport: func(_ context.Context, e wire.Envelope) (_ wire.Envelope, err error) {
			data, err = wire.Encode(e)
			return wire.Envelope{V: wire.Version}, err
		}}
		require.NoError(t, c.SessionNews(t.Context(), port.Session{}, news.Dialog{Terminal: news.Terminal{Screen: screen}}))
		return data
	}
	unread := []string{strings.Replace(string(dialog("new")), `"of":"Dialog"`, `"of":"Painting"`, 1),
		strings.Replace(string(dialog("new")), `"Screen":"new"`, `"Screen":{"rows":[]}`, 1), strings.Replace(string(dialog("new")), `"v":1`, `"v":2`, 1)}
	for i, data := range unread {
		require.NoError(t, e.out.Put([]byte(data)))
		require.NoError(t, e.out.Put(dialog(strconv.Itoa(i))))
	}
	kept := spool.Folder{Path: filepath.Join(e.chatDir, "unread")}
	deliver := func() (to *chat, counts chan int, stop func()) {
		to, counts = &chat{failed: true}, make(chan int, 999)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = rpc.Delivery{End: e.news, Unread: kept, To: to, Report: func(error) {}, OnUnread: func(n int) { counts <- n }}.Run(ctx)
		}()
		return to, counts, func() { cancel(); <-done }
	}
	to, counts, stop := deliver()
	waittest.Until(t, func() bool { return len(to.all()) == 3 })
	assert.Equal(t, []string{"0", "1", "2"}, to.all())
	assert.Equal(t, []int{0, 1, 2, 3}, []int{<-counts, <-counts, <-counts, <-counts})
	stop()

	e.stopChat()
	e.startChat()
	names, err := kept.List()
	require.NoError(t, err)
	require.Len(t, names, 3)
	for i, name := range names {
		data, err := kept.Read(name)
		require.NoError(t, err)
		assert.Equal(t, unread[i], string(data))
	}
	require.NoError(t, kept.Put(names[1], dialog("new"))) // a newer program reads one of them
	require.NoError(t, e.out.Put(dialog("last")))
	to, counts, stop = deliver()
	waittest.Until(t, func() bool { return len(to.all()) == 2 })
	assert.Equal(t, []string{"late new", "last"}, to.all())
	assert.Equal(t, 2, <-counts)
	for range 500 {
		require.NoError(t, e.out.Put([]byte(unread[0])))
	}
	for n := 0; n < 128; {
		n = <-counts
	}
	require.NoError(t, e.out.Put(dialog("waits")))
	stop()
	assert.Len(t, to.all(), 2)
	assert.GreaterOrEqual(t, e.out.Waiting(), 500-128-256)
	names, err = kept.List()
	require.NoError(t, err)
	assert.Len(t, names, 128)
}

// TestFloodOfOneHost: a host that sends more than its share delays no other host, and is heard
// again afterwards.
func TestFloodOfOneHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	e, other := f.host(host1, echo), f.host(host2, echo)
	junk := make([]byte, 250<<10)
	for range 400 {
		require.NoError(t, e.host.Conn().Publish(f.Keys.Names().Answer(host1), junk))
		other.call(call("Look"))
	}
	e.call(call("Look"))
}

// TestHostMakesLimitedCalls: a call beyond the limit is not made, and its caller learns that.
func TestHostMakesLimitedCalls(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began, goOn := make(chan string, 999), make(chan struct{})
	e := f.host(host1, func(ctx context.Context, e wire.Envelope) wire.Envelope {
		began <- e.ID
		<-goOn
		return echo(ctx, e)
	})
	failed := make(chan error, 999)
	const calls = 256
	ask := func() {
		_, err := e.caller.Call(t.Context(), call("Look"))
		failed <- err
	}
	for range calls {
		go ask()
	}
	for range calls {
		<-began
	}
	go ask()
	require.ErrorIs(t, <-failed, refusal.ErrUnreachable)
	close(goOn)
	for range calls {
		require.NoError(t, <-failed)
	}
	assert.Empty(t, began)
}
