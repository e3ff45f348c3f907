// Package messagesapi is a loopback stand-in of Anthropic's Messages API, so that tests can run the
// real Claude Code CLI without an account and without a byte leaving the machine.
//
// What the person wrote last decides the answer ([Decide] lists the words). The server answers
// streamed and plain requests in the API's own shapes and keeps every request, so that a test can ask
// what a resumed conversation carried along.
//
// It does not check keys, limits or the rest of the API, and it is not a model: it never reads the
// system prompt.
package messagesapi
