// Package alias is the border between the chat numbers of Telegram and the names of places.
//
// A group that becomes a supergroup is another chat to Telegram, and the new chat numbers its
// messages anew. Inside ccbot the place keeps its name: the number that the group had first. A
// message of a later chat gets a number inside that no message of an earlier chat has, so whatever
// is known of the earlier messages can never be taken for one of the new chat.
//
// The package promises that what Note takes is on disk when Note returns, and that the same news in
// any order, however often, makes the same table. It sends nothing and tells nobody.
package alias
