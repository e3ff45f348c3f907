// Package responsesapi is a loopback stand-in for OpenAI's Responses API, so that tests can run the
// real Codex CLI without an account and without network traffic.
//
// The person's last words decide the answer ([Decide] lists them). The server answers streamed
// requests in the API's format and records every request.
//
// It checks no keys, does not implement the rest of the API, and ignores the instructions.
package responsesapi
