// Package prompts is the way of a text from the chat into an agent's prompt box.
//
// A prompt is known by its key; text and state lie in the chat's inbox. An operation is durable when
// it returns; what becomes of the prompt comes as news. What cannot be done is a *refusal.Error.
package prompts
