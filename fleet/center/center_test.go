package center_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/jwt/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/hub"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/join"
	"ccbot/fleet/member"
	"ccbot/fleet/rights"
	"ccbot/fleet/rpc"
	"ccbot/fleet/wire"
	"ccbot/internal/addresstest"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// world is a chat's machine with a hub, made as a person makes them.
type world struct {
	t        *testing.T
	folder   string // of the chat
	name     string // of its machine
	settings hub.Settings
	hub      *hub.Hub
	chat     *chat
	center   *center.Center
	later    atomic.Int64 // added to the chat's clock
	machines center.Machines
	stop     func()
	said     events // in the log
}

// events are the events of a log.
type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, string(line))
	return len(line), nil
}

func (e *events) has(event string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.all, func(line string) bool { return strings.Contains(line, "msg="+event+" ") })
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir(), name: "attic", chat: &chat{}}
	dir := t.TempDir()
	pin, err := hub.OpenPin(dir)
	require.NoError(t, err)
	// The address is known only after the hub has started, so the trust is made before with another.
	trust, err := center.SetHub(w.folder, "127.0.0.1:1", hex.EncodeToString(pin[:]))
	require.NoError(t, err)
	w.settings = hub.Settings{Folder: dir, Listen: addresstest.Free(t), Trust: trust, MaxStore: 8 << 30}
	w.startHub()
	w.settings.Listen = w.hub.Address()
	t.Cleanup(func() { w.hub.Close() })
	again, err := center.SetHub(w.folder, w.hub.Address(), hex.EncodeToString(pin[:]))
	require.NoError(t, err)
	require.Equal(t, operator(t, trust), operator(t, again), "the keys stay")
	w.start()
	return w
}

// operator returns the key of a fleet's operator.
func operator(t *testing.T, of rights.Trust) string {
	t.Helper()
	claims, err := jwt.DecodeOperatorClaims(of.Operator)
	require.NoError(t, err)
	return claims.Issuer
}

func (w *world) startHub() {
	w.t.Helper()
	var err error
	w.hub, err = hub.Open(w.settings)
	require.NoError(w.t, err)
}

// start starts the chat's side from its folder.
func (w *world) start() {
	w.t.Helper()
	var err error
	w.center, err = center.Open(center.Settings{Folder: w.folder, Name: w.name, Now: func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }, Log: slog.New(slog.NewTextHandler(&w.said, nil)),
		News: func(join.Host) wire.Chat { return w.chat }, Machines: w.machines})
	require.NoError(w.t, err)
	for _, s := range w.center.List() {
		assert.True(w.t, s.Cut, "the hub has not answered since the start")
	}
	w.stop = background(w.t, w.center.Run)
	waittest.Until(w.t, w.center.IsConnected)
}

// background runs do until the test ends, or until stop.
func background(t *testing.T, do func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = do(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

// chat keeps the names of the sessions that have news.
type chat struct {
	mu  sync.Mutex
	got []string
}

func (c *chat) SessionNews(_ context.Context, s port.Session, _ news.News) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, s.Name)
	return nil
}

func (c *chat) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got...)
}

// records are the sessions of a machine.
type records struct {
	port.Views
	all []port.Session
}

func (r records) List() ([]port.Session, error) { return r.all, nil }

// host is another machine.
type host struct {
	*member.Member
	folder string
	stop   func()
}

// join lets a machine in as a person does: by a code, and the fingerprint on both sides.
func (w *world) join(name, folder string) join.Host {
	w.t.Helper()
	text, _, err := w.center.Offer(w.t.Context(), name)
	require.NoError(w.t, err)
	code, err := join.ParseCode(text)
	require.NoError(w.t, err)
	keys, err := member.Keys(folder)
	require.NoError(w.t, err)
	asked := make(chan error, 1)
	go func() {
		a, err := hubtest.Ask(w.t.Context(), code, keys, join.Machine{System: "debian", Owner: "ann"})
		if err == nil {
			err = member.Joined(folder, a, keys)
		}
		asked <- err
	}()
	candidate, err := w.center.Candidate(w.t.Context(), name)
	require.NoError(w.t, err)
	require.Equal(w.t, keys.Fingerprint(), candidate.Fingerprint)
	admitted, err := w.center.Decide(w.t.Context(), candidate.Code, candidate.Fingerprint, true)
	require.NoError(w.t, err)
	require.NoError(w.t, <-asked)
	return admitted
}

// run runs a host with one session.
func (w *world) run(name, folder string) *host {
	w.t.Helper()
	m, err := member.Open(folder, slog.New(slog.DiscardHandler))
	require.NoError(w.t, err)
	server := wire.Server{Name: m.Admission.Name, Machine: &machine.Machine{Records: records{all: []port.Session{{ID: uuid.NewSHA1(uuid.Nil, []byte(name)), Name: "api on " + name}}}}}
	h := &host{Member: m, folder: folder}
	h.stop = background(w.t, func(ctx context.Context) error {
		return m.Run(ctx, server.Answer, func() rpc.Beat { return rpc.Beat{Version: "1.2.3", Agents: 1} })
	})
	return h
}

// sessions returns the names of a host's sessions as the chat gets them.
func (w *world) sessions(name string) ([]string, error) {
	all, err := w.center.Machines()[name].Records.List()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, err
}

// shows waits until the chat gets the sessions of a host.
func (w *world) shows(name string) {
	w.t.Helper()
	waittest.Until(w.t, func() bool {
		got, err := w.sessions(name)
		return err == nil && assert.ObjectsAreEqual([]string{"api on " + name}, got)
	})
}

func (w *world) present(name string) {
	w.t.Helper()
	waittest.Until(w.t, func() bool {
		for _, s := range w.center.List() {
			if s.Name == name && s.Presence == beat.Present {
				return true
			}
		}
		return false
	})
}

// TestP8_MachinesJoinAndAreReached is the whole way of a person, while each part ends and returns.
func TestP8_MachinesJoinAndAreReached(t *testing.T) {
	w := newWorld(t)
	b, c := t.TempDir(), t.TempDir()
	w.join("B", b)
	_, err := w.sessions("B")
	require.ErrorIs(t, err, refusal.ErrUnreachable, "it has joined, and does not run yet")
	waittest.Until(t, func() bool { return !w.center.List()[0].Cut }) // the hub answers
	onB := w.run("B", b)
	w.shows("B")
	w.join("C", c)
	w.run("C", c)
	w.shows("C")
	w.present("B")

	say := func(name string) {
		require.NoError(t, onB.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: name}, news.Renamed{}))
	}
	say("one")
	w.stop() // the chat
	say("two")
	w.start()
	w.shows("B")
	w.hub.Close()
	require.NoError(t, os.RemoveAll(filepath.Join(w.settings.Folder, "store")))
	say("three")
	w.startHub()
	w.shows("B")
	w.shows("C")
	onB.stop()
	waittest.Until(t, func() bool { _, err := w.sessions("B"); return errors.Is(err, refusal.ErrUnreachable) })
	w.shows("C")
	onB = w.run("B", b)
	say("four")
	w.shows("B")
	waittest.Until(t, func() bool { return slices.Contains(w.chat.all(), "four") })
	assert.Equal(t, []string{"one", "two", "three", "four"}, slices.Compact(w.chat.all())) // a stop may cut off a confirmation
	assert.Equal(t, "1.2.3", w.center.List()[0].Said.Version)
}

func TestP9_RemovedHostIsCutOff(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	joined := w.join("B", b)
	w.run("B", b)
	w.shows("B")
	_, err := w.center.Remove(t.Context(), "b")
	require.NoError(t, err)
	assert.Empty(t, w.center.List())
	assert.NoDirExists(t, filepath.Join(w.folder, "links", joined.ID))
	_, err = w.center.Remove(t.Context(), "B")
	require.ErrorIs(t, err, center.ErrNoHost)
	w.stop()
	w.start()
	assert.Empty(t, w.center.List(), "also after a restart")

	// The name is free again, for a machine with other keys.
	again := w.join("B", t.TempDir())
	assert.NotEqual(t, joined.ID, again.ID)
}

func TestTwoMachinesWithOneNameAreRefused(t *testing.T) {
	w := newWorld(t)
	w.join("B", t.TempDir())
	for _, name := range []string{"b", "Attic"} {
		_, _, err := w.center.Offer(t.Context(), name)
		require.ErrorIs(t, err, join.ErrNameTaken, name)
	}
	for _, name := range []string{"", "a b", "a:b", "a/b", strings.Repeat("x", 33), "ä"} {
		_, _, err := w.center.Offer(t.Context(), name)
		require.ErrorIs(t, err, center.ErrName, name)
	}
}

// A hub that has not seen the chat knows no code and would call each one too old.
func TestP8_NoCodeWithoutHub(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.hub.Close()
	c, err := center.Open(center.Settings{Folder: w.folder, Name: "attic", Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	background(t, c.Run)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = c.Offer(ctx, "B")
	require.ErrorIs(t, err, center.ErrNotConnected)

	w.startHub()
	_, _, err = c.Offer(t.Context(), "B")
	require.NoError(t, err)
}

// rightsOf returns the end of the rights that a host has stored.
func rightsOf(t *testing.T, folder string) time.Time {
	t.Helper()
	m, err := member.Open(folder, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	claims, err := jwt.DecodeUserClaims(m.Admission.JWT)
	require.NoError(t, err)
	return time.Unix(claims.Expires, 0)
}

// TestRightsAreRenewedForAbsentHost: the host is away when its rights are due, and the chat starts
// again before it is back.
func TestRightsAreRenewedForAbsentHost(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	first := rightsOf(t, b)
	w.later.Store(int64(rights.RenewalAt + time.Hour))
	for range 2 {
		w.stop()
		w.start()
		assert.WithinDuration(t, first, w.center.List()[0].Until, time.Second)
	}
	onB := w.run("B", b)
	waittest.Until(t, func() bool { return w.center.List()[0].Until.After(first.Add(time.Hour)) })
	onB.stop()
	assert.WithinDuration(t, w.center.List()[0].Until, rightsOf(t, b), time.Second)
	w.run("B", b)
	w.shows("B")
}

// TestRemovedHostStops: a host that is told of its removal ends, and does not connect again.
// TestMemberOfAnotherChatStops: `ccbot join` has replaced the membership, also while no hub is reached.
func TestMemberOfAnotherChatStops(t *testing.T) {
	for _, reached := range []bool{true, false} {
		t.Run(fmt.Sprint(reached), func(t *testing.T) {
			w := newWorld(t)
			b := t.TempDir()
			w.join("B", b)
			if !reached {
				w.hub.Close()
			}
			m, err := member.Open(b, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			ended := make(chan error, 1)
			background(t, func(ctx context.Context) error {
				err := m.Run(ctx, wire.Server{Name: "B", Machine: &machine.Machine{}}.Answer, func() rpc.Beat { return rpc.Beat{} })
				ended <- err
				return err
			})
			if reached {
				w.present("B")
			}
			keys, err := join.NewHostKeys()
			require.NoError(t, err)
			require.NoError(t, member.Joined(b, join.Admission{ID: "other", ChatName: "attic", Name: "C"}, keys))
			if reached { // the word of the chat before changes nothing
				_, err = w.center.Remove(t.Context(), "B")
				require.NoError(t, err)
			}
			waittest.Until(t, func() bool { return len(ended) == 1 })
			require.ErrorIs(t, <-ended, member.ErrReplaced)
			a, is, err := member.Membership(b)
			require.NoError(t, err)
			assert.Equal(t, []any{true, "C"}, []any{is, a.Name})
		})
	}
}

func TestRemovedHostStops(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	m, err := member.Open(b, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := make(chan error, 1)
	background(t, func(ctx context.Context) error {
		err := m.Run(ctx, wire.Server{Name: "B", Machine: &machine.Machine{}}.Answer, func() rpc.Beat { return rpc.Beat{} })
		ended <- err
		return err
	})
	w.present("B")
	_, err = w.center.Remove(t.Context(), "B")
	require.NoError(t, err)
	require.ErrorIs(t, <-ended, member.ErrRemoved)
	_, err = member.Open(b, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, member.ErrRemoved)
	w.join("B", b)
	w.run("B", b)
	w.shows("B")
}

func TestOpenWithoutHub(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	_, err := center.Open(center.Settings{Folder: dir})
	require.ErrorIs(t, err, center.ErrNoHub)
	_, err = os.Stat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist, "one machine alone has no folder of a fleet")
	_, err = member.Open(dir, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, member.ErrNone)
	pin := strings.Repeat("0", 64)
	for _, at := range [][2]string{{"x", pin}, {":4443", pin}, {"x:", pin}, {"x:1", "12"}, {"x:1", pin + "x"}, {"a@x:1", pin}, {"x:1,y:2", pin}} {
		_, err := center.SetHub(dir, at[0], at[1])
		require.ErrorIs(t, err, center.ErrAddress, at)
	}
}

// TestP8_InterruptedJoin: the machine dies before it has stored its admission, and asks again.
func TestP8_InterruptedJoin(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	keys, err := member.Keys(b)
	require.NoError(t, err)
	again, err := member.Keys(b)
	require.NoError(t, err)
	assert.Equal(t, keys.Fingerprint(), again.Fingerprint())
	w.join("B", b)
	w.run("B", b)
	w.shows("B")
	next, err := member.Keys(b)
	require.NoError(t, err)
	assert.NotEqual(t, keys.Fingerprint(), next.Fingerprint(), "the next join has other keys")
}

// TestP9_FilesOfFleetArePrivate: the folders have keys.
func TestP9_FilesOfFleetArePrivate(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	w.run("B", b)
	w.shows("B")
	for _, dir := range []string{w.folder, b} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := d.Info()
			if err == nil {
				assert.Zero(t, info.Mode().Perm()&0o077, path)
			}
			return err
		}))
	}
}

// TestSilentHubIsLogged: a machine is merely away in the chat then, and that has other reasons too.
func TestSilentHubIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	w.run("B", b)
	w.shows("B")
	waittest.Until(t, func() bool { return !w.center.List()[0].Cut })
	assert.False(t, w.said.has("hub_silent"))
	w.hub.Close()
	waittest.Until(t, func() bool { return w.center.List()[0].Cut })
	w.later.Store(int64(time.Minute))
	waittest.Until(t, func() bool { return w.said.has("hub_silent") })
	w.startHub()
	waittest.Until(t, func() bool { return w.said.has("hub_answers") })
}

// TestHeldNewsAreInTheBeat: what the chat cannot keep is counted by the machine that waits with it.
func TestHeldNewsAreInTheBeat(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	onB := w.run("B", b)
	w.present("B")
	held := func() int { return w.center.List()[0].Said.Held }
	assert.Zero(t, held())
	heal := disktest.FailAll(t, "create", filepath.Join(w.folder, "links"))
	onB.say(t, "one", "two")
	waittest.Until(t, func() bool { return held() == 2 })
	assert.Zero(t, w.center.List()[0].Held, "it is no fault yet")
	heal()
	waittest.Until(t, func() bool { return held() == 0 && len(w.chat.all()) == 2 })
}
