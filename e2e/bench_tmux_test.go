//go:build bench

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// scrollback is a history-limit that is full after 50 turns of an agent.
const scrollback = "set-option -g history-limit 200\n"

// tmuxMemory measures how many KB of a turn stay in the tmux server: the slope of its memory over
// the last three quarters of the turns, minus the slope with the same agents, which no ccbot
// supervises.
func (b *bench) tmuxMemory() {
	const agents = 10
	rounds := size(200, 40)
	with := b.slope(rounds, agents, b.turnsOfCcbot(agents))
	b.Logf("with ccbot: %.2f KB a turn", with)
	without := b.slope(rounds, agents, b.turnsByHand(agents))
	b.Logf("without ccbot: %.2f KB a turn", without)
	b.sample("tmux memory", with-without)
}

// turns runs one turn of each agent, and returns the tmux server's pid.
type turns func(round int) (server int)

// turnsOfCcbot are prompts from the chats of ten people.
func (b *bench) turnsOfCcbot(agents int) turns {
	c := b.newCrowd(agents)
	require.NoError(b, os.WriteFile(filepath.Join(filepath.Dir(c.dir), ".tmux.conf"), []byte(scrollback), 0o600))
	c.start()
	c.open(agents)
	return func(round int) int {
		since := time.Now()
		for i, p := range c.people {
			p.Send(p.ID(), fmt.Sprintf("say t%d-%d-", round, i))
		}
		for i, p := range c.people {
			word := fmt.Sprintf("t%d-%d-", round, i)
			c.came(since, word, shows(p, word))
		}
		return c.server
	}
}

// turnsByHand are prompts that a person types.
func (b *bench) turnsByHand(agents int) turns {
	w := newWorld(b.T)
	d := w.newPersonTerminal()
	d.tmux(strings.Fields(scrollback)...)
	var targets, transcripts []string
	for range agents {
		id := uuid.NewString()
		d.agent("--session-id", id)
		targets = append(targets, d.last())
		transcripts = append(transcripts, id+".jsonl")
	}
	server, err := strconv.Atoi(d.tmux("display-message", "-p", "#{pid}"))
	require.NoError(b, err)
	return func(round int) int {
		for i, target := range targets {
			d.enter(target, fmt.Sprintf("say t%d-%d-", round, i))
		}
		for i, name := range transcripts {
			word := fmt.Appendf(nil, "t%d-%d-", round, i)
			w.until(string(word), func() bool {
				files, _ := filepath.Glob(filepath.Join(w.claude, "projects", "*", name)) // the pattern is right
				if len(files) == 0 {
					return false
				}
				said, err := os.ReadFile(files[0])
				return err == nil && bytes.Count(said, word) > 1 // the prompt and the answer
			})
		}
		return server
	}
}

// slope returns the growth of the tmux server's memory in KB a turn, by least squares, without the
// first quarter of the rounds.
func (b *bench) slope(rounds, agents int, turn turns) float64 {
	var l line
	for round := range rounds {
		server := turn(round)
		if round >= rounds/4 {
			l.add(float64(round*agents), memory(server)*1024)
		}
	}
	return l.slope()
}
