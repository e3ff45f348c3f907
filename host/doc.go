// Package host is the agent's machine as the chat sees it: the folders that sessions
// work in, the files there, and the transcripts.
//
// It promises that a folder which it names has no links in its path, that nothing is
// made outside of the roots, and that the chat gets regular files of a session's own
// folder only, and never one of ccbot's own. It speaks to no person: refusals have a
// code, or a sentence for the agent that asked.
package host
