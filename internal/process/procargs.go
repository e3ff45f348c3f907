package process

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs reads darwin's kern.procargs2: argc, the executable's path, padding, then argc
// arguments; it does not read the environment after them. It is built on all systems, so that its
// test runs everywhere.
func parseProcArgs(raw []byte) (exe string, args []string) {
	if len(raw) < 4 {
		return "", nil
	}
	argc := int(binary.LittleEndian.Uint32(raw))
	path, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for len(args) < argc && len(rest) > 0 {
		var arg []byte
		arg, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(arg))
	}
	return string(path), args
}
