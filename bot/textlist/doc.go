// Package textlist shows several texts of people to one session in one message, with buttons for
// each of them.
//
// There are three lists of a session in a conversation: the texts that wait while its agent asks
// something, the texts that a stop took back, and the texts that were kept aside while it asked, because
// they may be for people. It promises:
//   - A list is one message. Later texts change it, and make no sound.
//   - The list of waiting texts is in the chat while a question is open, and comes again with the
//     next question. Its last line promises no delivery, because the agent may have been stopped.
//   - A text that becomes the reason of a denial has left its queue before the agent gets the
//     reason (P4).
//   - A text that a stop took back is in its list before it leaves its queue (P4). A kill in
//     between leaves it in one of the two.
//   - The list of stopped texts reports the last stop that took one back, and no other turn that
//     ends.
//   - A text that was kept aside is asked about when the request has an outcome, whichever that is, also
//     after a restart (P4). It is never typed without a tap.
//   - A list whose texts are all settled is one plain line.
//
// The list of waiting texts is read from the inbox whenever it is drawn. The list of stopped texts
// names its texts, because only people decide about them.
package textlist
