package main

import (
	"fmt"
	"io/fs"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// place is what an entry of the disk is for ccbot.
type place int

const (
	placeAbove    place = iota // a folder, or a link, on the way to something of ccbot's
	placeFolder                // ccbot's folder
	placeBelow                 // a folder in it that ccbot makes
	placePart                  // anything else in it
	placeSettings              // ccbot.env
)

// entry is something on the way to ccbot's folder, or in it.
type entry struct {
	path string
	what place
	uid  int
	mode fs.FileMode
}

// viewer is who looks at the entries.
type viewer struct {
	uid     int
	root    int  // whose / is: in a user namespace root's files have another number
	mayRead bool // ccbot.env may be readable by others
}

const (
	othersWrite = 0o022
	othersRead  = 0o044
)

// objection says why an entry is not used, and with which command, without its path, a person mends that; both are
// empty for one that is. An access list shows in the permissions of the group, so it counts.
func (e entry) objection(v viewer) (why, mend string) {
	above, path := e.what == placeAbove, printable(e.path)
	foreign := e.uid != v.uid && (!above || e.uid != 0 && e.uid != v.root) // what is above may be root's, who could do anything anyway
	open := e.mode.Perm()&othersWrite != 0
	switch {
	case foreign && above:
		return fmt.Sprintf("%s belongs to user %d, who could put another folder in ccbot's place", path, e.uid), fmt.Sprintf("sudo chown %d", v.uid)
	case foreign:
		return fmt.Sprintf("%s belongs to user %d, and this ccbot runs as user %d", path, e.uid, v.uid), fmt.Sprintf("sudo chown -R %d", v.uid)
	case e.mode.Type() == fs.ModeSymlink, e.mode.Type() == fs.ModeSocket:
		return "", "" // a link's permissions mean nothing; each start makes a new socket, also after a kill before it was closed
	case open && above && e.mode&fs.ModeSticky == 0 && e.uid != v.uid:
		return fmt.Sprintf("group or others may write %s, and so put another folder in ccbot's place", path), "sudo chmod go-w"
	case open && above && e.mode&fs.ModeSticky == 0:
		return fmt.Sprintf("group or others may write %s, and so put another folder in ccbot's place", path), "chmod go-w"
	case open && e.what == placeSettings:
		return fmt.Sprintf("group or others may write %s, which says what ccbot runs", path), "chmod 600"
	case open && !above:
		return fmt.Sprintf("group or others may write %s, and ccbot would take what they write for its own", path), "chmod go-w"
	case e.mode.Perm()&othersRead != 0 && e.what == placeSettings && !v.mayRead:
		return fmt.Sprintf("group or others may read %s, where the token is", path), "chmod 600"
	}
	return "", ""
}

// refusal is one sentence for all that is in the way of using dir, with the command that mends it; nil where nothing is.
func refusal(dir string, entries []entry, v viewer) error {
	var first entry
	why, mend, more := "", "", 0
	for _, e := range entries {
		w, m := e.objection(v)
		switch {
		case w == "":
		case why == "":
			first, why, mend = e, w, m
		case (first.what == placeBelow || first.what == placePart) && within(dir, first.path) && within(dir, e.path):
			more++
		}
	}
	if why == "" {
		return nil
	}
	if more > 0 { // a command for each would be one start for each
		why += fmt.Sprintf(", and so it is with %d more", more)
		mend, first.path = strings.Replace(mend, "chmod go-w", "chmod -R go-w", 1), dir
	}
	or := ""
	if first.what == placeSettings && first.mode.Perm()&othersWrite == 0 {
		or = "; if that is meant, set " + readableVariable + "=1 in the environment"
	}
	return usage(fmt.Errorf("%s: `%s %s` mends that%s", why, mend, shellWord(first.path), or))
}

// shellWord is a path for a command that a person copies.
func shellWord(path string) string {
	word, err := syntax.Quote(path, syntax.LangBash)
	if err != nil { // no path has a NUL
		return path
	}
	return word
}
