// Package terminal reads the keys of a terminal and paints its screen.
package terminal
