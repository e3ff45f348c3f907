// Package bot is the roof of the chat: it says who hears what.
//
// One update, one tap or one piece of news goes from here to one feature; an event goes to every
// feature. The roof promises that only allowed people are heard and everybody else gets silence
// (P9), that a tap is answered at once and does only what the message shows (P2, P7), and that a
// feature that crashes ends nothing else (P8). It alone answers taps; the chat says what follows.
//
// [Bot.Features] says what the bot is made of; each room below says in its package comment what it promises. What
// several rooms share is in chat and card, conversation, attachment and quotation, inbox and outbox, and render;
// port has all that the chat knows of the agents' machine.
package bot
