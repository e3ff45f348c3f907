// Package places is what the chat knows of folders on the agent's machine. A folder which [Places]
// gives has an absolute path without links.
package places
