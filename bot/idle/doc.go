// Package idle ends the sessions in which nobody would miss the agent, all at once.
//
// It promises that a person first reads exactly which sessions end, and which do not and why, that
// only this person can confirm it, and that each session is looked at once more by its own worker: one
// in which anything has happened since the question is left out, and named. One message says what has
// become of all of them, also after a crash; an end that was not ordinary has a receipt of its own.
//
// It also says how long a session of a chat may be idle before it is archived by itself: the chat's choice
// counts before the settings, and a session with a planned prompt stays.
//
// How a session is ended, and whether it is quiet, is for package lifecycle to say.
package idle
