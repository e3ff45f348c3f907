// Package chat sends the messages of features, and defines a feature.
//
// It guarantees:
//   - A message is on disk when the call returns.
//   - A person who was taken off the list gets no message.
//   - Every sentence comes from package i18n.
//   - A message about a session is noted as that session's, so that a person who answers the
//     message means the session.
//
// A message with options is a card: the options act on the content of the message, and survive a
// restart. A link is an option that only leads to a session, a page a card that is drawn from an
// address. A command about a session takes the beginning of its name; if several sessions fit,
// options ask which.
//
// Its only state is the set of pages that news have changed. It starts no goroutine, and knows no
// feature. Package conversation keeps the facts about a conversation; a message that changes later
// is a card.
package chat
