// Package sockpeer identifies the process at the other end of a Unix socket by what the kernel
// recorded: for a server the process that connected, for a client the process that listens.
//
// Its limits: it is the process that called connect or listen, also if another one has the file
// now. On systems without a handle on a process, a pid that was reused before the call is not
// noticed.
package sockpeer

import "errors"

// ErrGone means that the process has ended.
var ErrGone = errors.New("the process at the other end of the socket is gone")
