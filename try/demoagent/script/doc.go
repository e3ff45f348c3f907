// Package script has the words of a pretended model: what each prompt makes it say and do. It knows
// no terminal, no file of an agent and no agent.
package script
