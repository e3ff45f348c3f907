// Package browse is the page "new": where a new session is to work, and with which conversation.
//
// It promises that all that a person has chosen stands in the address of the page, so that it outlives a
// restart; that a folder is resolved and looked at anew each time it is shown or used, and what is wrong
// with it is a sentence; that a message which its sender sends beside the page becomes a first prompt or
// stays under a question, and is lost in neither case (P4); and that a work tree is taken away only by the
// person who was asked, and only while there is no work in it.
//
// It starts nothing itself, and does not know whether a conversation can be resumed: sessions does and
// lifecycle does.
package browse
