package hookwire

import (
	"bytes"
	"encoding/binary"
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

// Offsets of the fields in struct kinfo_proc (xnu bsd/sys/sysctl.h, 64 bit), which has not changed
// since 10.6.
const (
	kinfoSize  = 648
	kinfoStart = 0   // timeval: seconds int64, microseconds int32
	kinfoState = 36  // one byte
	kinfoPID   = 40  // int32
	kinfoComm  = 243 // 17 bytes, ended by NUL
	kinfoPPID  = 560 // int32
)

// zombieState is SZOMB of xnu bsd/sys/proc.h.
const zombieState = 5

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
	word := binary.LittleEndian
	comm, _, _ := bytes.Cut(buf[kinfoComm:kinfoComm+17], []byte{0})
	return parent{
		PID:   int(int32(word.Uint32(buf[kinfoPID:]))),
		PPID:  int(int32(word.Uint32(buf[kinfoPPID:]))),
		Start: word.Uint64(buf[kinfoStart:])*1000 + uint64(word.Uint32(buf[kinfoStart+8:]))/1000,
		Comm:  string(comm),

		Zombie: buf[kinfoState] == zombieState,
	}, nil
}
