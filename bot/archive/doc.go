// Package archive shows the sessions that are over, and what can be done with each.
//
// It promises that the list is quick however many there are: of the sessions that a page does not show nothing is read.
// A session is resumed, looked at and deleted the way that /resume, /status and their questions do it.
//
// What was said in a session is shown elsewhere.
package archive
