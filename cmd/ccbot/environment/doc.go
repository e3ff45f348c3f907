// Package environment decides which variables the programs that ccbot starts get. No secret of
// ccbot's reaches any of them. The package reads no environment itself: the environment is an
// argument.
package environment
