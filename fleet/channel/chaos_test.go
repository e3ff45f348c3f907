package channel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/channel"
	"ccbot/fleet/courier"
	"ccbot/fleet/hub"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
	"ccbot/internal/addresstest"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// items is the number of items in each direction of the chaos tests: -args -items 5000.
var items = flag.Int("items", 150, "items in each direction of the chaos tests")

// TestMain is the hub if the environment has its settings: a program that a test can kill. It ends
// with its standard input, which the test holds.
func TestMain(m *testing.M) {
	text := os.Getenv("CCBOT_TEST_HUB")
	if text == "" {
		os.Exit(m.Run())
	}
	var s hub.Settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	h, err := hub.Open(s)
	if err != nil {
		panic(err)
	}
	pin := h.Pin()
	fmt.Printf("%s %x\n", h.Address(), pin[:])
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// hubProcess is a hub in a process.
type hubProcess struct {
	t        *testing.T
	settings hub.Settings
	cmd      *exec.Cmd
	at       link.Hub
}

func (h *hubProcess) start() {
	text, err := json.Marshal(h.settings)
	require.NoError(h.t, err)
	h.cmd = exec.Command(os.Args[0])
	h.cmd.Env = append(os.Environ(), "CCBOT_TEST_HUB="+string(text))
	h.cmd.Stderr = os.Stderr
	stdin, err := h.cmd.StdinPipe()
	require.NoError(h.t, err)
	_ = stdin // closed by the end of this process
	stdout, err := h.cmd.StdoutPipe()
	require.NoError(h.t, err)
	require.NoError(h.t, h.cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(h.t, err)
	var pin []byte
	_, err = fmt.Sscanf(line, "%s %x", &h.settings.Listen, &pin)
	require.NoError(h.t, err)
	h.at = link.Hub{Address: "nats://" + h.settings.Listen, Pin: pin}
}

func (h *hubProcess) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// machine is one end with a program. Fields of the machine are the disk of the program.
// A kill makes every further call on the folder fail, from a call that chance chooses.
type machine struct {
	name   string
	folder string
	// open opens the end from the folder, and returns what takes a message from the hub.
	open func() (receive func(context.Context, []byte) error, end *courier.End, err error)

	dead atomic.Bool  // calls no longer reach the disk
	fuse atomic.Int64 // calls until dead, if positive
	end  atomic.Pointer[courier.End]
	take func(context.Context, []byte) error
	// receiving is held for reading by the link's goroutine, which outlives an end.
	receiving sync.RWMutex
	stop      func() // and wait

	mu     sync.Mutex // guards the disk of the program
	made   int        // items that were put and recorded
	log    []string   // effects of the items of the other end
	typing string     // the item whose effect may have happened

	kills, again int
}

// faults are the machines whose disks may fail.
func faults(machines []*machine) (end func()) {
	return disk.Fail(func(_, path string) error {
		for _, m := range machines {
			if !strings.HasPrefix(path, m.folder) {
				continue
			}
			if m.fuse.Load() > 0 && m.fuse.Add(-1) == 0 {
				m.dead.Store(true)
			}
			if m.dead.Load() {
				return errors.New("killed")
			}
		}
		return nil
	})
}

// start opens the end from its folder, and runs its program until the machine is stopped.
func (m *machine) start(t *testing.T, total int) {
	t.Helper()
	m.fuse.Store(0)
	m.dead.Store(false)
	take, end, err := m.open()
	require.NoError(t, err)
	m.receiving.Lock()
	m.take = take
	m.end.Store(end)
	m.receiving.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = end.Run(ctx) })
	running.Go(func() { m.produce(ctx, end, total) })
	running.Go(func() { m.consume(ctx, end) })
	m.stop = func() {
		cancel()
		running.Wait()
		m.receiving.Lock() // no frame is being received by this end
		m.end.Store(nil)
		m.receiving.Unlock()
	}
}

func (m *machine) record() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made++
}

// produce puts the items that were not put before.
func (m *machine) produce(ctx context.Context, end *courier.End, total int) {
	for m.made < total && ctx.Err() == nil && !m.dead.Load() {
		if end.Put([]byte(m.item())) != nil || m.dead.Load() {
			return
		}
		m.record()
		for end.Waiting() > 20 && ctx.Err() == nil && !m.dead.Load() { // people are slower than disks
			time.Sleep(time.Millisecond)
		}
	}
}

func (m *machine) item() string { return fmt.Sprintf("%s %d", m.name, m.made) }

// consume has one effect for each item: a line in the log. Only for the item whose effect may have
// happened when the machine died does it look whether it happened.
func (m *machine) consume(ctx context.Context, end *courier.End) {
	for {
		item, err := end.Next(ctx)
		if err != nil || m.dead.Load() {
			return
		}
		m.effect(string(item.Body))
		if end.Done(item) != nil || m.dead.Load() {
			return
		}
	}
}

func (m *machine) effect(body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.typing == body && slices.Contains(m.log, body) {
		m.again++
		return
	}
	m.typing = body
	m.log = append(m.log, body)
}

func (m *machine) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.log)
}

type sendFunc func(ctx context.Context, id string, data []byte) error

func (f sendFunc) Send(ctx context.Context, id string, data []byte) error { return f(ctx, id, data) }

// result counts what arrived at one machine.
type result struct{ lost, twice, disorder int }

func judge(from *machine, log []string, total int) (r result) {
	seen := make(map[string]int)
	for i, line := range log {
		seen[line]++
		if i > 0 {
			var a, b int
			_, _ = fmt.Sscanf(log[i-1], from.name+" %d", &a)
			_, _ = fmt.Sscanf(line, from.name+" %d", &b)
			if b < a {
				r.disorder++
			}
		}
	}
	for i := range total {
		switch n := seen[fmt.Sprintf("%s %d", from.name, i)]; {
		case n == 0:
			r.lost++
		case n > 1:
			r.twice++
		}
	}
	return r
}

// chaos is two machines and a hub, all of which die at random.
type chaos struct {
	hub        *hubProcess
	chat, host *machine
	wipes      int
	hubKills   int
}

func newChaos(t *testing.T, ledger bool) *chaos {
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	trust, err := keys.Trust()
	require.NoError(t, err)
	account, err := keys.AccountJWT(nil)
	require.NoError(t, err)
	h := &hubProcess{t: t, settings: hub.Settings{Folder: t.TempDir(), Listen: addresstest.Free(t), Trust: trust, MaxStore: 8 << 30}}
	h.start()
	t.Cleanup(func() { h.kill() })
	chatLink := hubtest.Connect(t, func() (*link.Chat, error) {
		return link.OpenChat(t.Context(), h.at, keys, link.Fleet{Account: account, Hosts: []string{"h1"}})
	})
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	token, err := keys.HostJWT("h1", public, time.Now().Add(time.Hour))
	require.NoError(t, err)
	hostLink := hubtest.Connect(t, func() (*link.Host, error) {
		return link.OpenHost(h.at, link.Login{User: rights.User{JWT: token, Key: pair}}, keys.Names(), "h1")
	})
	c := &chaos{hub: h, chat: &machine{name: "chat", folder: t.TempDir()}, host: &machine{name: "host", folder: t.TempDir()}}
	toHost := sendFunc(func(ctx context.Context, id string, data []byte) error {
		return chatLink.SendCommand(ctx, "h1", id, data)
	})
	toChat := sendFunc(hostLink.SendEvent)
	if ledger {
		c.chat.open, c.host.open = c.chat.plain(toHost), c.host.plain(toChat)
	} else {
		chatKey, hostKey := newKey(t), newKey(t)
		c.chat.open = c.chat.sealed(toHost, true, func(stored seal.Epochs) (*seal.Link, error) {
			return restarts(seal.NewChatLink(chatKey, "h1", hostKey.Public(), stored))
		})
		c.host.open = c.host.sealed(toChat, false, func(stored seal.Epochs) (*seal.Link, error) {
			return restarts(seal.NewHostLink(hostKey, "h1", chatKey.Public(), stored))
		})
	}
	chatLink.OnReconnect(c.chat.sendAgain)
	hostLink.OnReconnect(c.host.sendAgain)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = chatLink.Run(ctx, func(error) {}) })
	running.Go(func() { _ = chatLink.Events(ctx, func(_ string, data []byte) { c.chat.receive(ctx, data) }) })
	running.Go(func() {
		_ = hostLink.Commands(ctx, func(data []byte) { c.host.receive(ctx, data) })
	})
	t.Cleanup(func() { cancel(); running.Wait(); hostLink.Close(); _ = chatLink.Close() })
	t.Cleanup(faults([]*machine{c.chat, c.host}))
	return c
}

// restarts makes a link follow each new start at once: no beats show here that the one before is silent.
func restarts(l *seal.Link, err error) (*seal.Link, error) {
	if l != nil {
		l.Patience = 0
	}
	return l, err
}

func (m *machine) receive(ctx context.Context, data []byte) {
	m.receiving.RLock()
	defer m.receiving.RUnlock()
	if end := m.end.Load(); end != nil && !m.dead.Load() {
		_ = m.take(ctx, data)
	}
}

func (m *machine) sendAgain() {
	if end := m.end.Load(); end != nil {
		end.SendAgain()
	}
}

func newKey(t *testing.T) seal.Key {
	t.Helper()
	key, err := seal.NewKey()
	require.NoError(t, err)
	return key
}

type opener = func() (func(context.Context, []byte) error, *courier.End, error)

func (m *machine) settings(sender courier.Sender) courier.Settings {
	return courier.Settings{Folder: m.folder, Sender: sender, ResendInterval: 200 * time.Millisecond}
}

// sealed opens an end with a channel, as the product does.
func (m *machine) sealed(sender courier.Sender, isChat bool, open func(seal.Epochs) (*seal.Link, error)) opener {
	return func() (func(context.Context, []byte) error, *courier.End, error) {
		l, err := open(seal.EpochFile{Folder: spool.Folder{Path: m.folder, Fsync: true}, Name: "epoch"})
		if err != nil {
			return nil, nil, err
		}
		c, end, err := channel.Open(l, isChat, m.settings(sender))
		if err != nil {
			return nil, nil, err
		}
		return c.Receive, end, nil
	}
}

// plain opens an end that takes the hub for a ledger.
func (m *machine) plain(sender courier.Sender) opener {
	return func() (func(context.Context, []byte) error, *courier.End, error) {
		end, err := courier.Open(m.settings(believing(m, sender)))
		if err != nil {
			return nil, nil, err
		}
		return end.Receive, end, nil
	}
}

// believing is a sender that takes the hub for a ledger: what the hub has acknowledged has arrived.
func believing(m *machine, real courier.Sender) courier.Sender {
	return sendFunc(func(ctx context.Context, id string, data []byte) error {
		err := real.Send(ctx, id, data)
		var head map[string]any
		line, _, _ := strings.Cut(string(data), "\n")
		if json.Unmarshal([]byte(line), &head) == nil && head["have"] == nil && err == nil {
			answer, _ := json.Marshal(map[string]any{"v": 1, "life": head["life"], "seq": head["seq"], "have": true})
			_ = m.end.Load().Receive(ctx, append(answer, '\n'))
		}
		return err
	})
}

// run lets machines die until all items have arrived, or until nothing more is sent.
func (c *chaos) run(t *testing.T, total int, random *rand.Rand) {
	c.chat.start(t, total)
	c.host.start(t, total)
	faultEvery := max(total/200, 10) // items between two faults
	next := faultEvery
	for c.chat.count() < total || c.host.count() < total {
		if c.chat.over(total) && c.host.over(total) && c.quiet() {
			break
		}
		if at := c.chat.count() + c.host.count(); at < next {
			time.Sleep(time.Millisecond)
			continue
		}
		next += 1 + random.IntN(2*faultEvery)
		c.fault(t, total, random)
	}
	for c.chat.end.Load().Waiting()+c.host.end.Load().Waiting() > 0 { // the answers of the last items
		time.Sleep(time.Millisecond)
	}
	c.chat.stop()
	c.host.stop()
}

// over reports whether a machine has nothing left to send.
func (m *machine) over(total int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made == total && m.end.Load().Waiting() == 0
}

// quiet waits until nothing has arrived for a while: what was lost never arrives. Only a run in
// which items are lost gets here.
func (c *chaos) quiet() bool {
	before := c.chat.count() + c.host.count()
	time.Sleep(3 * time.Second)
	return before == c.chat.count()+c.host.count()
}

func (c *chaos) fault(t *testing.T, total int, random *rand.Rand) {
	switch kind := random.IntN(3); kind {
	case 0:
		c.hub.kill()
		c.hubKills++
		if random.IntN(3) == 0 {
			c.wipes++
			require.NoError(t, os.RemoveAll(filepath.Join(c.hub.settings.Folder, "store")))
		}
		c.hub.start()
	default:
		m := c.chat
		if kind == 2 {
			m = c.host
		}
		m.fuse.Store(1 + random.Int64N(40))
		for range 200 { // a machine that calls nothing dies as well
			if m.dead.Load() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		m.dead.Store(true)
		m.stop()
		m.kills++
		m.start(t, total)
	}
}

// TestP4_ChannelLosesNothing kills both ends and the hub, and wipes the hub's disk.
func TestP4_ChannelLosesNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	c := newChaos(t, false)
	c.run(t, *items, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // a test
	t.Logf("seed %d: %d items each way, hub killed %d times (disk wiped %d), chat %d, host %d; chat saw %d again, host %d", seed, *items, c.hubKills,
		c.wipes, c.chat.kills, c.host.kills, c.chat.again, c.host.again)
	assert.Equal(t, result{}, judge(c.chat, c.host.log, *items), "commands, seed %d", seed)
	assert.Equal(t, result{}, judge(c.host, c.chat.log, *items), "events, seed %d", seed)
}

// TestHubAsLedgerLosesItems shows that the test above can fail: an end that takes the hub's
// acknowledgement for the answer of the other end loses items.
func TestHubAsLedgerLosesItems(t *testing.T) {
	c := newChaos(t, true)
	// The host is down while the hub takes the commands and then loses its disk.
	c.chat.start(t, 20)
	for !c.chat.over(20) {
		time.Sleep(time.Millisecond)
	}
	c.hub.kill()
	require.NoError(t, os.RemoveAll(filepath.Join(c.hub.settings.Folder, "store")))
	c.hub.start()
	c.host.start(t, 0)
	c.quiet()
	c.chat.stop()
	c.host.stop()
	got := judge(c.chat, c.host.log, 20)
	t.Logf("the hub as ledger lost %d of 20", got.lost)
	assert.Positive(t, got.lost)
}

// TestHubAsLedgerChaos is the same run with the hub as ledger; its losses depend on chance, so it
// runs with a number of items only: -args -items 5000.
func TestHubAsLedgerChaos(t *testing.T) {
	if *items < 1000 {
		return
	}
	c := newChaos(t, true)
	c.run(t, *items, rand.New(rand.NewPCG(1, 1))) //nolint:gosec // a test
	t.Logf("hub killed %d times (disk wiped %d), chat %d, host %d: commands %+v, events %+v", c.hubKills, c.wipes, c.chat.kills, c.host.kills,
		judge(c.chat, c.host.log, *items), judge(c.host, c.chat.log, *items))
}
