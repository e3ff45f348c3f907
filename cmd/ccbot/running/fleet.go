package running

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"ccbot/bot/hosts"
	ports "ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/life"
	"ccbot/fleet/rpc"
	"ccbot/fleet/seal"
	"ccbot/internal/each"
	"ccbot/internal/health"
	"ccbot/internal/logkey"
	"ccbot/port/refusal"
)

// FleetFolder is the folder of the fleet in ccbot's folder.
func FleetFolder(dir string) string { return filepath.Join(dir, "fleet") }

// fleet is the bot's part of a fleet. Without a hub it is empty, and nothing runs.
type fleet struct {
	settings center.Settings
	own      func(ctx context.Context) rpc.Beat // the report of the chat's own machine
	mu       sync.Mutex
	center   *center.Center
	run      func(*center.Center) // runs the center as long as the bot; nil before the bot runs, and once it was called
}

// load makes the machines of a fleet known, so that their sessions are not taken for forgotten
// ones.
func (f *fleet) load() {
	if _, err := f.open(); err != nil && !errors.Is(err, center.ErrNoHub) {
		f.settings.Log.Error("fleet_failed", logkey.Error, err) // the sessions of this machine work
	}
}

// begin runs the fleet if there is one, and a later one as soon as it is there.
func (f *fleet) begin(ctx context.Context, run func(func() error)) {
	f.mu.Lock()
	f.run = func(c *center.Center) {
		run(func() error {
			if err := c.Run(ctx); ctx.Err() == nil {
				f.settings.Log.Error("fleet_failed", logkey.Error, err)
			}
			return nil
		})
	}
	f.mu.Unlock()
	f.load()
}

// open returns the fleet, which runs if the bot does. A hub that was named since the start is found
// now.
func (f *fleet) open() (*center.Center, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.center == nil {
		c, err := center.Open(f.settings)
		if err != nil {
			return nil, err
		}
		f.center = c
	}
	if f.run != nil {
		f.run(f.center)
		f.run = nil
	}
	return f.center, nil
}

// Exists implements hosts.Fleet.
func (f *fleet) Exists() bool { return center.Exists(f.settings.Folder) }

// Status implements hosts.Fleet.
func (f *fleet) Status(ctx context.Context, id string) ports.Status {
	if id == "" {
		return statusOf(f.own(ctx), time.Time{})
	}
	s := f.state(id)
	status := statusOf(s.Said, s.Heard)
	status.Unread, status.Faults = s.Unread, f.faultsOf(s)
	status.Undecided = s.Lives.Undecided
	status.Torn, status.Refused = startsOf(s.Lives.Torn), startsOf(s.Lives.Refused)
	if at := s.Lives.Elsewhere; at.ID != "" {
		status.Elsewhere = startsOf([]life.Life{at})[0]
	}
	return status
}

// faults returns the faults of the other machines, and whether none is reached because of a file.
func (f *fleet) faults() (all []health.Machine, failed bool) {
	c, err := f.open()
	if err != nil {
		return nil, !errors.Is(err, center.ErrNoHub)
	}
	for _, s := range c.List() {
		m := f.faultsOf(s)
		m.Copies, m.Elsewhere = copiesIn(s.Lives)
		m.Skew = skewOf(s)
		if len(m.Warnings()) > 0 {
			all = append(all, m)
		}
	}
	return all, false
}

// silence returns for how long the hub has not answered a chat that began at a time; zero: it answers, or no machine needs it.
func (f *fleet) silence(began, now time.Time) time.Duration {
	c, err := f.open()
	if err != nil {
		return 0
	}
	return c.Silence(began, now)
}

// skewOf returns how far the clock of a machine is off. One that is away may have set it since.
func skewOf(s center.State) time.Duration {
	if s.Presence != beat.Present {
		return 0
	}
	return statusOf(s.Said, s.Heard).Ahead
}

// copiesIn reports whether copies of the folder of the other end, or of this end, run.
func copiesIn(v seal.Lives) (theirs, ours bool) {
	return v.Undecided || len(v.Refused) > 0, v.Elsewhere.ID != ""
}

func (f *fleet) faultsOf(s center.State) health.Machine {
	m := health.Machine{Name: s.Name, Held: s.Held, For: s.HeldFor, Own: s.Own}
	if unread := (*join.Unread)(nil); errors.As(s.Fault, &unread) {
		m.Path = filepath.Join(f.settings.Folder, "hosts", s.ID)
	} else if s.Fault != nil {
		m.Path = filepath.Join(f.settings.Folder, "links", s.ID)
	}
	return m
}

func startsOf(all []life.Life) []ports.Start {
	return each.As(all, func(l life.Life) ports.Start { return ports.Start{ID: l.ID, On: l.On, Since: l.Since()} })
}

// Follow implements hosts.Fleet.
func (f *fleet) Follow(id, start string) error {
	c, err := f.open()
	if err == nil {
		err = c.Follow(id, start)
	}
	return err
}

// state returns the state of a host; zero: the chat has none with this id.
func (f *fleet) state(id string) center.State {
	if c, err := f.open(); err == nil {
		for _, s := range c.List() {
			if s.ID == id {
				return s
			}
		}
	}
	return center.State{}
}

func statusOf(b rpc.Beat, heard time.Time) ports.Status {
	s := ports.Status{Version: b.Version, Agents: b.Agents, Load: b.Load, DiskFree: b.DiskFree, DiskSize: b.DiskSize, Heard: heard}
	if !b.Clock.IsZero() && !heard.IsZero() {
		s.Ahead = b.Clock.Sub(heard)
	}
	return s
}

// Offer implements hosts.Fleet.
func (f *fleet) Offer(ctx context.Context, name string) (hosts.Code, error) {
	c, err := f.open()
	if err != nil {
		return hosts.Code{}, refusalOf(err)
	}
	ctx, stop := context.WithTimeout(ctx, offerTimeout)
	defer stop()
	text, until, err := c.Offer(ctx, name)
	return hosts.Code{Text: text, Until: until}, refusalOf(err)
}

// Candidate implements hosts.Fleet.
func (f *fleet) Candidate(name string) (found hosts.Candidate, waits bool) {
	c, err := f.open()
	if err != nil {
		return found, false
	}
	one, waits := c.Waiting(name)
	return hosts.Candidate{Code: one.Code, Fingerprint: one.Fingerprint, System: one.Machine.System, Owner: one.Machine.Owner, Rivals: one.Rivals}, waits
}

// Decide implements hosts.Fleet.
func (f *fleet) Decide(ctx context.Context, d hosts.Candidate, admit bool) error {
	c, err := f.open()
	if err == nil {
		_, err = c.Decide(ctx, d.Code, d.Fingerprint, admit)
	}
	return refusalOf(err)
}

// Remove implements hosts.Fleet.
func (f *fleet) Remove(ctx context.Context, id string) (server string, err error) {
	c, err := f.open()
	if err != nil {
		return "", refusalOf(err)
	}
	if s := f.state(id); s.ID != "" { // it may have been removed since
		_, err = c.Remove(ctx, s.Name)
	}
	return c.Server(), refusalOf(err)
}

// refusalOf returns an error of the fleet as the chat explains it.
func refusalOf(err error) error {
	for is, code := range map[error]refusal.Code{center.ErrName: refusal.HostName, join.ErrNameTaken: refusal.HostTaken, center.ErrNotConnected: refusal.HubAway,
		join.ErrLate: refusal.HostCode, join.ErrUsed: refusal.HostCode, join.ErrRefused: refusal.HostCode, join.ErrProof: refusal.HostCode, join.ErrChanged: refusal.HostCode} {
		if errors.Is(err, is) {
			return &refusal.Error{Code: code, Err: err}
		}
	}
	return err
}

// Host is a machine of the fleet.
type Host struct {
	Name     string    `json:"name"`
	ID       string    `json:"id"`
	State    string    `json:"state"` // present, away, unknown
	Heard    time.Time `json:"heard,omitzero"`
	Version  string    `json:"version,omitempty"`
	Agents   int       `json:"agents"`
	Load     float64   `json:"load"`
	DiskFree int64     `json:"disk_free"`
	Unread   int       `json:"unread,omitempty"` // reports that need a newer ccbot here
	Starts   string    `json:"starts,omitempty"` // what is wrong with the starts of a copied folder
	Until    time.Time `json:"until"`            // the end of its rights, which are renewed
	Server   string    `json:"server,omitempty"` // of a removed one: an existing server, whose operator has to sign
}

var presences = map[beat.Presence]string{beat.Unknown: "unknown", beat.Present: "present", beat.Away: "away"}

func hostOf(s center.State) Host {
	return Host{Name: s.Name, ID: s.ID, State: presences[s.Presence], Heard: s.Heard, Version: s.Said.Version,
		Agents: s.Said.Agents, Load: s.Said.Load, DiskFree: s.Said.DiskFree, Unread: s.Unread, Starts: s.Lives.Words(), Until: s.Until}
}

// Code lets a machine join under a name.
type Code struct {
	Text  string    `json:"code"`
	Until time.Time `json:"until"`
}

// Candidate is a machine that waits for a person's decision.
type Candidate struct {
	join.Candidate
	Found bool `json:"found"`
}

// Decision is what a person has decided about a machine with a fingerprint.
type Decision struct {
	Code        string `json:"code"` // id
	Fingerprint string `json:"fingerprint"`
	Admit       bool   `json:"admit"`
}
