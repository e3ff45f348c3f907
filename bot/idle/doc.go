// Package idle ends all sessions whose agents are idle, at once.
//
// It guarantees:
//   - Before confirming, a person reads which sessions end, and which do not and why. Only this
//     person can confirm.
//   - Each session's worker checks it again: a session with activity since the question stays, and
//     is named.
//   - One message reports all results, also after a crash; an irregular end has a separate receipt.
//
// It also informs the machines of how long each session may be idle before it is archived: the
// chat's choice overrides the settings, and a session with a planned prompt stays.
//
// Package lifecycle ends sessions and decides whether they are quiet.
package idle
