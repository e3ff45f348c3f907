package process

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs reads what darwin says to kern.procargs2: argc, the executable's path, padding, then argc
// arguments; it does not read the environment behind them. It is here for all systems, so that it is
// tested where no darwin is.
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
