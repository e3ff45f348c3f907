//go:build !linux

package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// harden keeps secrets out of core files. It runs before any secret is read.
func harden() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	return nil
}
