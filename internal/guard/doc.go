// Package guard turns a panic into an error, so that a mistake ends what it happened in and nothing
// else, and runs again what has panicked.
package guard
