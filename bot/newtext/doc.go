// Package newtext reads the text of /new: the name, the folder and the agent of a session.
package newtext
