package agenttest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// ending is the life of one conversation that ends in every way and continues.
func ending() life {
	return life{"ending", []testCase{
		{"end by HUP", (*bench).hangsUp},
		{"resume", (*bench).resumes},
		{"end by TERM", func(b *bench) { b.endsInShell("term", nil) }},
		{"end by KILL", func(b *bench) { b.endsInShell("kill", b.Suspend) }},
		{"one writer", (*bench).refusesSecond},
		{"fork", (*bench).forks},
	}}
}

// archive ends a session and waits for the proof of its agent's end. how is the first step that
// can end the agent: on a busy machine an agent that is about to end meets later steps, too.
func (b *bench) archive(name, how string, agent process.Identity) {
	b.t.Helper()
	asked := b.Tap(b.Say("/kill "+name), "Kill")
	b.WaitFor(asked-1, name+" is archived")
	assert.False(b.t, b.Alive(agent), "P3: archive means dead")
	assert.Empty(b.t, b.Writers(b.conversation(name)), "P3: no writer is left")
	why := b.Tap(b.Say("/why "+name), "Details")
	b.WaitFor(why-1, fmt.Sprintf("process %d ended (", agent.PID))
	steps := []string{"hup", "term", "kill"}
	assert.True(b.t, slices.ContainsFunc(steps[slices.Index(steps, how):], func(step string) bool {
		return b.Count(fmt.Sprintf("process %d ended (%s)", agent.PID, step)) == 1
	}), "%s ends it", how)
}

func (b *bench) hangsUp() {
	b.open(work)
	b.prompt("hello")
	b.archive(work, "hup", b.agent(work))
}

func (b *bench) resumes() {
	before := b.conversation(work)
	b.WaitFor(b.Say("/resume "+work), work+" is ready")
	b.prompt("again")
	assert.Equal(b.t, before, b.conversation(work), "the conversation is the same")
	assert.Equal(b.t, 1, b.Count("hello"), "P5: an answer does not come twice")
	b.archive(work, "hup", b.agent(work))
}

// endsInShell connects an agent in a person's shell, where no hang-up is possible, and ends it.
func (b *bench) endsInShell(how string, before func(process.Identity)) {
	mark := b.Say("/list")
	agent := b.Resume(b.conversation(work), true)
	b.WaitFor(b.Tap(mark, "Connect")-1, "is connected")
	b.prompt("from the shell, " + how)
	assert.Equal(b.t, agent, b.agent(work))
	if before != nil {
		before(agent)
	}
	b.archive(work, how, agent)
}

// refusesSecond resumes a conversation that has a writer in a terminal that ccbot does not
// know.
func (b *bench) refusesSecond() {
	agent := b.Resume(b.conversation(work), false)
	refused := b.Say("/resume " + work)
	b.WaitFor(refused, fmt.Sprintf("pid %d", agent.PID))
	assert.Equal(b.t, session.Archived, b.Record(work).State)
	assert.Equal(b.t, []process.Identity{agent}, b.Writers(b.conversation(work)), "P1: one writer, P2: which lives")
}

// forks continues in a copy, as the original still has its writer.
func (b *bench) forks() {
	writers := b.Writers(b.conversation(work))
	b.WaitFor(b.Tap(b.Say("/resume "+work), "Continue in a copy")-1, work+"-fork is ready")
	b.prompt("from the fork")
	assert.NotEqual(b.t, b.conversation(work), b.conversation(work+"-fork"))
	b.agent(work + "-fork")
	assert.Equal(b.t, writers, b.Writers(b.conversation(work)), "the original is left alone")
}
