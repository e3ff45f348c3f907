// Package codex implements package agent for Codex, OpenAI's coding agent. The packages in its
// folder read its rollouts (rollout) and its screen (codexui), talk to its server (appserver), and
// know who writes a conversation (writerlock).
//
// A session of Codex has three processes. The pane runs ccbot-codex:
//
//	ccbot-codex --codex PROGRAM --conversation ID [resume ID | fork ID] -- FLAGS
//
// It makes a folder of mode 0700 for a socket, and starts two children with the pane's environment:
//
//	PROGRAM app-server --listen unix://SOCKET
//	PROGRAM [resume ID | fork ID] --remote unix://SOCKET \
//	    -c tui.terminal_title=["thread-id","run-state"] FLAGS
//
// The server writes the conversation and holds its lock; the second one is the terminal, which has
// the pane's foreground. If one of them ends, ccbot-codex ends the other, and then itself with the
// exit code of the first. A signal or a hang-up ends both. It removes the socket, and has no state.
//
// It promises:
//
//   - Only a process that holds the lock of a conversation writes it. A command line proves
//     nothing: `codex resume ID` shows a conversation that another process has locked, and `/new`
//     and `/clear` change the conversation of a process.
//   - A launch has never more permissions than the configured one, which decides its flags.
//   - Codex' shared background server is never used, no trust is written for a person, and no
//     dialog is answered before a person sees it.
//
// Its limits: Codex chooses the id of a new conversation, and ccbot learns it from the server. A
// tool that may use the network can reach the socket, and answer its own requests.
package codex
