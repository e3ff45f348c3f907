package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/beat"
	"ccbot/fleet/channel"
	"ccbot/fleet/courier"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/rpc"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/spool"
	"ccbot/internal/waittest"
	"ccbot/port/refusal"
)

const host1, host2 = "h7k2m9qa", "h3c4d5ef"

// fleet is a chat and its hosts at a real hub.
type fleet struct {
	*hubtest.World
	t       *testing.T
	chat    *link.Chat
	chatKey seal.Key

	mu       sync.Mutex
	channels map[string]*channel.Channel // the chat's
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{World: hubtest.Start(t), t: t, chatKey: newKey(t), channels: make(map[string]*channel.Channel)}
	f.chat = f.Chat(host1, host2)
	f.run(func(ctx context.Context) error {
		return f.chat.Events(ctx, func(host string, data []byte) {
			f.mu.Lock()
			c := f.channels[host]
			f.mu.Unlock()
			if c != nil {
				_ = c.Receive(ctx, data)
			}
		})
	})
	return f
}

func newKey(t *testing.T) seal.Key {
	t.Helper()
	key, err := seal.NewKey()
	require.NoError(t, err)
	return key
}

// run runs do until the test ends, or until stop.
func (f *fleet) run(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = do(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	f.t.Cleanup(stop)
	return stop
}

// ends are both ends of a host.
type ends struct {
	f                *fleet
	id               string
	key              seal.Key
	chatDir, hostDir string
	caller           *rpc.Caller
	news             *courier.End // the chat's
	out              *courier.End // the host's
	host             *link.Host
	longest          time.Duration // of the chat's calls; 0: the default
	stopChat         func()
	stopHost         func()
}

func (f *fleet) host(id string, answer func(context.Context, wire.Envelope) wire.Envelope) *ends {
	f.t.Helper()
	e := &ends{f: f, id: id, key: newKey(f.t), chatDir: f.t.TempDir(), hostDir: f.t.TempDir()}
	e.startChat()
	e.startHost(f.Hub(), answer)
	e.ready()
	return e
}

func epochs(dir string) seal.EpochFile {
	return seal.EpochFile{Folder: spool.Folder{Path: dir, Fsync: true}, Name: "epoch"}
}

type sendFunc func(ctx context.Context, id string, data []byte) error

func (f sendFunc) Send(ctx context.Context, id string, data []byte) error { return f(ctx, id, data) }

// startChat starts the chat's end.
func (e *ends) startChat() {
	t := e.f.t
	t.Helper()
	l, err := seal.NewChatLink(e.f.chatKey, e.id, e.key.Public(), epochs(e.chatDir))
	require.NoError(t, err)
	c, end, err := channel.Open(l, true, courier.Settings{Folder: filepath.Join(e.chatDir, "courier"),
		Sender: sendFunc(func(ctx context.Context, id string, data []byte) error {
			return e.f.chat.SendCommand(ctx, e.id, id, data)
		})})
	require.NoError(t, err)
	e.news = end
	e.caller, err = rpc.NewCaller(rpc.Remote{Conn: e.f.chat.Conn(), Names: e.f.Keys.Names(), Host: e.id, Link: l,
		Greet: func() { _ = c.Greet(t.Context()) }, Longest: e.longest})
	require.NoError(t, err)
	e.f.mu.Lock()
	e.f.channels[e.id] = c
	e.f.mu.Unlock()
	stop, run := e.f.run(e.caller.Run), e.f.run(end.Run)
	e.stopChat = func() { stop(); e.caller.Goodbye(); run() }
}

// startHost starts the host's end with a connection to a hub.
func (e *ends) startHost(at link.Hub, answer func(context.Context, wire.Envelope) wire.Envelope) {
	t := e.f.t
	t.Helper()
	user, _ := e.f.User(e.id, time.Now().Add(rights.HostTTL))
	var host *link.Host
	waittest.Until(t, func() (ok bool) { // a hub without its disk knows no host until the chat is there
		var err error
		host, err = link.OpenHost(at, link.Login{User: user}, e.f.Keys.Names(), e.id)
		return err == nil
	})
	l, err := seal.NewHostLink(e.key, e.id, e.f.chatKey.Public(), epochs(e.hostDir))
	require.NoError(t, err)
	c, end, err := channel.Open(l, false, courier.Settings{Folder: filepath.Join(e.hostDir, "courier"), Sender: sendFunc(host.SendEvent)})
	require.NoError(t, err)
	e.out, e.host = end, host
	s := rpc.NewServer(rpc.Settings{Conn: host.Conn(), Names: e.f.Keys.Names(), Host: e.id, Link: l, Answer: answer,
		About: func() rpc.Beat { return rpc.Beat{Version: "1.2.3", Agents: 4} }, Greet: func(ctx context.Context) { _ = c.Greet(ctx) }})
	stops := []func(){e.f.run(s.Run), e.f.run(end.Run), e.f.run(func(ctx context.Context) error {
		return host.Commands(ctx, func(data []byte) {
			if c.Receive(ctx, data) == nil {
				s.Beat()
			}
		})
	})}
	e.stopHost = sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
		host.Close()
	})
	t.Cleanup(e.stopHost)
}

// ready waits until the chat has a beat of the host.
func (e *ends) ready() {
	e.f.t.Helper()
	waittest.Until(e.f.t, func() bool { is, _, _ := e.caller.State(); return is == beat.Present })
}

// call makes a call that the host answers. A machine that stands still for some seconds loses calls,
// as a silent host does; they are made again.
func (e *ends) call(q wire.Envelope) wire.Envelope {
	e.f.t.Helper()
	var a wire.Envelope
	waittest.Until(e.f.t, func() bool {
		var err error
		a, err = e.caller.Call(e.f.t.Context(), q)
		if err != nil {
			require.ErrorIs(e.f.t, err, refusal.ErrUnreachable)
		}
		return err == nil
	})
	return a
}

// TestCallThatEndsHostIsAnswered: the chat waits for no host that it has removed.
func TestCallThatEndsHostIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var e *ends
	ends := make(chan struct{})
	e = f.host(host1, func(ctx context.Context, call wire.Envelope) wire.Envelope {
		close(ends)
		<-ctx.Done()
		return echo(ctx, call)
	})
	go func() { <-ends; e.stopHost() }()
	a, err := e.caller.Call(t.Context(), wire.Envelope{V: wire.Version, Kind: "end", ID: "1", Body: json.RawMessage(`"all"`)})
	require.NoError(t, err)
	assert.JSONEq(t, `"all"`, string(a.Body))
}

// echo answers a call with its own body.
func echo(_ context.Context, e wire.Envelope) wire.Envelope {
	return wire.Envelope{V: wire.Version, Kind: e.Kind, From: e.To, To: e.From, ID: e.ID, Body: e.Body}
}

// hang answers a call of kind Hang when it is cancelled, and others at once.
type hang struct{ began, ended chan string }

func newHang() hang { return hang{make(chan string, 9), make(chan string, 9)} }

func (h hang) answer(ctx context.Context, e wire.Envelope) wire.Envelope {
	if e.Kind == "Hang" {
		h.began <- e.ID
		<-ctx.Done()
		h.ended <- e.ID
	}
	return echo(ctx, e)
}

// call makes a call that hangs on the host, and returns what it will fail with.
func (h hang) call(ctx context.Context, e *ends) (failed <-chan error) {
	for {
		ends := make(chan error, 1)
		go func() {
			_, err := e.caller.Call(ctx, call("Hang"))
			ends <- err
		}()
		select {
		case <-h.began:
			return ends
		case <-ends: // lost, see ends.call
		}
	}
}

func call(kind string) wire.Envelope {
	return wire.Envelope{V: wire.Version, Kind: kind, From: "chat", To: "b", ID: kind, Body: json.RawMessage(`{"a":1}`)}
}

// TestEachCallOfThePortCrosses carries the envelope of each method of the port, and its answer,
// through the hub.
func TestEachCallOfThePortCrosses(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var mu sync.Mutex
	answers, got := make(map[string]wire.Envelope), make(map[string]wire.Envelope)
	e := f.host(host1, func(_ context.Context, e wire.Envelope) wire.Envelope {
		mu.Lock()
		defer mu.Unlock()
		got[e.Kind] = e
		return answers[e.Kind]
	})
	files, err := filepath.Glob("../wire/testdata/v1/*.json")
	require.NoError(t, err)
	var calls []wire.Envelope
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		if filepath.Base(name) == "News.json" {
			continue
		}
		for d := json.NewDecoder(strings.NewReader(string(data))); ; {
			var pair [2]wire.Envelope
			if err := d.Decode(&pair[0]); errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, d.Decode(&pair[1]))
			for i := range pair { // as Encode has them
				text, err := wire.Encode(pair[i])
				require.NoError(t, err)
				pair[i], err = wire.Decode(text)
				require.NoError(t, err)
			}
			calls = append(calls, pair[0])
			mu.Lock()
			answers[pair[0].Kind] = pair[1]
			mu.Unlock()
		}
	}
	require.Greater(t, len(calls), 90)
	for _, q := range calls {
		a := e.call(q)
		mu.Lock()
		assert.Equal(t, answers[q.Kind], a)
		assert.Equal(t, q, got[q.Kind])
		mu.Unlock()
	}
}

func TestLargeEnvelopes(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	e := f.host(host1, func(ctx context.Context, e wire.Envelope) wire.Envelope {
		if e.Kind == "Grow" {
			e.Body, _ = json.Marshal(strings.Repeat("x", rpc.MostBytes))
		}
		return echo(ctx, e)
	})
	q := call("Put")
	q.Body, _ = json.Marshal(strings.Repeat("x", 3<<20))
	assert.Equal(t, q.Body, e.call(q).Body)
	q.Body, _ = json.Marshal(strings.Repeat("x", rpc.MostBytes))
	_, err := e.caller.Call(t.Context(), q)
	require.ErrorIs(t, err, rpc.ErrTooLarge)
	assert.Contains(t, e.call(call("Grow")).Error.Text, "larger than")
}

// TestP6_HostThatIsNotConnected: the hub says so at once.
func TestP6_HostThatIsNotConnected(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := newHang()
	e := f.host(host1, h.answer)
	e.stopHost()
	_, err := e.caller.Call(t.Context(), call("Look"))
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	e.startHost(f.Hub(), h.answer)
	e.call(call("Look"))

	f.Stop() // the hub
	waittest.Until(t, func() bool { return !f.chat.Conn().IsConnected() })
	_, err = e.caller.Call(t.Context(), call("Look"))
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	f.Restart(true)
	e.call(call("Look"))
}

// TestP6_LostCallEnds: the host is started again while it makes a call.
func TestP6_LostCallEnds(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := newHang()
	e := f.host(host1, h.answer)
	failed := h.call(t.Context(), e)
	e.host.Close() // the answer to the end of the call gets lost
	e.stopHost()
	e.startHost(f.Hub(), h.answer)
	require.ErrorIs(t, <-failed, refusal.ErrUnreachable)
}

// TestP6_LongCallOutlivesTheHub: a call that is being made is answered although the hub, and its
// disk, were lost in between.
func TestP6_LongCallOutlivesTheHub(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	e := f.host(host1, func(ctx context.Context, e wire.Envelope) wire.Envelope {
		if e.Kind == "Long" {
			close(began)
			<-goOn
		}
		return echo(ctx, e)
	})
	type result struct {
		a   wire.Envelope
		err error
	}
	done := make(chan result, 1)
	go func() {
		a, err := e.caller.Call(t.Context(), call("Long"))
		done <- result{a, err}
	}()
	waittest.Next(t, began, "the long call began")
	f.Stop()
	f.Restart(true)
	e.call(call("Look"))
	close(goOn)
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, "Long", got.a.Kind)
}

// TestCallEndsWithItsContext: so it does on the host, also if the chat was started again since.
func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := newHang()
	e := f.host(host1, h.answer)
	ctx, cancel := context.WithCancel(t.Context())
	failed := h.call(ctx, e)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	<-h.ended

	failed = h.call(t.Context(), e)
	e.stopChat()
	require.ErrorIs(t, <-failed, refusal.ErrUnreachable)
	e.startChat()
	<-h.ended
	e.ready()
	e.call(call("Look"))
}

// TestP6_CallWithoutEndIsGivenUp: a host claims in each beat that it still makes the call.
func TestP6_CallWithoutEndIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := newHang()
	e := f.host(host1, h.answer)
	e.stopChat()
	e.longest = 3 * beat.Interval
	e.startChat()
	e.ready()
	require.ErrorIs(t, <-h.call(t.Context(), e), refusal.ErrUnreachable)
	<-h.ended
	e.call(call("Look"))
}

// TestP6_HalfOpenHostDelaysNoOther: the connection of a host stays open, and carries nothing.
func TestP6_HalfOpenHostDelaysNoOther(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := newHang()
	other := f.host(host2, echo)
	p := newProxy(t, strings.TrimPrefix(f.Hub().Address, "nats://"))
	at := f.Hub()
	at.Address = "nats://" + p.address()
	e := &ends{f: f, id: host1, key: newKey(t), chatDir: t.TempDir(), hostDir: t.TempDir()}
	e.startChat()
	e.startHost(at, h.answer)
	e.ready()
	p.stall(true)
	failed := make(chan error, 1)
	go func() {
		_, err := e.caller.Call(t.Context(), call("Look"))
		failed <- err
	}()
	for ended := false; !ended; {
		other.call(call("Look"))
		select {
		case err := <-failed:
			require.ErrorIs(t, err, refusal.ErrUnreachable)
			ended = true
		default:
		}
	}
	waittest.Until(t, func() bool { is, _, _ := e.caller.State(); return is == beat.Away })
	_, err := e.caller.Call(t.Context(), call("Look")) // at once, without a question to the host
	require.ErrorIs(t, err, refusal.ErrUnreachable)
	p.stall(false)
	e.ready()
	e.call(call("Look"))
	is, heard, said := e.caller.State()
	assert.Equal(t, beat.Present, is)
	assert.False(t, heard.IsZero())
	assert.Equal(t, rpc.Beat{Version: "1.2.3", Agents: 4}, said)
}

// TestP9_ForgedMessagesHaveNoEffect publishes what the hub or another host could: bytes without a
// seal, seals of another host, and each message again.
func TestP9_ForgedMessagesHaveNoEffect(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	made := make(chan string, 9)
	e := f.host(host1, func(ctx context.Context, e wire.Envelope) wire.Envelope {
		made <- e.ID
		return echo(ctx, e)
	})
	spy, err := f.chat.Conn().SubscribeSync("cc.>")
	require.NoError(t, err)
	e.call(call("Look"))
	<-made
	n := f.Keys.Names()
	for range 4 {
		m, err := spy.NextMsgWithContext(t.Context())
		require.NoError(t, err)
		for _, subject := range []string{m.Subject, n.Request(host1), n.Answer(host1)} {
			require.NoError(t, f.chat.Conn().Publish(subject, m.Data))
			require.NoError(t, f.chat.Conn().Publish(subject, []byte("no seal")))
		}
	}
	thief := newKey(t)
	sealed, err := thief.SealFor(e.key.Public(), []byte(`{"v":1,"kind":"call","from":"chat","to":"`+host1+`","epoch":99,"seq":1,"id":"x"}`+"\n\x00\x00\x00\x01{}"))
	require.NoError(t, err)
	require.NoError(t, f.chat.Conn().Publish(n.Request(host1), sealed))
	assert.Equal(t, "Again", e.call(call("Again")).ID)
	assert.Equal(t, "Again", <-made)
	assert.Empty(t, made)
}
