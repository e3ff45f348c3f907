// Package topics gives sessions separate topics, in chats that have topics: groups that are forums,
// and private chats in which the bot has threaded mode.
//
// It guarantees:
//   - A session is never lost to its topic. It starts or resumes even if the topic cannot be
//     opened, and is then shown as in any other chat.
//   - A topic is requested once, because Telegram cannot report whether a call without an answer
//     has made one. After such a call the session stays in its place.
//   - A kill between the call and the note of its answer leaves at most one empty topic. The
//     request is in the inbox on disk and is repeated after the kill.
//   - Name and icon of a topic follow its session, also after a restart. Topics made by people keep
//     theirs.
//
// It does not decide the place of a message: package outbox detects a deleted or closed topic, and
// package moves carries away what a deleted topic has shown.
package topics
