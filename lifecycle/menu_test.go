package lifecycle

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/claude/presence"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
)

// menu is a question of the stand-in with a cursor, or a page without options.
type menu struct {
	head     []string
	options  []string
	selected int
	foot     string // below the options
	above    string // changing rows above the dialog
	plain    bool   // nothing that tells a dialog is shown
	ignores  int    // it takes no key this many times
	page     bool   // Enter does not close it
	flat     bool   // screen reader mode: the number of an option is typed, and then Enter
	typed    string // in screen reader mode

	permission bool // in the presence file; otherwise a question

	pressed []string // the keys that it took, or ignored
	chosen  []string // the options that Enter went to
	onKey   func(m *menu, key string)
	slow    func(n int) time.Duration // how long its nth key waits at least; they are taken in order
	takenAt time.Time                 // when the last one is taken
	onTaken func(a *agent)
}

func askBash(command string) *menu {
	return &menu{head: []string{" Bash command", " " + command, " Do you want to proceed?"}, foot: " Esc to cancel · Tab to amend",
		options: []string{"Yes", "Yes, and always allow access to /src", "Yes, and switch to auto mode", "No"}}
}

var menuKeys = map[string]string{"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left",
	"\t": "tab", " ": "space", "\x1b": "esc", "\r": "enter", "\x15": "clear"}

// press takes a key, as the agent whose menu it is.
func (m *menu) press(a *agent, data string) {
	key, ok := menuKeys[data]
	if !ok {
		key = data // a digit, or text
	}
	m.pressed = append(m.pressed, key)
	if m.onKey != nil {
		m.onKey(m, key)
	}
	if m.slow == nil {
		m.take(a, key)
		return
	}
	at := time.Now().Add(m.slow(len(m.pressed)))
	if !at.After(m.takenAt) {
		at = m.takenAt.Add(time.Millisecond)
	}
	m.takenAt = at
	time.AfterFunc(time.Until(at), func() { a.set(func(a *agent) { m.take(a, key) }) })
}

// take acts on a key.
func (m *menu) take(a *agent, key string) {
	if m.ignores > 0 {
		m.ignores--
		return
	}
	switch {
	case m.flat && key == "enter" && m.typed == "": // it does nothing
		return
	case m.flat && key == "enter":
		m.selected = int(m.typed[0] - '1')
	case m.flat && key != "esc":
		m.typed += key
		return
	}
	switch key {
	case "up":
		m.selected = max(0, m.selected-1)
	case "down":
		m.selected = min(len(m.options)-1, m.selected+1)
	case "esc":
		a.close()
	case "enter":
		if len(m.options) > 0 {
			m.chosen = append(m.chosen, m.options[m.selected])
		}
		if !m.page {
			a.close()
		}
		if m.onTaken != nil {
			m.onTaken(a)
		}
	}
}

// close ends the dialog; the caller holds the agent.
func (a *agent) close() {
	a.menu, a.status, a.waitingFor = nil, presence.Idle, ""
}

// asks opens a menu on the agent, with the matching presence file.
func (a *agent) asks(m *menu) {
	a.set(func(a *agent) {
		a.menu, a.status, a.waitingFor, a.since = m, presence.Waiting, "input needed", time.Now()
		if m.permission {
			a.waitingFor = "permission prompt"
		}
	})
}

func (m *menu) screen() string {
	if m.flat {
		rows := append([]string{"claude: Running Bash."}, m.head...)
		for i, option := range m.options {
			rows = append(rows, fmt.Sprintf("%d. %s", i+1, option))
		}
		answer := fmt.Sprintf("Select with numbers [1-%d]. Then Enter to submit or Escape to cancel: %s", len(m.options), m.typed)
		return strings.Join(append(rows, answer), "\n") + "\n"
	}
	rows := []string{"● Running Bash.", m.above, strings.Repeat("─", 60)}
	if m.plain {
		rows[2] = ""
	}
	rows = append(rows, m.head...)
	for i, option := range m.options {
		sign := " "
		if i == m.selected {
			sign = "❯"
		}
		rows = append(rows, fmt.Sprintf(" %s %d. %s", sign, i+1, option))
	}
	return strings.Join(append(rows, "", m.foot), "\n") + "\n"
}

// took returns the keys and choices of the agent's menu; the menu may be closed.
func (a *agent) took(m *menu) (pressed, chosen []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(m.pressed), slices.Clone(m.chosen)
}

// relays are the permission requests that wait for the chat.
type relays struct {
	mu  sync.Mutex
	all []hooks.Request
}

func (q *relays) Waiting(_ context.Context, id uuid.UUID) (waiting []hooks.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.all {
		if one.Session == id {
			waiting = append(waiting, one)
		}
	}
	return waiting
}

// ask has a request of the session's agent wait from now on.
func (q *relays) ask(r session.Record) {
	q.add(hooks.Request{ID: uuid.NewString(), Session: r.ID, Agent: r.Binding.Agent.Text(), RequestedAt: time.Now()})
}

func (q *relays) add(one hooks.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, one)
}

// leave ends all that wait.
func (q *relays) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = nil
}

// statuses holds the last status line.
type statuses struct {
	mu   sync.Mutex
	last *hookwire.Status
	err  error
}

func (s *statuses) notify(r session.Record, context, cost float64) {
	a := r.Binding.Agent
	s.set(func(s *statuses) {
		s.last = &hookwire.Status{Launch: r.ID.String(), AgentPID: a.PID, AgentStart: a.Start, Boot: a.Boot, Model: "Opus",
			ContextPercent: context, CostUSD: cost, At: time.Now()}
	})
}

func (s *statuses) set(change func(s *statuses)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *statuses) read(uuid.UUID) (hookwire.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return hookwire.Status{}, s.err
	case s.last == nil:
		return hookwire.Status{}, fs.ErrNotExist
	}
	return *s.last, nil
}
