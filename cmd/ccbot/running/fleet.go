package running

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/internal/logkey"
)

// FleetFolder is the folder of the fleet in ccbot's folder.
func FleetFolder(dir string) string { return filepath.Join(dir, "fleet") }

// fleet is the bot's part of a fleet. Without a hub it is empty, and nothing runs.
type fleet struct {
	mu     sync.Mutex
	center *center.Center
	dir    string
	log    *slog.Logger
	run    func(func() error) // runs a part as long as the bot
	ctx    context.Context    // of the bot
}

// begin runs the fleet if there is one, and a later one as soon as it is there.
func (f *fleet) begin(ctx context.Context, run func(func() error), dir string, log *slog.Logger) {
	f.mu.Lock()
	f.ctx, f.run, f.dir, f.log = ctx, run, dir, log
	f.mu.Unlock()
	if _, err := f.open(); err != nil && !errors.Is(err, center.ErrNoHub) {
		log.Error("fleet_failed", logkey.Error, err) // the sessions of this machine work
	}
}

// open returns the fleet, which runs. A hub that was named since the start is found now.
func (f *fleet) open() (*center.Center, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.center != nil {
		return f.center, nil
	}
	if f.run == nil {
		return nil, errors.New("ccbot is still starting")
	}
	c, err := center.Open(center.Settings{Folder: FleetFolder(f.dir), Now: time.Now, Log: f.log})
	if err != nil {
		return nil, err
	}
	f.center = c
	f.run(func() error {
		if err := c.Run(f.ctx); f.ctx.Err() == nil {
			f.log.Error("fleet_failed", logkey.Error, err)
		}
		return nil
	})
	return c, nil
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
	Until    time.Time `json:"until"` // the end of its rights, which are renewed
}

var presences = map[beat.Presence]string{beat.Unknown: "unknown", beat.Present: "present", beat.Away: "away"}

func hostOf(s center.State) Host {
	return Host{Name: s.Name, ID: s.ID, State: presences[s.Presence], Heard: s.Heard, Version: s.Said.Version,
		Agents: s.Said.Agents, Load: s.Said.Load, DiskFree: s.Said.DiskFree, Until: s.Until}
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
