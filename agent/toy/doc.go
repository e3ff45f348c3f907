// Package toy is ccbot's side of the toy agent of package agenttest: what [agent.Agent] asks for,
// and the toy's own form of transcripts. Only a ccbot that is built with the tag failpoints links
// it.
//
// A transcript is the file <folder>/<id>.toy. Each line has a kind, a time and a quoted text. The
// toy takes "toy", "toy resume ID" and "toy copy ID"; it has no hooks, no flags and no modes, and
// chooses the id of its conversation. Its screen and its presence file are those of Claude Code.
package toy
