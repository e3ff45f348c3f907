// Package host is the agents' machine as the chat sees it. It implements the ports of the chat,
// except those of loops and schedules, with lifecycle, recovery, hooks, transcripts and the disk,
// and returns plain values only.
//
// It promises that a process, a window or a screen that the chat names is checked again before
// anything is done to it; that the path of a folder that it names contains no links; that nothing
// is made outside of the roots; and that the content of a session's file reaches the chat only
// through host/outgoing. It speaks to no person: a refusal is a code, or a sentence for the agent
// that asked.
package host
