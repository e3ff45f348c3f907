package hookwire

import (
	"bytes"
	"encoding/binary"
)

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

// parseKinfo reads darwin's record of a process. It is built on all systems, so that its test runs
// everywhere.
func parseKinfo(buf [kinfoSize]byte) parent {
	word := binary.LittleEndian
	comm, _, _ := bytes.Cut(buf[kinfoComm:kinfoComm+17], []byte{0})
	return parent{
		PID:   int(int32(word.Uint32(buf[kinfoPID:]))),
		PPID:  int(int32(word.Uint32(buf[kinfoPPID:]))),
		Start: word.Uint64(buf[kinfoStart:])*1000 + uint64(word.Uint32(buf[kinfoStart+8:]))/1000,
		Comm:  string(comm),

		Zombie: buf[kinfoState] == zombieState,
	}
}
