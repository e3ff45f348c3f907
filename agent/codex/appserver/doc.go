// Package appserver is a client of Codex' app-server: JSON-RPC over a WebSocket on a Unix socket. A
// terminal shows a conversation of the same server, and both clients see what the other one does.
//
// It promises:
//
//   - It talks only to the bound server: the process at the other end of the socket has its pid and
//     its start time, also after the connection was made.
//   - A text is given to the conversation that the terminal shows, while it is idle and no request
//     is open; otherwise the error is agent.ErrNotDelivered. From the call on, each error and each
//     silence means that it is unknown whether Codex has the text. The rollout decides.
//   - A request that is open when a conversation is joined comes again, so that requests survive a
//     restart of ccbot. The first answer counts, here or at the terminal. It answers nothing by
//     itself.
//
// Its limits: the server does not report which conversation a terminal shows. It is the only loaded
// one that a person leads; of several it is the one in the terminal's title. A person who submits a
// text between the last look and the call has a turn, which the text then joins. The protocol was
// found with version 0.169.0; messages of other methods are passed. A conversation can be joined
// only after its first prompt.
package appserver
