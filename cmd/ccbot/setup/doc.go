// Package setup asks a person for what ccbot needs, and writes it into ccbot.env: the bot's token,
// and who may speak to the bot. Then it offers the hooks, says hello in the chat, and offers the
// service.
//
// It promises that the token appears on no terminal, in no error and in no file but ccbot.env; that
// nobody is let in but a person who was named by id, or who has sent the one-time code and was
// confirmed at the terminal; that messages which wait at Telegram for somebody who is allowed
// already stay there; that ccbot.env is replaced at once, is never readable by others, and keeps
// its other lines; and that the terminal shows again what is typed, however a run ends, but for
// kill -9. A run that was cut short is simply repeated.
//
// It takes no lock: its caller holds the lock, so that no bot of the same folder runs meanwhile.
package setup
