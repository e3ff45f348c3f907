// Package longtest tells the two lengths of a test run apart. `make test` passes -short, because
// people wait for it; .ci/run and a plain `go test` do not.
//
// A test that a short run leaves out says so itself with [Mark], and why. A test whose input may be
// smaller in a short run asks [Size]. Nothing here depends on the machine.
package longtest

import "testing"

// Mark leaves a test out of a short run. why completes the sentence "It is left to .ci/run, because
// it …", such as "starts a browser".
func Mark(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("LONG: it " + why)
	}
}

// Size is the size of a test's input, or how often it repeats.
func Size(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}
