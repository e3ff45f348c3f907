// Package presence reads the files in which processes of Claude Code record the session that they
// run.
//
// Claude Code keeps <config>/sessions/<pid>.json for an interactive process and rewrites it in
// place at each change of session or status. The package promises that a half-written file is read
// again and never believed, that a file is read only when it is a regular file of this user, and
// that a [Watcher] reports every change without polling.
//
// It does not decide whether the process still lives: after a KILL the file stays. Compare
// [File.ProcStart] with the kernel (package process).
package presence
