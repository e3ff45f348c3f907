package hookwire

import (
	"fmt"
	"syscall"
	"unsafe"
)

// BootID names the running boot of this machine: sysctl kern.bootsessionuuid, "" when unreadable.
func BootID() string {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// readParent asks sysctl kern.proc.pid.PID. The standard library has no typed call for this sysctl,
// and a hook that ran ps(1) would start one more process for each prompt.
func readParent(pid int) (parent, error) {
	mib := [4]int32{1 /* CTL_KERN */, 14 /* KERN_PROC */, 1 /* KERN_PROC_PID */, int32(pid)}
	var buf [kinfoSize]byte
	size := uintptr(len(buf))
	_, _, errno := syscall.Syscall6(syscall.SYS___SYSCTL, uintptr(unsafe.Pointer(&mib[0])), uintptr(len(mib)),
		uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)), 0, 0)
	if errno != 0 {
		return parent{}, fmt.Errorf("kern.proc.pid.%d: %w", pid, errno)
	}
	if size != kinfoSize {
		return parent{}, fmt.Errorf("kern.proc.pid.%d: %d bytes: %w", pid, size, ErrMalformed)
	}
	return parseKinfo(buf), nil
}
