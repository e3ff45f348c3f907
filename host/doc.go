// Package host is the agents' machine as the chat sees it. It implements the ports of the chat from
// lifecycle, recovery, hooks, transcripts and the disk, and gives plain values only.
//
// It promises that a process, a window or a screen that the chat names is looked at again before
// anything is done to it; that a folder which it names has no links in its path; that nothing is
// made outside of the roots; and that the chat gets regular files of a session's own folder only,
// and never one of ccbot's own. It speaks to no person: refusals have a code, or a sentence for the
// agent that asked.
package host
