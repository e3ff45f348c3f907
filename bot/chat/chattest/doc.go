// Package chattest is the chat among fakes: a whole Bot whose inbox, chats, cards and requests lie in
// real folders, over a machine of agents, a hook relay and an outbox that a test drives and reads.
//
// NewWorld makes one. Everything goes in by the bot's public doors (Handle, SessionNews, Recovered,
// Asked, Run) and is seen as a person sees it: in the messages that the fake outbox was given, with
// their buttons, which are tapped by their words. Nothing here waits for real time.
package chattest
