// Package attention decides what a session asks of people: whether its agent has an open question, and how many messages
// are undecided. The list, the buttons, the menu, the queue and the pinned line all ask here.
package attention
