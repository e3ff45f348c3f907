//go:build bench

package center_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/hub"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/member"
	"ccbot/fleet/rpc"
	"ccbot/fleet/wire"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
)

// The fleet that is measured.
const (
	manyHosts   = 50
	sessionsOf  = 20 // of a host
	eventRate   = 100
	eventsFor   = 30 * time.Second
	callsFor    = 1000
	roleEnv     = "CCBOT_FLEET_ROLE"
	settingsEnv = "CCBOT_FLEET_SETTINGS" // of the hub, or the parent of the folders of the hosts
)

// TestMain is also the program of the hub and of the hosts, so that the memory of each is its own.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleEnv) {
	case "hub":
		err = runHub()
	case "hosts":
		err = runHosts()
	default:
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func runHub() error {
	var s hub.Settings
	if err := json.Unmarshal([]byte(os.Getenv(settingsEnv)), &s); err != nil {
		return err
	}
	h, err := hub.Open(s)
	if err != nil {
		return err
	}
	fmt.Println(h.Address())
	_, err = io.Copy(io.Discard, os.Stdin) // until the parent ends
	h.Close()
	return err
}

// runHosts runs the hosts of a folder. After a line of its input they report events.
func runHosts() error {
	folders, err := filepath.Glob(filepath.Join(os.Getenv(settingsEnv), "*"))
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(context.Background())
	var outs []wire.Chat
	for _, folder := range folders {
		m, err := member.Open(folder, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		outs = append(outs, m.News())
		server := wire.Server{Name: m.Admission.Name, Machine: &machine.Machine{Records: records{all: sessions(m.Admission.Name)}, Places: places{}}}
		g.Go(func() error {
			_ = m.Run(ctx, server.Answer, func() rpc.Beat { return rpc.Beat{Version: "1.2.3", Agents: sessionsOf} }) // one is removed
			return nil
		})
	}
	g.Go(func() error {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if err := report(ctx, outs); err != nil {
				return err
			}
		}
		return io.EOF
	})
	return g.Wait()
}

// report reports events of all hosts in turn. Their screens are the times.
func report(ctx context.Context, hosts []wire.Chat) error {
	tick := time.NewTicker(time.Second / eventRate)
	defer tick.Stop()
	for i := range int(eventsFor.Seconds() * eventRate) {
		<-tick.C
		now := strconv.FormatInt(time.Now().UnixNano(), 10)
		if err := hosts[i%len(hosts)].SessionNews(ctx, port.Session{ID: uuid.New()}, news.Dialog{Terminal: news.Terminal{Screen: now}}); err != nil {
			return err
		}
	}
	return nil
}

func sessions(host string) (all []port.Session) {
	for i := range sessionsOf {
		name := fmt.Sprintf("%s-%d", host, i)
		all = append(all, port.Session{ID: uuid.NewSHA1(uuid.Nil, []byte(name)), Name: name,
			Dir: "/home/ann/work/" + name, State: port.StateRunning, CreatedAt: time.Unix(1, 0)})
	}
	return all
}

// places are those of a machine without folders.
type places struct{ machine.Places }

func (places) Bounds(string) (folders.Bounds, error) { return folders.Bounds{}, nil }

// delays keeps the times from the report of an event until the chat has it.
type delays struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *delays) SessionNews(_ context.Context, _ port.Session, n news.News) error {
	sent, err := strconv.ParseInt(n.(news.Dialog).Terminal.Screen, 10, 64) //nolint:forcetypeassert // it fails the test
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, time.Since(time.Unix(0, sent)))
	return err
}

func (d *delays) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// child starts this program in a role. Its input ends with the test.
func child(t *testing.T, role, settings string) (*exec.Cmd, io.Writer, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, settingsEnv+"="+settings)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewScanner(out)
}

var memoryLine = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`)

// megabytes returns the memory of a process.
func megabytes(t *testing.T, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	kB, err := strconv.ParseFloat(string(memoryLine.FindSubmatch(status)[1]), 64)
	require.NoError(t, err)
	return kB / 1024
}

func at(all []time.Duration, part float64) time.Duration {
	slices.Sort(all)
	return all[int(float64(len(all)-1)*part)].Round(10 * time.Microsecond)
}

// many is a chat with many hosts, which run in another process, and a hub in a third one.
type many struct {
	*world
	kept   [manyHosts][]port.Session
	events delays
	hub    *exec.Cmd
	hosts  string // the parent of their folders
}

func newMany(t *testing.T) *many {
	t.Helper()
	m := &many{world: &world{t: t, folder: t.TempDir()}, hosts: t.TempDir()}
	dir := t.TempDir()
	pin, err := hub.OpenPin(dir)
	require.NoError(t, err)
	trust, err := center.SetHub(m.folder, "127.0.0.1:1", fmt.Sprintf("%x", pin[:]))
	require.NoError(t, err)
	settings, err := json.Marshal(hub.Settings{Folder: dir, Listen: "127.0.0.1:0", Trust: trust, MaxStore: 8 << 30})
	require.NoError(t, err)
	cmd, _, out := child(t, "hub", string(settings))
	m.hub = cmd
	require.True(t, out.Scan())
	_, err = center.SetHub(m.folder, out.Text(), fmt.Sprintf("%x", pin[:]))
	require.NoError(t, err)
	m.center, err = center.Open(center.Settings{Folder: m.folder, Name: "attic", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		News: func(join.Host) wire.Chat { return &m.events }})
	require.NoError(t, err)
	m.stop = background(t, m.center.Run)
	m.until("the hub is reached", m.center.IsConnected)
	return m
}

// until waits for a condition, and returns how long that took.
func (m *many) until(what string, is func() bool) time.Duration {
	m.t.Helper()
	begin := time.Now()
	waittest.Until(m.t, is, what)
	return time.Since(begin)
}

// known asks all hosts at once, keeps their sessions, and returns how many there are.
func (m *many) known() (n int) {
	var wait sync.WaitGroup
	for i := range m.kept {
		wait.Go(func() {
			all, err := m.center.Machines()[hostName(i)].Records.List()
			if m.kept[i] = all; err != nil { // of a silent one they are unknown
				m.kept[i] = nil
			}
		})
	}
	wait.Wait()
	for _, all := range m.kept {
		n += len(all)
	}
	return n
}

func hostName(i int) string { return fmt.Sprintf("h%02d", i) }

func (m *many) presence(of beat.Presence) (n int) {
	for _, s := range m.center.List() {
		if s.Presence == of {
			n++
		}
	}
	return n
}

// TestFleetFigures measures a fleet of 50 hosts with 20 sessions each.
func TestFleetFigures(t *testing.T) {
	m := newMany(t)
	row := func(what string, got any, limit string) { fmt.Printf("| %s | %v | %s |\n", what, got, limit) }
	fmt.Printf("| of a fleet of %d hosts with %d sessions each | measured | limit |\n|---|---:|---:|\n", manyHosts, sessionsOf)

	debug.FreeOSMemory()
	before := megabytes(t, os.Getpid())
	for i := range manyHosts {
		m.join(hostName(i), filepath.Join(m.hosts, hostName(i)))
	}
	hosts, say, _ := child(t, "hosts", m.hosts)
	m.until("all sessions are known", func() bool { return m.known() == manyHosts*sessionsOf })

	_, err := io.WriteString(say, "events\n")
	require.NoError(t, err)
	m.until("all events have come", func() bool { return m.events.count() == eventRate*int(eventsFor.Seconds()) })
	row(fmt.Sprintf("%d events/s, p50", eventRate), at(m.events.all, 0.5), "")
	row(fmt.Sprintf("%d events/s, p99", eventRate), at(m.events.all, 0.99), "150ms")
	row("memory of the hub", fmt.Sprintf("%.0f MB", megabytes(t, m.hub.Process.Pid)), "100 MB")
	debug.FreeOSMemory()
	row("memory of the chat, more than without hosts", fmt.Sprintf("%.0f MB", megabytes(t, os.Getpid())-before), "20 MB")

	var calls []time.Duration
	one := m.center.Machines()[hostName(0)].Records
	for range callsFor {
		begin := time.Now()
		_, err := one.List()
		require.NoError(t, err)
		calls = append(calls, time.Since(begin))
	}
	row("a call and its answer, p50", at(calls, 0.5), "5ms")
	row("a call and its answer, p99", at(calls, 0.99), "")

	require.NoError(t, hosts.Process.Signal(syscall.SIGSTOP))
	row("until all hang and are reported", m.until("all are away", func() bool { return m.presence(beat.Away) == manyHosts }).Round(time.Millisecond), "10s")
	require.Zero(t, m.known())
	require.NoError(t, hosts.Process.Signal(syscall.SIGCONT))
	row("until all can be used again", m.until("all are back", func() bool { return m.known() == manyHosts*sessionsOf }).Round(time.Millisecond), "1s")
	row("until a revoked host is cut off", m.revoke().Round(time.Millisecond), "1s")
}

// revoke removes a host whose credentials are used by another program, too, and returns how long
// that one stays connected.
func (m *many) revoke() time.Duration {
	m.t.Helper()
	stolen, keys := membership(m.t, filepath.Join(m.hosts, hostName(7)))
	as := stolen.Login(keys)
	as.Inbox = "_INBOX_" + stolen.ID
	conn, err := link.Dial(stolen.Hub, as)
	require.NoError(m.t, err)
	defer conn.Close()
	cut := conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	begin := time.Now()
	_, err = m.center.Remove(m.t.Context(), stolen.Name)
	require.NoError(m.t, err)
	<-cut
	return time.Since(begin)
}
