package center

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/channel"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/rpc"
	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// connectInterval is the time between two attempts to reach the hub at the start. Later the
// connection is made again by package link.
const connectInterval = 2 * time.Second

// tellTimeout bounds the call that tells a host of its removal. Until its end the host has its
// rights.
const tellTimeout = 700 * time.Millisecond

// ErrNoHost is returned for a name that no host has.
var ErrNoHost = errors.New("no host has this name")

// Settings are the parameters of Open.
type Settings struct {
	Folder string
	Now    func() time.Time
	Log    *slog.Logger
	Name   string // of the chat's own machine, which no host may have
	// News returns the receiver of a host's news. If it is nil, the news stay on disk.
	News func(host join.Host) wire.Chat
	// Machines gets the machines of the hosts. It may be nil.
	Machines Machines
	// OnCandidate is called when a machine waits for a decision. It returns at once, and may be nil.
	OnCandidate func()
}

// Machines has the machines of the chat. Its methods return at once.
type Machines interface {
	Add(id, name string, m *machine.Machine) error
	Remove(id string)
	// Note is called after each change of the connection to a host; heard is its last beat.
	Note(id string, away bool, heard time.Time)
}

// Center is the chat's side of a fleet. It needs Run.
type Center struct {
	settings Settings
	hub      link.Hub
	keys     *rights.Keys
	key      seal.Key
	hosts    join.Hosts
	desk     *join.Desk

	mu         sync.Mutex
	chat       *link.Chat         // nil until the hub was reached
	run        func(func() error) // runs a part until Run ends; nil before
	ctx        context.Context    // of Run
	remotes    map[string]*remote // by id
	candidates map[string]join.Candidate
	waits      chan struct{} // is closed when candidates change

	present chan struct{} // has an item after a change of a host's presence
	reached chan struct{} // is closed when the hub was reached for the first time

	answered atomic.Pointer[time.Time] // the last look at which the hub answered
}

// State describes a host as the chat knows it.
type State struct {
	join.Host
	Presence beat.Presence
	Heard    time.Time // the last beat; zero: none since the start
	Said     rpc.Beat
	Cut      bool // the hub does not answer the chat
	Unread   int  // news that a newer program has to read
	// Held is the number of messages between the chat and the host that do not pass although it is
	// Present, and HeldFor how long none has.
	Held    int
	HeldFor time.Duration
	Own     string // its own name, if another machine of the chat has that
	Fault   error  // what the chat has of it cannot be used
	Lives   seal.Lives
}

// Open reads the fleet of a folder. It returns ErrNoHub if the chat has no hub.
func Open(s Settings) (*Center, error) {
	folder := files(s.Folder)
	at, err := readHub(folder)
	if err != nil {
		return nil, err
	}
	c := &Center{settings: s, hub: at, hosts: hostsOf(s.Folder), remotes: make(map[string]*remote),
		candidates: make(map[string]join.Candidate), waits: make(chan struct{}), present: make(chan struct{}, 1), reached: make(chan struct{})}
	if err := c.hosts.Folder.Make(); err != nil {
		return nil, err
	}
	if c.keys, c.key, err = openKeys(folder); err != nil {
		return nil, err
	}
	c.desk = join.NewDesk(join.Settings{Keys: c.keys, Key: c.key, Name: s.Name, Hub: at, Hosts: c.hosts, Now: s.Now, SetFleet: c.setFleet, OnCandidate: c.note})
	present, unread, err := Hosts(s.Folder)
	if err != nil {
		return nil, err
	}
	for _, host := range present {
		c.add(host, nil)
	}
	for _, u := range unread { // its sessions are unknown, not forgotten
		c.add(join.Host{ID: u.ID, Name: u.ID}, u)
	}
	return c, nil
}

// Run connects to the hub and works until ctx ends.
func (c *Center) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	c.mu.Lock()
	c.ctx, c.run = ctx, g.Go
	c.mu.Unlock()
	g.Go(func() error { return c.connect(ctx, g) })
	return g.Wait()
}

// connect reaches the hub, and starts what needs it.
func (c *Center) connect(ctx context.Context, g *errgroup.Group) error {
	for told := false; ; told = true {
		fleet, err := c.desk.Fleet()
		if err != nil {
			return err
		}
		chat, err := link.OpenChat(ctx, c.hub, c.keys, fleet)
		if err == nil {
			c.settings.Log.Debug("hub_reached", logkey.Server, c.hub.Address)
			return c.serve(ctx, g, chat)
		}
		if !told {
			c.settings.Log.Warn("hub_not_reached", logkey.Server, c.hub.Address, logkey.Error, err)
		}
		if err := pause.For(ctx, connectInterval); err != nil {
			return err
		}
	}
}

func (c *Center) serve(ctx context.Context, g *errgroup.Group, chat *link.Chat) error {
	c.mu.Lock()
	c.chat = chat
	for _, r := range c.remotes {
		c.begin(r)
	}
	c.mu.Unlock()
	chat.Held = c.isHeld
	chat.OnReconnect(c.greet)
	close(c.reached)
	c.greet()
	g.Go(func() error { return chat.Run(ctx, c.reportHub()) })
	g.Go(func() error { return chat.Events(ctx, func(host string, data []byte) { c.receive(ctx, host, data) }) })
	g.Go(func() error { return c.desk.Serve(ctx, chat.Conn()) })
	g.Go(func() error { return c.visit(ctx) })
	g.Go(func() error { return c.report(ctx) })
	<-ctx.Done()
	c.mu.Lock()
	for _, r := range c.remotes {
		if caller := r.caller.Load(); caller != nil {
			caller.Goodbye()
		}
	}
	c.mu.Unlock()
	return errors.Join(ctx.Err(), chat.Close())
}

// reportHub returns what logs the hub's errors, each once in a row.
func (c *Center) reportHub() func(error) {
	last := ""
	return func(err error) {
		if text := err.Error(); text != last {
			last = text
			c.settings.Log.Warn("hub_failed", logkey.Server, c.hub.Address, logkey.Error, err)
		}
	}
}

// isHeld reports whether the events of a host are for another start of this chat.
func (c *Center) isHeld(host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.remotes[host]
	return r != nil && r.link != nil && r.link.IsElsewhere()
}

// Follow goes on with one start of a host's folder, by its id. A person has chosen it.
func (c *Center) Follow(host, id string) error {
	c.mu.Lock()
	var l *seal.Link
	if r := c.remotes[host]; r != nil {
		l = r.link
	}
	c.mu.Unlock()
	if l == nil {
		return ErrNoHost
	}
	return l.Choose(id)
}

// greet tells all hosts the present epochs.
func (c *Center) greet() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.remotes {
		if ch := r.channel; ch != nil {
			go func() { _ = ch.Greet(c.ctx) }() // a host that misses it says hello
		}
	}
}

// receive takes an event of a host. An unknown host was removed.
func (c *Center) receive(ctx context.Context, host string, data []byte) {
	c.mu.Lock()
	var ch *channel.Channel
	if r := c.remotes[host]; r != nil {
		ch = r.channel
	}
	c.mu.Unlock()
	if ch == nil {
		return
	}
	if err := ch.Receive(ctx, data); err != nil {
		c.settings.Log.Debug("event_refused", logkey.Name, host, logkey.Error, err)
	}
}

// add makes a host reachable unless it has a fault. The caller has the only reference to c, or
// holds c.mu.
func (c *Center) add(host join.Host, fault error) {
	r := &remote{host: host, own: host.Name, fault: fault}
	r.host.Name = c.freeName(host.Name)
	client := &wire.Client{From: "chat", To: r.own, Transport: r.call, Context: context.Background()}
	r.machine = client.Machine()
	c.remotes[host.ID] = r
	if m := c.settings.Machines; m != nil {
		if err := m.Add(host.ID, r.host.Name, r.machine); err != nil && r.fault == nil {
			r.fault = err
		}
	}
	if r.fault != nil {
		c.settings.Log.Error("host_failed", logkey.Name, r.host.Name, logkey.Error, r.fault)
	} else if c.chat != nil {
		c.begin(r)
	}
}

// begin starts a host. A fault is that host's alone. The caller holds c.mu.
func (c *Center) begin(r *remote) {
	if r.fault != nil {
		return
	}
	if r.fault = r.start(c); r.fault != nil {
		c.settings.Log.Error("host_failed", logkey.Name, r.host.Name, logkey.Error, r.fault)
	}
}

// freeName returns a name that no other machine of the chat has, such as after a change of the
// chat's own.
func (c *Center) freeName(name string) string {
	free := name
	for n := 2; strings.EqualFold(free, c.settings.Name) || c.isTaken(free); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

func (c *Center) isTaken(name string) bool {
	for _, r := range c.remotes {
		if strings.EqualFold(r.host.Name, name) {
			return true
		}
	}
	return false
}

func (c *Center) setFleet(ctx context.Context, fleet link.Fleet) error {
	c.mu.Lock()
	chat := c.chat
	c.mu.Unlock()
	if chat == nil {
		return ErrNotConnected
	}
	return chat.SetFleet(ctx, fleet)
}

// note keeps the last candidate of each name for the person.
func (c *Center) note(candidate join.Candidate) {
	c.mu.Lock()
	c.candidates[strings.ToLower(candidate.Name)] = candidate
	close(c.waits)
	c.waits = make(chan struct{})
	c.mu.Unlock()
	if c.settings.OnCandidate != nil {
		c.settings.OnCandidate()
	}
}

// Waiting returns the machine that waits for a decision about a name.
func (c *Center) Waiting(name string) (candidate join.Candidate, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	candidate, waits = c.candidates[strings.ToLower(name)]
	return candidate, waits
}

// ErrNotConnected is returned while the hub cannot be reached.
var ErrNotConnected = errors.New("the hub is not reached")

// Offer returns a code with which one machine can join under a name. It waits for the hub until ctx
// ends, because a hub that has not seen the chat refuses each code.
func (c *Center) Offer(ctx context.Context, name string) (code string, until time.Time, err error) {
	switch {
	case !validName(name):
		return "", time.Time{}, ErrName
	case strings.EqualFold(name, c.settings.Name):
		return "", time.Time{}, join.ErrNameTaken
	}
	select {
	case <-c.reached:
	case <-ctx.Done():
	}
	if !c.IsConnected() {
		return "", time.Time{}, ErrNotConnected
	}
	c.mu.Lock()
	delete(c.candidates, strings.ToLower(name))
	c.mu.Unlock()
	offer, err := c.desk.Offer(name)
	if err != nil {
		return "", time.Time{}, err
	}
	text, err := offer.Text()
	return text, offer.Until, err
}

// ErrName is returned for a name that no host may have.
var ErrName = errors.New("the name of a host has letters, digits, - and _, and at most 32 of them")

func validName(name string) bool {
	return name != "" && len(name) <= 32 && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}

// Candidate waits for the machine that joins under a name.
func (c *Center) Candidate(ctx context.Context, name string) (join.Candidate, error) {
	for {
		c.mu.Lock()
		waits := c.waits
		c.mu.Unlock()
		candidate, ok := c.Waiting(name)
		if ok {
			return candidate, nil
		}
		select {
		case <-ctx.Done():
			return join.Candidate{}, ctx.Err()
		case <-waits:
		}
	}
}

// Decide lets a machine in, or refuses it. The person saw its fingerprint.
func (c *Center) Decide(ctx context.Context, code, fingerprint string, admit bool) (join.Host, error) {
	host, err := c.desk.Decide(ctx, code, fingerprint, admit)
	if host.ID == "" {
		return host, err
	}
	c.mu.Lock()
	if c.remotes[host.ID] == nil {
		c.add(host, nil)
		err = errors.Join(err, c.remotes[host.ID].fault)
	}
	c.mu.Unlock()
	return host, err
}

// Remove revokes the rights of a host. Its sessions continue without the chat.
func (c *Center) Remove(ctx context.Context, name string) (join.Host, error) {
	c.mu.Lock()
	var r *remote
	for _, one := range c.remotes {
		if strings.EqualFold(one.host.Name, name) {
			r = one
		}
	}
	c.mu.Unlock()
	if r == nil {
		return join.Host{}, ErrNoHost
	}
	err := c.desk.Remove(ctx, r.host.ID, func() {
		ctx, stop := context.WithTimeout(ctx, tellTimeout)
		defer stop()
		_ = r.tell(ctx, rpc.RemovedKind, "") // a host that is away learns it from the hub's refusal
		c.forget(r)                          // first: the hub may take long, or still serve the host
	})
	if still, _, listed := Hosts(c.settings.Folder); listed != nil || slices.ContainsFunc(still, func(h join.Host) bool { return h.ID == r.host.ID }) {
		return r.host, errors.Join(err, listed)
	}
	c.forget(r)
	r.stop()
	if gone := disk.RemoveAll(c.linkFolder(r.host.ID)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return r.host, err
}

// forget ends the trust in a host.
func (c *Center) forget(r *remote) {
	c.mu.Lock()
	delete(c.remotes, r.host.ID)
	c.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	}
	if m := c.settings.Machines; m != nil {
		m.Remove(r.host.ID)
	}
}

// Server returns the URLs of the existing NATS server whose operator signs the account after each
// removal; empty: the fleet has its own hub.
func (c *Center) Server() string {
	if c.hub.Pin != nil {
		return ""
	}
	return c.hub.Address
}

func (c *Center) linkFolder(id string) string {
	return filepath.Join(c.settings.Folder, "links", id)
}

// List returns all hosts, by name.
func (c *Center) List() []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []State
	for _, r := range c.remotes {
		s := State{Host: r.host, Unread: int(r.unread.Load()), Fault: r.fault, Cut: c.chat == nil}
		if r.own != r.host.Name {
			s.Own = r.own
		}
		if caller := r.caller.Load(); caller != nil {
			s.Presence, s.Heard, s.Said = caller.State()
			s.Cut = caller.IsCut()
			n, age := r.end.Held()
			if steady := caller.Steady(); steady > beat.MostHeld {
				s.Held, s.HeldFor = held(n, min(age, steady), s.Said.Held, min(s.Said.HeldFor, steady))
			}
			s.Lives = r.link.Lives()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// held returns the messages of those ends that are stuck.
func held(ours int, since time.Duration, theirs int, theirSince time.Duration) (n int, longest time.Duration) {
	if since > beat.MostHeld {
		n, longest = ours, since
	}
	if theirSince > beat.MostHeld {
		n, longest = n+theirs, max(longest, theirSince)
	}
	return n, longest
}

// Silence returns for how long the hub has not answered a chat that began at a time; zero: it answers, or no machine needs it.
func (c *Center) Silence(began, now time.Time) time.Duration {
	if at := c.answered.Load(); at != nil && at.After(began) {
		began = *at // all machines may be switched off, and send no beats
	}
	silent := silence(c.List(), began, now)
	if silent == 0 {
		c.answered.Store(&now)
	}
	return silent
}

// silence is Silence by the beats of these machines alone.
func silence(all []State, began, now time.Time) time.Duration {
	last, needed := began, false
	for _, s := range all {
		if s.Fault != nil {
			continue // the chat has no connection for it
		}
		if needed = true; !s.Cut {
			return 0
		}
		if s.Heard.After(last) {
			last = s.Heard
		}
	}
	if !needed {
		return 0
	}
	return now.Sub(last)
}

// report logs once that the hub does not answer, or that the messages of a host do not pass, and that they do again.
func (c *Center) report(ctx context.Context) error {
	began, silent := c.settings.Now(), false
	stuck := make(map[string]bool)
	for {
		since := c.Silence(began, c.settings.Now())
		switch is := since > beat.MostHeld; {
		case is && !silent:
			c.settings.Log.Warn("hub_silent", logkey.Server, c.hub.Address, logkey.Duration, since.Round(time.Second))
		case !is && silent:
			c.settings.Log.Info("hub_answers", logkey.Server, c.hub.Address)
		}
		silent = since > beat.MostHeld
		for _, s := range c.List() {
			switch is := s.Held > 0; {
			case is && !stuck[s.ID]:
				c.settings.Log.Warn("host_messages_held", logkey.Name, s.Name, logkey.Count, s.Held, logkey.Duration, s.HeldFor.Round(time.Second))
			case !is && stuck[s.ID]:
				c.settings.Log.Info("host_messages_pass", logkey.Name, s.Name)
			}
			stuck[s.ID] = s.Held > 0
		}
		if err := pause.For(ctx, beat.Timeout); err != nil {
			return err
		}
	}
}

// Machines returns the machines of all hosts, by name.
func (c *Center) Machines() map[string]*machine.Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]*machine.Machine)
	for _, r := range c.remotes {
		all[r.host.Name] = r.machine
	}
	return all
}

// IsConnected reports whether the hub is connected.
func (c *Center) IsConnected() bool {
	c.mu.Lock()
	chat := c.chat
	c.mu.Unlock()
	return chat != nil && chat.Conn().IsConnected() // waits for a hub that takes no bytes
}
