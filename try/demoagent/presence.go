package demoagent

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// version is the Claude Code release whose behaviour is played.
const version = "2.1.328"

// presence is <config>/sessions/<pid>.json as Claude Code writes it.
type presence struct {
	PID             int       `json:"pid"`
	SessionID       uuid.UUID `json:"sessionId"`
	Cwd             string    `json:"cwd"`
	StartedAt       int64     `json:"startedAt"` // ms
	ProcStart       string    `json:"procStart,omitempty"`
	Version         string    `json:"version"`
	PeerProtocol    int       `json:"peerProtocol"`
	Kind            string    `json:"kind"`
	Entrypoint      string    `json:"entrypoint"`
	Tmux            string    `json:"tmux,omitempty"`
	Name            string    `json:"name"`
	NameSource      string    `json:"nameSource"`
	Status          string    `json:"status"`
	UpdatedAt       int64     `json:"updatedAt"`
	StatusUpdatedAt int64     `json:"statusUpdatedAt"`
	WaitingFor      string    `json:"waitingFor,omitempty"`

	path string
}

func newPresence(ctx context.Context, s *start) *presence {
	pid := os.Getpid()
	p := &presence{
		PID: pid, SessionID: s.id, Cwd: s.cwd, StartedAt: time.Now().UnixMilli(), ProcStart: procStart(pid),
		Version: version, PeerProtocol: 1, Kind: "interactive", Entrypoint: "cli",
		Tmux: tmuxPlace(ctx, s.env), Name: s.options.name, NameSource: "user",
		path: filepath.Join(s.config, "sessions", strconv.Itoa(pid)+".json"),
	}
	if p.Name == "" {
		p.Name, p.NameSource = filepath.Base(s.cwd)+"-"+s.id.String()[:2], "derived"
	}
	return p
}

// update writes the file when something changed. It is rewritten in place, not renamed, so that
// readers meet torn files as they do with the real one.
func (p *presence) update(id uuid.UUID, status, waitingFor string) error {
	if p.Status == status && p.WaitingFor == waitingFor && p.SessionID == id {
		return nil
	}
	now := time.Now().UnixMilli()
	p.SessionID, p.Status, p.WaitingFor, p.UpdatedAt, p.StatusUpdatedAt = id, status, waitingFor, now, now
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.path, data, 0o644) //nolint:gosec // the real one has these permissions
}

func (p *presence) remove() { _ = os.Remove(p.path) }

// prunePresence removes files of processes that are gone, as every start of Claude Code does.
// Without /proc nothing is known and nothing is removed.
func prunePresence(config string) {
	if procStart(os.Getpid()) == "" {
		return
	}
	// the pattern is well formed
	files, _ := filepath.Glob(filepath.Join(config, "sessions", "*.json"))
	for _, file := range files {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); os.IsNotExist(err) {
			_ = os.Remove(file)
		}
	}
}

// procStart returns field 22 of /proc/PID/stat, or "" if there is no such file.
func procStart(pid int) string {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// The second field is the name in parentheses and may hold anything, also ") ".
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// tmuxPlace is "<session>:@W.%P", as tmux tells it; "" outside tmux.
func tmuxPlace(ctx context.Context, env environment) string {
	socket, _, _ := strings.Cut(env.get("TMUX"), ",")
	pane := env.get("TMUX_PANE")
	if socket == "" || pane == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-S", socket, "display-message", "-p", "-t", pane,
		"#{session_name}:#{window_id}.#{pane_id}").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
