// Package status tells all that is known of one session: what its agent does, with what, how far it is, what has
// changed in its folder, who else is there, and what waits. Of a session that is over it deletes the record.
//
// It promises that what is not known is said to be unknown, never left to be taken for none; that looking changes
// nothing; and that a record is deleted only after the person who asked has confirmed it for that very launch of the
// session.
//
// The archive lists the sessions that are over. The list is quick however many there are: of the sessions that a
// page does not show nothing is read. Each is resumed, looked at and deleted the way that /resume, /status and their
// questions do it.
//
// A session gets another name with /rename, or with the next text of the person whom a question asks for it. The
// question takes one text, for a few minutes. What is no name, because it has several lines or is too long, goes to the
// agent, and so does a text after the person has switched to another session. A crash repeats no text.
//
// What led to all this is told by /why.
package status
