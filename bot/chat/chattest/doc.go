// Package chattest is the chat among fakes: a whole Bot whose inbox, chats, cards and requests lie
// in real folders, over a machine of agents, a hook relay and an outbox that a test drives and
// reads.
//
// NewWorld makes one. Tests call the bot's public methods (Handle, SessionNews, Recovered, Asked,
// Run) and read the messages of the fake outbox as a person sees them, with their buttons, which
// are tapped by their words. Nothing here waits for real time.
package chattest
