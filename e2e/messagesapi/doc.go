// Package messagesapi is a loopback stand-in for Anthropic's Messages API, so that tests can run
// the real Claude Code CLI without an account and without network traffic.
//
// The person's last words decide the answer ([Decide] lists them). The server answers streamed and
// plain requests in the API's format and records every request, so that a test can check the
// content of a resumed conversation.
//
// It checks no keys or limits, does not implement the rest of the API, and ignores the system
// prompt.
package messagesapi
