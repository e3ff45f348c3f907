package chattest

import (
	"context"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/host"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/port/folders"
)

// machine is the machine of the agents as the world has it now.
type machine struct{ *World }

func (m machine) now() *host.Machine {
	return &host.Machine{Home: m.Home, Roots: m.Roots, Own: host.Own{Dir: m.StateDir}, Records: m.Records, Tickets: &m.Tickets, Offers: &m.Offers,
		Agents: m.agents(), GitEnv: []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "HOME=" + m.Dir},
		Folders: new(session.Gate),
		Written: func(_ context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error) {
			return m.Written, m.WrittenErr
		}}
}

func (m machine) agents() agent.Agents { return m.agentsIn(filepath.Join(m.Dir, "projects")) }

// agentsIn returns the agents of the machine. Others than the default one find its conversations.
func (w *World) agentsIn(dir string) agent.Agents {
	all := agentsIn(dir)
	for name, one := range w.Hosted.Agents {
		if name != agent.Default {
			other := all[agent.Default]
			other.Product, other.Launch = one.Product, one.Launch
			all[name] = other
		}
	}
	return all
}

func (m machine) reached() *host.Machine {
	m.ports.wait()
	return m.now()
}

func (m machine) Bounds(dir string) (folders.Bounds, error) { return m.now().Bounds(dir) }

func (m machine) Resolve(ctx context.Context, base, path string) (string, error) {
	return m.reached().Resolve(ctx, base, path)
}

func (m machine) Make(ctx context.Context, dir string) error { return m.reached().Make(ctx, dir) }

func (m machine) Children(ctx context.Context, dir string, hidden bool) ([]string, bool, error) {
	return m.reached().Children(ctx, dir, hidden)
}

// Search is never cut by the time that it takes.
func (m machine) Search(ctx context.Context, dir, part string, most folders.Extent) (folders.Found, error) {
	most.Time = pause.Forever
	return m.reached().Search(ctx, dir, part, most)
}

func (m machine) Checkouts(ctx context.Context, dir string) ([]folders.Checkout, error) {
	return m.reached().Checkouts(ctx, dir)
}

func (m machine) Conversations(ctx context.Context, dir string, from, most int) ([]folders.Conversation, bool, error) {
	return m.reached().Conversations(ctx, dir, from, most)
}

func (m machine) Add(ctx context.Context, dir, key string) (string, error) {
	return m.reached().Add(ctx, dir, key)
}

func (m machine) IsMissing(ctx context.Context, dir string) (bool, error) {
	return m.Gone[dir], nil
}

func (m machine) Branch(ctx context.Context, dir string) (string, error) {
	return m.reached().Branch(ctx, dir)
}

func (m machine) HasCommand(ctx context.Context, session uuid.UUID, name string) (bool, error) {
	return m.reached().HasCommand(ctx, session, name)
}

func (m machine) Done(ctx context.Context, dir, key string) error { return m.now().Done(ctx, dir, key) }

func (m machine) Find(ctx context.Context, dir string) (folders.Worktree, bool, error) {
	return m.reached().Find(ctx, dir)
}

func (m machine) Remove(ctx context.Context, dir string) error { return m.reached().Remove(ctx, dir) }

func (m machine) Open(ctx context.Context, session uuid.UUID, path string) (folders.File, error) {
	return m.reached().Open(ctx, session, path)
}

func (m machine) List(ctx context.Context, session uuid.UUID, path string) (folders.Listing, error) {
	return m.reached().List(ctx, session, path)
}

func (m machine) Offered(ctx context.Context, session, id uuid.UUID, outcome folders.Outcome) error {
	return m.reached().Offered(ctx, session, id, outcome)
}

func (m machine) Read(ctx context.Context, transcript, path string, most int64) (string, error) {
	return m.reached().Read(ctx, transcript, path, most)
}
