package agenttest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// Subject is an agent under test. It answers the words of package script of the demo agent: "say X"
// with X, "slow N" with the words "slow word" for N seconds, "bash CMD" with a request to run CMD.
type Subject struct {
	Name string
	// Lacks has the cases that the agent does not offer, each with the reason.
	Lacks map[string]string
	// Asks is the chat's text about a request, and Yes the button that grants it.
	Asks, Yes string
	// Renew is the prompt that begins another conversation in the same process.
	Renew string
	// Delivers reports that ccbot gives it prompts without its prompt box: nothing is pasted.
	Delivers bool
	// New returns a ccbot that starts the agent. It ends with the test.
	New func(*testing.T) World
}

// World is a ccbot with its chat, terminals and agent. Its methods fail the test if what they wait
// for does not happen.
type World interface {
	Program
	Chat
	Terminal
	Facts
	// As runs f under another test.
	As(t *testing.T, f func())
}

// Program is the ccbot that runs.
type Program interface {
	Start(env ...string) // and waits until it is ready
	Stop()
	Crash() // as kill -9 makes it
	// Call runs a verb in a shell. The function that it returns waits for the verb's end.
	Call(line string) (end func() (code int, out, errs string))
}

// Chat is a person's chat. The numbers are those of messages.
type Chat interface {
	Open(name string) (message int) // asks for a session
	Say(text string) (message int)
	// WaitFor waits for a message of ccbot after another message; it contains text.
	WaitFor(after int, text string) (message int)
	// Tap waits for a message with a button after another message, and taps the button.
	Tap(after int, label string) (message int)
	Count(text string) (messages int)
	Mark() (message int) // the newest one
}

// Terminal is a person's terminal.
type Terminal interface {
	Press(name string, keys ...string) // tmux keys, in a session's window
	Type(name, text string)            // letters, in a session's window
	Screen(name string) string         // of a session's window
	// Resume continues a conversation by hand: in a shell on ccbot's tmux server, or as the only
	// process of a window that ccbot does not know.
	Resume(conversation string, shell bool) process.Identity
	Suspend(id process.Identity) // as kill -STOP does
}

// Facts has the records, processes and prompts, which the chat does not show.
type Facts interface {
	Record(name string) session.Record
	Writers(conversation string) []process.Identity
	Alive(id process.Identity) bool
	Args(id process.Identity) []string
	Received(text string) (times int) // by the agent, in all conversations
	Until(what string, ok func() bool)
}

// testCase is one row of the table.
type testCase struct {
	name string
	run  func(*bench)
}

// life is a list of cases that one world plays in turn.
type life struct {
	name  string
	cases []testCase
}

func lives() []life { return []life{talking(), ending(), crashing()} }

// bench is the world of one life.
type bench struct {
	World
	Subject
	t *testing.T // of the case
}

// Column has the results of one agent.
type Column struct {
	Name string

	mu      sync.Mutex
	results map[string]string
}

func (c *Column) note(name, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[name] = result
}

// Run runs all cases with an agent and returns its column of the table.
func Run(t *testing.T, s Subject) *Column {
	t.Helper()
	column := &Column{Name: s.Name, results: make(map[string]string)}
	for name := range s.Lacks {
		require.Contains(t, names(), name, "%s lacks a case that does not exist", s.Name)
	}
	t.Run("cases", func(t *testing.T) { // ends when all lives have ended
		for _, l := range lives() {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				l.play(t, s, column)
			})
		}
	})
	return column
}

func (l life) play(t *testing.T, s Subject, column *Column) {
	b := &bench{World: s.New(t), Subject: s}
	b.Start()
	for _, c := range l.cases {
		if s.Lacks[c.name] != "" {
			column.note(c.name, "not offered")
			continue
		}
		ok := t.Run(c.name, func(t *testing.T) {
			column.note(c.name, "failed")
			b.t = t
			b.As(t, func() { c.run(b) })
			if !t.Failed() {
				column.note(c.name, "ok")
			}
		})
		if !ok {
			t.Fatalf("%s: the cases after it were not tried", c.name)
		}
	}
	b.Stop()
}

func names() (all []string) {
	for _, l := range lives() {
		for _, c := range l.cases {
			all = append(all, c.name)
		}
	}
	return all
}

// Table returns the cases and the results of agents as a table in Markdown. A nil column is left
// out.
func Table(columns ...*Column) string {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c *Column) bool { return c == nil })
	var b strings.Builder
	head, rule := "| case |", "|---|"
	for _, c := range columns {
		head, rule = head+" "+c.Name+" |", rule+"---|"
	}
	b.WriteString(head + "\n" + rule + "\n")
	for _, name := range names() {
		b.WriteString("| " + name + " |")
		for _, c := range columns {
			result := c.results[name]
			if result == "" {
				result = "not tried"
			}
			b.WriteString(" " + result + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
