package main

import "syscall"

// endsWithParent makes the kernel end a child when its parent has ended.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
