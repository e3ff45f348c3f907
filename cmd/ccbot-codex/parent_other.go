//go:build !linux

package main

import "syscall"

// endsWithParent cannot tie a child to its parent on this system: a child that is left is found as
// a leftover.
func endsWithParent() *syscall.SysProcAttr { return nil }
