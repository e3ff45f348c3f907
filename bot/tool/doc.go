// Package tool is what the input of an agent's tool looks like to a person who decides about it.
//
// It promises that the text of an input stays inside its own formatting, that all of it is shown or the
// sheet says that it is not (Lossy), and that nothing in it is invisible: what leaves no mark has a sign.
// What the chat allows, and how much of it fits a message, is for the user of this package.
package tool
