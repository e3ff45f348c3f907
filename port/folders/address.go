package folders

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// A folder or file of another machine than the chat's own has an address: the id of the machine, a
// colon, and the path there. On the chat's own machine the address is the path. The chat compares
// and stores addresses, and shows them to people; only their machine reads the paths.

// Address returns the address of a path. An empty machine is the chat's own; an empty path names
// the machine itself.
func Address(machine, path string) string {
	if machine == "" {
		return path
	}
	return machine + ":" + path
}

// Split returns the machine and the path of an address.
func Split(address string) (machine, path string) {
	machine, path, ok := strings.Cut(address, ":")
	if !ok || !IsMachineID(machine) || path != "" && path[0] != '/' {
		return "", address
	}
	return machine, path
}

// Path returns the path of an address.
func Path(address string) string {
	_, path := Split(address)
	return path
}

// IsBelow reports whether a path is that of a folder or below it. Both are without links.
func IsBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Short returns an address for people: the home folder as ~, and another machine by its name.
func (b Bounds) Short(address string) string {
	machine, path := Split(address)
	if rest, ok := strings.CutPrefix(address, b.Home); ok && b.Home != "" && (rest == "" || rest[0] == '/') {
		path = "~" + rest
	}
	return Address(cmp.Or(b.Machine, machine), path)
}

// Above returns the address of the folder above another one; that of the root is its own.
func Above(address string) string {
	machine, path := Split(address)
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return Address(machine, "/")
	}
	return Address(machine, path[:at])
}

// IsMachineID reports whether a text may be the id of a machine: lower-case letters and digits.
func IsMachineID(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// IsText reports whether a name or a path is UTF-8. ccbot uses no other one: in a message or in
// JSON its bytes would become U+FFFD, and that may be the path of another file. So a path with
// U+FFFD is not text either.
func IsText(path string) bool { return !strings.ContainsRune(path, utf8.RuneError) }
