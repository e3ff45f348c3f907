// Package why shows the history of a session: in plain sentences first, the rules and the evidence
// for them on request.
//
// It promises that notes are shown as data: nothing in them can be tapped or begins a new line.
//
// It decides nothing: the sentences are about rules that others have followed.
package why
