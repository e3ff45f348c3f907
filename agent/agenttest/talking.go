package agenttest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// work is the session of most cases.
const work = "work"

// talking is the life of one session that never ends.
func talking() life {
	return life{"talking", []testCase{
		{"start", (*bench).starts},
		{"given id", (*bench).givesID},
		{"receipt", (*bench).receives},
		{"turn end", (*bench).endsTurn},
		{"usage", (*bench).counts},
		{"history", (*bench).remembers},
		{"dialog", (*bench).asks},
		{"draft", (*bench).keepsDraft},
		{"queue", (*bench).queues},
		{"interrupt", (*bench).stops},
		{"interruption", (*bench).isInterrupted},
		{"learned id", (*bench).learnsID},
	}}
}

// open starts a session and waits until it is ready.
func (b *bench) open(name string) {
	b.t.Helper()
	b.WaitFor(b.Open(name), name+" is ready")
}

// prompt sends "say X" and waits for X.
func (b *bench) prompt(said string) {
	b.t.Helper()
	b.WaitFor(b.Say("say "+said), said)
}

// conversation returns the id of a session's conversation.
func (b *bench) conversation(name string) string { return b.Record(name).AgentSessionID.String() }

// agent returns the process of a running session, which has one writer. An agent that chooses the
// id of its conversation has a writer as soon as ccbot has learned the id.
func (b *bench) agent(name string) process.Identity {
	b.t.Helper()
	// The chat may know it before the disk does.
	b.Until(name+" runs", func() bool { return b.Record(name).State == session.Running })
	r := b.Record(name)
	require.NotNil(b.t, r.Binding)
	assert.True(b.t, b.Alive(r.Binding.Agent))
	want := []process.Identity{r.Binding.Agent}
	b.Until("P1: one writer", func() bool { return slices.Equal(b.Writers(b.conversation(name)), want) }) // its file is written in place
	return r.Binding.Agent
}

// works waits until the turn of a prompt for many words runs.
func (b *bench) works(prompt string) {
	b.t.Helper()
	b.Until("the turn of "+prompt+" runs", func() bool {
		_, after, found := strings.Cut(b.Screen(work), prompt)
		return found && strings.Contains(after, "slow word slow word")
	})
}

func (b *bench) starts() {
	b.open(work)
	b.prompt("hello")
	b.agent(work)
}

func (b *bench) givesID() {
	assert.Contains(b.t, b.Args(b.agent(work)), b.conversation(work))
}

// receives sends texts of one line and of many: each arrives once and unchanged, and no proof is
// missing.
func (b *bench) receives() {
	long := strings.Repeat("a line of a long text\n", 60) + "its end"
	for _, text := range []string{"say short", "say " + long} {
		said := b.Say(text)
		b.WaitFor(said, text[len(text)-5:])
		b.Until("it is proven", func() bool { return len(b.Record(work).Prompts) == 0 })
		assert.Equal(b.t, 1, b.Received(text), "P4: once")
	}
	assert.Zero(b.t, b.Count("not certain that"))
}

func (b *bench) endsTurn() {
	code, out, errs := b.Call("send-prompt work 'say from a script' --wait")()
	assert.Equal(b.t, []any{0, "from a script\n", ""}, []any{code, out, errs})
	b.Until("it is idle", func() bool { return b.Record(work).Phase == "idle" })
}

func (b *bench) counts() {
	before := b.Record(work).Progress.Tokens
	b.prompt("some words that count")
	b.Until("the tokens are counted", func() bool { return b.Record(work).Progress.Tokens.Output > before.Output })
}

// remembers reads what was said, searches in it, and counts what it has cost.
func (b *bench) remembers() {
	for line, want := range map[string]string{"history work": "from a script", "history work 'FROM A'": "from a script", "usage": "work"} {
		code, out, errs := b.Call(line)()
		assert.Equal(b.t, []any{0, ""}, []any{code, errs}, line)
		assert.Contains(b.t, out, want, line)
	}
	b.WaitFor(b.Say("/history"), "from a script")
}

// asks waits with a text until a request is answered.
func (b *bench) asks() {
	said := b.Say("bash touch a-marker")
	asked := b.WaitFor(said, b.Asks)
	held := b.Say("say after the request")
	b.Until("the text waits", func() bool { return len(b.Record(work).Prompts) == 1 })
	assert.Zero(b.t, b.Received("say after the request"), "P7: never into a dialog")
	b.Tap(asked-1, b.Yes)
	b.WaitFor(held, "after the request")
	assert.Equal(b.t, 1, b.Received("say after the request"))
}

func (b *bench) keepsDraft() {
	b.Type(work, "half a thought")
	b.Until("the draft is in the box", func() bool { return strings.Contains(b.Screen(work), "half a thought") })
	said := b.Say("say instead of the draft")
	held := b.WaitFor(said, "holds a draft")
	assert.Zero(b.t, b.Received("say instead of the draft"), "P7: never into a draft")
	b.Tap(held-1, "Send anyway")
	b.WaitFor(held, "half a thought")
	b.Until("the text is there", func() bool { return b.Received("say instead of the draft") == 1 })
	b.Until("it is proven", func() bool { return len(b.Record(work).Prompts) == 0 })
	assert.Zero(b.t, b.Received("half a thought"), "a draft is not sent")
}

// queues submits one text at the terminal and one in the chat while a turn runs: the turn is not
// cut, and both are answered.
func (b *bench) queues() {
	said := b.Say("slow 5")
	b.works("slow 5")
	b.Type(work, "say by hand")
	b.Press(work, "Enter")
	b.Say("say by chat")
	b.WaitFor(said, "by hand")
	b.WaitFor(said, "by chat")
	b.Until("both were received", func() bool { return b.Received("say by hand") == 1 && b.Received("say by chat") == 1 })
}

func (b *bench) stops() {
	b.Say("slow 600")
	b.works("slow 600")
	b.WaitFor(b.Say("/stop"), "is interrupted")
	b.prompt("after the stop")
}

// isInterrupted interrupts a turn at the terminal: ccbot learns it from the agent.
func (b *bench) isInterrupted() {
	end := b.Call("send-prompt work 'slow 601' --wait")
	b.works("slow 601")
	b.Until("it is proven", func() bool { return b.Received("slow 601") == 1 && len(b.Record(work).Prompts) == 0 })
	b.Press(work, "Escape")
	code, _, errs := end()
	assert.Equal(b.t, []any{1, "ccbot: the turn of work was stopped\n"}, []any{code, errs})
	b.prompt("after the interruption")
}

func (b *bench) learnsID() {
	if before := b.conversation(work); b.Renew != "" {
		b.Say(b.Renew)
		b.Until("the conversation has another id", func() bool { return b.conversation(work) != before })
	}
	b.prompt("in the other conversation")
	assert.NotContains(b.t, b.Args(b.agent(work)), b.conversation(work))
}
