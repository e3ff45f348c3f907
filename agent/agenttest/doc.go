// Package agenttest is the conformance suite of coding agents. [Run] plays the life of a session
// with the built ccbot, a private tmux server and one agent, and [Table] shows the cases that the
// agent passes.
//
// An agent passes every case or declares in [Subject.Lacks] that it does not offer it. A case
// speaks to ccbot as a person does: in the chat, at the terminal, on the command line. So it holds
// whatever way the agent keeps its conversations.
//
// [Toy] is the smallest agent that passes: it has no hooks and no modes, chooses the id of its
// conversation itself, and has a command line and a form of transcripts of its own, for which
// package toy has ccbot's side. Its screen and its presence file are those of Claude Code: that
// an agent with other ones would pass is not proven.
package agenttest
