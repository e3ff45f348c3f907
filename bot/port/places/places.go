package places

import "errors"

// Places are the folders of the agent's machine that sessions work in.
type Places interface {
	// Bounds says where sessions may work. It does not wait, and its answer never changes.
	Bounds() Bounds
	// Resolve gives the folder that a path names: "~" is the home folder, a relative path begins at
	// base, an empty path is base, and an empty base is the home folder. Links are resolved as far
	// as the path exists. A folder in which no session can work comes with an *Error.
	Resolve(base, path string) (dir string, err error)
	// Make makes a folder, and those above it. Errors: *Error.
	Make(dir string) error
}

// Bounds are where sessions may work.
type Bounds struct {
	Home  string   // where a session works when nobody says where; without links
	Roots []string // sessions work below these only, which have no links; none: anywhere
}

// Error says why no session can work in a folder.
type Error struct {
	Code   Code
	Reason string // what the system says of the folder, for people
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Reason }

// Code is a kind of refusal.
type Code string

// What may be wrong with a folder. Unknown permits nothing.
const (
	Unknown  Code = "unknown"
	Fine     Code = "fine" // nothing is wrong
	Missing  Code = "missing"
	NotADir  Code = "not a directory"
	NoAccess Code = "no access"
	Outside  Code = "outside of the roots"
)

// CodeOf gives the code of an error that [Places] has returned: Fine without an error, Unknown of
// an error that is not of this package.
func CodeOf(err error) Code {
	if err == nil {
		return Fine
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Unknown
}

// ReasonOf is what a person is told of an error that [Places] has returned.
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return err.Error()
}
