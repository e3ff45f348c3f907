// Package wire carries the calls of the port from the chat to a machine of agents, and the news
// from there to the chat, as envelopes of JSON.
//
//   - A [Client] implements each interface of a machine.Machine: it encodes the call, and decodes
//     the results. A [Server] decodes the call, makes it on the real machine, and encodes the
//     results. Both are generated from the interfaces, so there is no second list of methods.
//   - A transport carries one envelope and returns its answer. [Loop] connects both halves in one
//     process, with the faults of a network on request.
//   - An error crosses as a value: its text, its refusal, the context's error, and the error of the
//     system. An answer that does not arrive is refusal.ErrUnreachable: whether the call was made
//     is then unknown.
//   - Of a string that is not UTF-8 each foreign byte arrives as U+FFFD. No path is one: see
//     folders.IsText.
//   - A call ends with its context, and the answer of a call whose context has ended is lost.
//
// A call that an older machine lacks is refused as refusal.OldMachine, and an ability that it does
// not report is the zero value.
//
// testdata has the envelopes of the present version, v1, and of earlier programs, v1.N: at a
// release v1 is copied to a new one. Each change only adds to them.
//
// The package stores nothing and repeats nothing: a call that must not be lost is stored by its
// caller.
package wire
