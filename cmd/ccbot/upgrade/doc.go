// Package upgrade brings ccbot's folder from an older version to the present one. Each step leads
// from one version to the next, and the files that it may change are copied before it.
//
// A crash at any moment is harmless: a copy counts only once it is whole, a step does nothing to a
// file that it has changed already, and the caller writes the version after the step. A file that a
// step cannot read stays as it is, because its store reports it and sets it aside.
package upgrade
