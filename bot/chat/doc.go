// Package chat is how a feature of the chat speaks, and what a feature is.
//
// It promises that what is said is on disk when the call returns, that nobody who was taken off the
// list is told anything, and that every sentence comes from package i18n. A message that is about a
// session is noted as that session's, so that a person who answers the message means the session.
//
// A message with options is a card: the options act on what the message shows, and survive a
// restart. A link is an option that only leads to a session, a page a card that is drawn from an
// address. A command about a session takes the beginning of its name; where several sessions may be
// meant, options ask which.
//
// It keeps no state but which pages news have changed, starts no goroutine and knows no feature. What is
// known of a conversation is
// kept by package conversation; a message that changes later is a card.
package chat
