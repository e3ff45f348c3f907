// Package offer hands prompts of the inbox over to the engines of sessions, by value, and takes
// what the engines report about them.
//
// An entry is on disk as offered before its engine hears of it. An offer that its engine has not
// answered is repeated. From the answer until the outcome the engine owns the prompt, and the entry
// shows its progress.
package offer
