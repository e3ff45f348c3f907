// Package environment decides which variables the programs get that ccbot starts. No secret of ccbot's
// gets into any of them. It reads no environment itself: that is an argument.
package environment
