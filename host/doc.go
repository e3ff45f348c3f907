// Package host is the agent's machine as the chat sees it: the folders that sessions
// work in.
//
// It promises that a folder which it names has no links in its path, and that
// nothing is made outside of the roots. It speaks to no person: refusals have a code.
package host
