// Package answer shows in the chat what agents write into their transcripts.
//
// It promises that nothing an agent says is lost on the way to the chat (P5): the cursor of a
// transcript moves only after Telegram took a message or refused the message for good, or after the
// notice that stands for the answer is on disk. The next part of a session waits until that cursor is
// on disk, so a crash repeats at most the message that was under way. Texts that were said while the chat had to wait are one message, or one file with a preview
// where they would be more than three full messages; how many they are is on disk before that is
// tried, and after a crash it is repeated as it was. They may be of several turns, but not of several
// prompts. The first answer to a prompt goes before what other sessions say. What Telegram takes in
// no form is replaced by a sentence that says so. The answers of the current session, and of a
// topic's, are shown in full; of any other session the chat gets one notice at the end of a turn, and
// the answers in full when a person opens the session.
//
// There is one reader for each session that may have something unsaid. The package keeps no state
// on disk: cursors are kept with the sessions, and read marks with the conversation. It does not
// know what commands print, nor what settles a request: both reach it by [Deps].
package answer
