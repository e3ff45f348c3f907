//go:build !failpoints

package main

// failpoint does nothing in a program that people run.
func failpoint([]string) func(string) { return nil }
