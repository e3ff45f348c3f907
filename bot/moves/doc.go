// Package moves shows elsewhere what a place has shown that is not there any more: a topic that was
// deleted, or a group that has become another chat.
//
// It promises that what waits in such a place is neither lost nor asked twice, whatever crashes in
// between: each start does again what may be left. A group keeps its first number as the name of its
// place (package alias); only its cards are posted again, because the new chat numbers its messages
// anew. A deleted topic is a real move: its sessions, prompts and cards go to the plain chat.
package moves
