package archive

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	claudecode "ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/agent/witness"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// quietAgent writes an idle presence file, and nothing else happens in its session.
type quietAgent struct {
	coding.Settings
	witness.Presences
	typing.Prompts
	file presence.File
}

func (q quietAgent) Read(context.Context, int) (presence.File, error) { return q.file, nil }
func (q quietAgent) List(context.Context) ([]presence.File, map[int]error, error) {
	return []presence.File{q.file}, nil, nil
}
func (q quietAgent) Remove(uuid.UUID) error                            { return nil }
func (q quietAgent) Translate(_ session.Record, n news.News) news.News { return n }

func (q quietAgent) View(r session.Record) port.Session                         { return port.Session{ID: r.ID} }
func (q quietAgent) SessionNews(context.Context, port.Session, news.News) error { return nil }

// A tool that cannot be ended is tried again every minute. That does not count as a sign of life,
// so its session is archived.
func TestIdleSessionWithToolIsArchived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, log := t.TempDir(), slog.New(slog.DiscardHandler)
		store, err := session.Open(filepath.Join(base, "sessions"), filepath.Join(base, "quarantine"), time.Now, log, nil)
		require.NoError(t, err)
		fake := tmuxtest.NewFake()
		server, err := fake.Server(t.Context())
		require.NoError(t, err)
		id, claude := uuid.New(), uuid.New()
		pane, err := fake.NewWindow(t.Context(), tmux.Spec{Name: "api", Tag: "i/" + id.String(), Dir: base, Argv: []string{"/bin/claude"}})
		require.NoError(t, err)
		rule := "────────────────────────────────────────────────────────────\n"
		fake.SetScreen(pane.ID, "● hello\n\n"+rule+"❯ \n"+rule+"  ⏸ manual mode on · ? for shortcuts\n")
		table := tabletest.New()
		agent, tool := table.StartNow(pane.PID, []string{"claude"}), table.StartNow(901, []string{"make"})
		table.YieldsTo(tool.PID, tabletest.Never)
		var tries atomic.Int32
		table.Noted = func(id process.Identity, how process.How) {
			if id == tool && how == process.HowTerm {
				tries.Add(1)
			}
		}
		quiet := quietAgent{file: presence.File{PID: agent.PID, ProcStart: agent.Start, SessionID: claude, Status: presence.Idle, UpdatedAt: time.Now()}}
		require.NoError(t, store.Create(session.Record{ID: id, Name: "api", Dir: base, State: session.Running, AgentSessionID: claude,
			CreatedAt: time.Now(), Descendants: []session.Tool{{Process: tool, Of: process.Identity{PID: 900, Start: 5, Boot: tabletest.Boot}}},
			Run: session.Run{Binding: &session.Binding{Server: session.Server{PID: server.PID, Start: server.Start}, Window: pane.Window.String(), Pane: pane.ID.String(),
				Agent: agent, Command: pane.Command}}}))
		agents := coding.Agents{coding.Default: claudecode.New(base, coding.Launch{}, nil)}
		by := agents.Of("")
		by.Settings, by.Presences = quiet, quiet
		agents[coding.Default] = by
		observer := &view.Observer{Panes: fake, Screens: fake, Processes: table, Agents: agents, Now: time.Now, Log: log}
		service := lifecycle.New(lifecycle.Config{StateDir: base}, lifecycle.Deps{Store: store, News: quiet,
			Windows: fake,
			Typist:  typing.New(observer, fake, quiet, func(uuid.UUID) (bool, error) { return false, nil }),
			Ender: &ending.Ender{Processes: table, Panes: fake, Log: log, Evidence: &evidence.Sources{Instance: "i", Agents: agents, Records: store, Processes: table,
				Bindings: func() ([]hookwire.Binding, []error) { return nil, nil }, Panes: fake.Panes, Log: log}}})
		keeper := &Keeper{Agents: agents, Sessions: service, Observer: observer, Records: store, Copies: &copies{}, IdleAfter: time.Hour, Now: time.Now, Log: log}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = service.Run(ctx) }()
		go func() { _ = keeper.Run(ctx) }()
		service.Queues().Wake(id)
		state := func() session.State { r, _ := store.Get(id); return r.State }
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		assert.Equal(t, session.Running, state())
		assert.Greater(t, tries.Load(), int32(40))
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.NotEqual(t, session.Running, state())
	})
}
