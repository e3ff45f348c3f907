//go:build !failpoints

package main

// failpoint is nothing in a program that people run.
func failpoint([]string) func(string) { return nil }
