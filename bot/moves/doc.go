// Package moves shows the content of a lost place elsewhere: of a deleted topic, or of a group that
// has become another chat.
//
// It promises that messages in such a place are neither lost nor asked twice: each start repeats
// the steps that a crash may have left. A group keeps its first number as the name of its place
// (package alias); only its cards are posted again, because the new chat numbers its messages from
// the start. A deleted topic is a real move: its sessions, prompts and cards go to the plain chat.
package moves
