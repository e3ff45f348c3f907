// Package why tells what happened to a session: in plain sentences first, the rules and the evidence behind them on
// request.
//
// It promises that what was noted is shown as data: nothing in it can be tapped, and it makes no line of its own.
//
// It decides nothing: the sentences are about rules that others have followed.
package why
