// Package topics gives each session a topic of its own, in chats that have topics: groups that are forums,
// and private chats in which the bot has threaded mode.
//
// It promises that a session is never lost to its topic: the session is started or resumed whatever
// becomes of the topic, and where there is none it is shown as in any other chat. A topic is asked for
// once: Telegram has no way to ask whether an answer that got lost has made one, so after such a call
// the session stays where it is, and a kill between the call and the note of its answer leaves one
// empty topic at most. What asks for the topic is itself on disk, in the inbox, and is done again after
// the kill. Name and icon of a topic follow its session, also after a restart; people's topics keep theirs.
//
// It does not know where a message goes: that a topic is gone or closed is for package outbox to find
// out, and package moves carries away what a deleted topic has shown.
package topics
