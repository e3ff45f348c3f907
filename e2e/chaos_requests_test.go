package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// hookRequest is an event: a prompt whose agent asks for a permission. A hook of the agent is
// killed at a random moment: the one that waits for the decision, or one that reports an event.
const hookRequest = "requests for a permission, with a SIGKILL of a hook"

// hookDelay bounds the time from such a prompt to the kill, and tapDelay that to the person's tap.
const hookDelay, tapDelay = 1500 * time.Millisecond, 3 * time.Second

// chaosRequest is a prompt whose agent asks for a permission.
type chaosRequest struct {
	id, command string
	session     *chaosChat
	due         time.Time // of the first tap; the kill may come after it
	shown       bool      // the chat has shown the request
	dialog      bool      // the chat has shown it as a dialog of the terminal
	next        time.Time // of another tap
	over        atomic.Bool
}

// sendRequest sends such a prompt. It returns false if it has to wait.
func (c *chaos) sendRequest(s *chaosChat) bool {
	c.t.Helper()
	if s.long && time.Since(s.last) < cutWithin { // it would be taken for the rest of a text
		return false
	}
	id := fmt.Sprintf("q%sp%dw0", strings.TrimPrefix(s.name, "s"), len(c.requests))
	q := &chaosRequest{id: id, command: "touch " + id, session: s, due: time.Now().Add(c.upTo(tapDelay))}
	c.requests = append(c.requests, q)
	s.person.SendIn(s.person.ID(), s.thread, "bash "+q.command)
	s.last, s.long = time.Now(), false
	at, delay := c.world, c.upTo(hookDelay)
	if s.host != nil {
		at = s.host.world
	}
	all := at.records()
	i := slices.IndexFunc(all, func(r session.Record) bool { return r.Name == s.name })
	require.GreaterOrEqual(c.t, i, 0, s.name)
	agent := all[i].Agent()
	table, err := process.NewTable()
	require.NoError(c.t, err)
	c.aside.Go(func() {
		time.Sleep(delay)
		for end := time.Now().Add(waitTimeout); !q.over.Load() && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if killHook(table, agent) {
				c.hooksKilled.Add(1)
				return
			}
		}
	})
	return true
}

// killHook kills a hook of an agent, and reports whether there was one.
func killHook(table *process.Table, agent process.Identity) bool {
	snap, err := table.Snapshot(context.Background())
	if err != nil {
		return false
	}
	for _, p := range snap.Descendants(agent.PID) {
		if p.Comm != "ccbot-hook" {
			continue
		}
		handle, err := os.FindProcess(p.PID) // from now on the number is no other process's
		if err != nil {
			continue
		}
		now, err := table.Inspect(p.PID)
		killed := err == nil && now.Identity == p.Identity && now.State != 'Z' && handle.Kill() == nil
		_ = handle.Release()
		if killed {
			return true
		}
	}
	return false
}

// allow allows the requests that the chat shows, from the hook or from the terminal.
func (c *chaos) allow() {
	for _, q := range c.requests {
		if q.over.Load() {
			continue
		}
		q.over.Store(c.said(q))
		for _, m := range c.messages(q.session) {
			data := ""
			switch {
			case !containsFold(m.Body(), q.id):
			case dataOf(m, "Allow") != "":
				data, q.shown = dataOf(m, "Allow"), true
			case dataOf(m, "Yes") != "":
				data, q.dialog = dataOf(m, "Yes"), true
			}
			if now := time.Now(); data == "" || now.Before(q.due) || now.Before(q.next) {
				continue
			}
			q.next = time.Now().Add(time.Second)
			c.aside.Go(func() { _, _ = q.session.person.Tap(q.session.person.ID(), m.ID, data) }) // it may be drawn again now
		}
	}
}

// allowed reports whether each agent has carried out what it asked for.
func (c *chaos) allowed() bool {
	return !slices.ContainsFunc(c.requests, func(q *chaosRequest) bool { return !q.over.Load() })
}

// said reports whether the chat has the agent's answer about a request.
func (c *chaos) said(q *chaosRequest) bool {
	return slices.ContainsFunc(c.messages(q.session), func(m botapi.Message) bool {
		return strings.Contains(m.Body(), "pretended: "+q.command)
	})
}

// requestFigures are the results of the requests.
type requestFigures struct {
	sent, killed, hook, dialog int // killed: hooks; hook, dialog: how the chat has shown them
	lost, twice, unsaid        []string
}

func (c *chaos) judgeRequests() (f requestFigures) {
	c.t.Helper()
	f.sent, f.killed = len(c.requests), int(c.hooksKilled.Load())
	typed := make(map[string]int)
	for _, file := range c.glob("projects", "*", "*.jsonl") {
		data, err := os.ReadFile(file)
		require.NoError(c.t, err)
		for line := range strings.Lines(string(data)) {
			var l struct {
				Type    string
				Message struct{ Content any }
			}
			if json.Unmarshal([]byte(line), &l) == nil && l.Type == "user" {
				text, _ := l.Message.Content.(string)
				typed[strings.TrimSpace(text)]++
			}
		}
	}
	for _, q := range c.requests {
		switch n := typed["bash "+q.command]; {
		case n == 0:
			f.lost = append(f.lost, q.id)
		case n > 1:
			f.twice = append(f.twice, q.id)
		}
		if !c.said(q) {
			f.unsaid = append(f.unsaid, q.id)
		}
		if q.shown {
			f.hook++
		}
		if q.dialog {
			f.dialog++
		}
	}
	return f
}

// table adds the results to a table.
func (f requestFigures) table(b *strings.Builder) {
	if f.sent == 0 {
		return
	}
	reportLine(b, "hooks killed, of "+itoa(f.sent)+" requests", f.killed)
	reportLine(b, "requests that the chat showed from their hook", f.hook)
	reportLine(b, "requests that the chat showed as a dialog of the terminal", f.dialog)
	reportLine(b, "requests lost, typed twice, or without an answer", len(f.lost)+len(f.twice)+len(f.unsaid))
}

func (c *chaos) holdRequests(f requestFigures) {
	c.t.Helper()
	assert.Empty(c.t, f.lost, "P4: prompts with a request that no agent got")
	assert.Empty(c.t, f.twice, "P4: prompts with a request that an agent got twice")
	assert.Empty(c.t, f.unsaid, "requests without the agent's answer in the chat")
}

// explainRequests logs what the chat shows of each unanswered request.
func (c *chaos) explainRequests() {
	for _, q := range c.requests {
		if c.said(q) {
			continue
		}
		for _, m := range c.messages(q.session) {
			if containsFold(m.Body(), q.id) {
				c.t.Logf("request %s: message %d: %s %v", q.id, m.ID, clipped(m.Body()), m.Keyboard)
			}
		}
	}
}
