// Package claude implements agent for Claude Code. The packages in its folder know its files,
// flags, keys and screens.
package claude
