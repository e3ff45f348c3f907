// Package repotest has the rules of this tree, which `make rules` checks: which package may import
// which, who may signal, type and close panes, which calls reach the disk, and whether the pages
// say what the program does.
//
// A rule is a function that reads a tree and returns its faults, each with its remedy. The tests
// read the working tree, new files included, and parse and type-check it once. Each rule is also
// given a small wrong tree, whose fault it must find: a rule that finds nothing is worth nothing.
package repotest
