// Package report tells what a start of ccbot found and did.
//
// It promises one message for each conversation, and one for the windows that nobody was told of, and
// only where there is something that matters to people; that it sounds only where a turn was cut
// short that does not go on by itself; that a session, and a damaged file of the conversation, is told once, and is noted as told
// only when the message is on disk; and
// that the buttons mean the same after a restart: of the sessions that the message names they
// resume those that are still lost, or have those go on whose work was cut short.
//
// It resumes no session itself, and decides nothing about a window: other features do.
package report
