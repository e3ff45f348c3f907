// Package people decides whether a text in a group is for an agent or for another person.
//
// With the rights that a bot needs in a group it reads everything, also what people say to each
// other. As soon as a second allowed person has written in a group, a text is a prompt only where a
// session is shown, and only if it is not said to a person: it neither begins with one nor answers
// one. A command, a reply to the bot and a text that names the bot are always for the agent, and a
// group may choose that nothing else is.
//
// The decision is pure. The facts of a message are read by [Of]; who is known in a group is kept by
// package conversation.
package people
