// Package talk defines what people and agents say to each other: prompts and answers to requests in
// one direction, transcripts with their history and cost in the other.
//
//   - A prompt is known by its key. Its text and state are in the chat's inbox; its outcome is
//     sent as news.
//   - A request of an agent waits in a hook on the agent's machine, while the terminal shows the
//     same dialog. After a restart of either side the hook connects again with the same id.
//   - A decision is given once. The transcript shows whether the agent applied it.
//   - A cursor taken from an item points exactly after that item.
//   - A [Place] stays valid as long as the transcript is the same file.
//
// The package touches no disk. An operation that cannot be done returns a *refusal.Error.
package talk
