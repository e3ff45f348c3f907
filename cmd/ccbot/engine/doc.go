// Package engine has the parts that run the sessions of a machine, connected: the records, tmux,
// the agents' processes, their hooks, loops and schedules. The bot runs an engine next to the chat;
// `ccbot host run` runs it for a chat on another machine.
//
// It promises that sessions depend on no package of the chat: it imports none, also not indirectly
// through a part of the engine. The calls to the chat are those of Chat.
package engine
