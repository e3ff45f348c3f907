package places

import "context"

// Places are the folders of the agent's machine that sessions work in.
type Places interface {
	// Bounds says where sessions may work. It does not wait, and its answer never changes.
	Bounds() Bounds
	// Resolve gives the folder that a path names: "~" is the home folder, "~user" that of
	// another user, who must be known (refusal.DirMissing); a relative path begins at
	// base, an empty path is base, and an empty base is the home folder. Links are resolved as far
	// as the path exists. Where no session may work, it refuses with refusal.DirOutside.
	Resolve(ctx context.Context, base, path string) (dir string, err error)
	// Make makes a folder, and those above it. What cannot be made is a *refusal.Error.
	Make(ctx context.Context, dir string) error
}

// Bounds are where sessions may work.
type Bounds struct {
	Home  string   // where a session works when nobody says where; without links
	Roots []string // sessions work below these only, which have no links; none: anywhere
}
