// Package news is what happens to sessions on the agent's machine, as the chat is told.
//
// A note is told by one call, and what the chat must keep of the note is durable when that call
// returns. After a crash a note may come twice. The call comes from the session's own worker: who
// hears a note calls no port but [ccbot/bot/port/views], which waits for nothing.
package news
