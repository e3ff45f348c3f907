// Package bot is the roof of the chat: it says who hears what.
//
// One update, one tap or one piece of news goes from here to one feature; an event goes to every
// feature. The roof promises that only allowed people are heard and everybody else gets silence
// (P9), that a tap is answered at once and does only what the message shows (P2, P7), and that a
// feature that crashes ends nothing else (P8). It alone answers taps; the chat says what follows.
//
// The rooms below it:
//
//	answer         what agents write, in the chat once
//	archive        the sessions that are over
//	ask            permission requests, questions and plans, and what becomes of them
//	browse         where a new session is to work, and what of a work tree is left
//	changes        what has changed in git, file by file
//	dialog         what a terminal asks, with its keys
//	files          files of a session's folder, into the chat
//	health         how ccbot does
//	history        what was said in a session, and a word in it
//	idle           the end of the idle sessions, all at once
//	limit          going on when a limit of the account ends
//	menu           what there is, as buttons, and the help
//	modes          the permission mode and the model of an agent, switched
//	moves          topics that were deleted, and groups that have become other chats
//	topics         a topic for each session, in chats that have topics
//	prompt         what people write, on its way to the agent
//	rename         other names for sessions
//	report         what a start found and did
//	screenshot     what a terminal shows, as a picture with keys
//	sessions       new, list, resume and end of a session
//	settings       what a chat has chosen: language, quiet hours, what sessions begin with
//	shell          the output of a command of bash mode, growing
//	turn           how a turn goes, in one message
//	status         all that is known of a session, and how its record is deleted
//	usage          tokens, what they cost, and the limits of the account
//	waiting        the queue of a session, and what is done about it
//	why            what happened to a session
//	writers        who else writes a conversation, and windows of nobody
//	chat, card     how a feature speaks, and what it is; messages that are kept as they should look
//	conversation   what is known of one place; alias: what Telegram and ccbot call it
//	attachment     the files of messages, on their way to the folder of a session
//	quotation      what a person's message says, as it may be typed, or that it is a command
//	inbox, outbox, render; port: all that the chat knows of the agents' machine
package bot
