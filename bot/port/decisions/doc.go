// Package decisions is how people answer what agents ask for: permissions, questions and plans.
//
// A request waits in a hook of the agent's machine, and the terminal shows the same dialog
// meanwhile. A decision is given once; whether the agent took the decision is what the transcript
// says. After a restart of either side the hook comes back with the same id.
package decisions
