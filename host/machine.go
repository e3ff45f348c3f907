package host

import (
	"errors"
	"io/fs"

	"ccbot/internal/glyph"
)

// Machine is the machine that ccbot runs on. It implements the chat's ports.
type Machine struct {
	Home  string   // without links
	Roots []string // sessions work below these only, which have no links; none: anywhere
}

// reason is what the system says of a failure, without the path, which the reader
// knows.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}
