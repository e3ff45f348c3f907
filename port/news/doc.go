// Package news is what happens to sessions on the agent's machine, as the chat is told.
//
// News are told by one call with the session as it is then, and what the chat must keep of them is
// durable when that call returns. After a crash news may come twice. The call comes from the
// session's own worker: who hears news calls no port but [ccbot/port], which waits for
// nothing.
package news
