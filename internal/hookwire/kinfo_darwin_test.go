package hookwire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The offsets are those of golang.org/x/sys, which were made on a Mac of its headers: with others
// this does not compile, and `GOOS=darwin go vet` sees that on every system.
var (
	_ [kinfoSize]struct{}  = [unsafe.Sizeof(unix.KinfoProc{})]struct{}{}
	_ [kinfoStart]struct{} = [unsafe.Offsetof(unix.KinfoProc{}.Proc) + unsafe.Offsetof(unix.ExternProc{}.P_starttime)]struct{}{}
	_ [kinfoState]struct{} = [unsafe.Offsetof(unix.ExternProc{}.P_stat)]struct{}{}
	_ [kinfoPID]struct{}   = [unsafe.Offsetof(unix.ExternProc{}.P_pid)]struct{}{}
	_ [kinfoComm]struct{}  = [unsafe.Offsetof(unix.ExternProc{}.P_comm)]struct{}{}
	_ [kinfoPPID]struct{}  = [unsafe.Offsetof(unix.KinfoProc{}.Eproc) + unsafe.Offsetof(unix.Eproc{}.Ppid)]struct{}{}
)
