// Package bot is the roof of the chat: it says who hears what.
//
// One update, one tap or one piece of news goes from here to one feature; an event goes to every
// feature that has a field for it. The roof promises that only allowed people are heard and everybody
// else gets silence (P9), that a tap is answered at once and does only what the message shows (P2,
// P7), and that a feature that crashes ends nothing else (P8). It alone answers taps; what comes of a
// tap is said in the chat.
//
// Below it are the features, each with its promise in its doc.go: features.go names all of them. They
// stand on chat (how a feature speaks, and what a feature is), card (messages that are kept as they
// should look), conversation (what is known of one place), quotation (what a person's message says, as
// it may be typed), alias (the chat numbers of Telegram and the names of places), inbox, outbox, render,
// and port, all that the chat knows of the agents' machine.
package bot
