// Package processtest ends the processes that a test has started, also if the test fails halfway.
//
// It promises that a process of Start has ended when its test ends, and that after a failed test no
// process is left whose environment names one of the test's private places. It signals only such
// processes, one by one. It is for tests only.
package processtest
