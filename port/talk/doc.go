// Package talk is what people and agents say to each other: prompts and answers to requests one way,
// transcripts with their history and cost the other way.
//
//   - A prompt is known by its key. Its text and state are in the chat's inbox; what becomes of it is
//     reported as news.
//   - A request of an agent waits in a hook on the agent's machine, while the terminal shows the same
//     dialog. A decision is given once; whether the agent took it is in the transcript. When either
//     side is restarted the hook connects again with the same id.
//   - A cursor taken from an item points exactly after that item.
//
// The package touches no disk. An operation that cannot be done returns a *refusal.Error.
package talk
