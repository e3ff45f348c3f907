package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
)

// place is the role of an entry of the disk.
type place int

const (
	placeAbove    place = iota // a folder, or a link, on the way to something of ccbot's
	placeFolder                // ccbot's folder
	placeBelow                 // a folder in it that ccbot makes
	placePart                  // anything else in it
	placeSettings              // ccbot.env
)

// entry is something on the path to ccbot's folder, or in the folder.
type entry struct {
	path string
	what place
	uid  int
	mode fs.FileMode
}

// viewer is the user who looks at the entries.
type viewer struct {
	uid     int
	root    int  // whose / is: in a user namespace root's files have another number
	mayRead bool // ccbot.env may be readable by others
}

const (
	groupsWrite = 0o022 // group or others
	groupsRead  = 0o044
	othersWrite = 0o002
)

// nobody has the uid that the kernel shows for an owner that has no uid in this user namespace.
const nobody = 65534

// objection is the reason why an entry is not used, and the remedy. The zero
// value means no objection.
type objection struct {
	why     string
	command string // repairs it, followed by the path; empty where no command is harmless
	instead string // another remedy, or a remedy without a command
}

// objection judges an entry. An access list shows in the permissions of the group, so it is caught
// where those permissions are checked: not above ccbot's folder. There the group is not checked,
// because its members were chosen by the person who administers the machine.
func (e entry) objection(v viewer) objection {
	path, above := terminal.Printable(e.path), e.what == placeAbove
	switch {
	case e.foreign(v):
		return e.notOurs(v)
	case e.what == placeSettings && e.mode.IsDir():
		return objection{} // it is not read as settings, and reading it fails
	case e.what == placeBelow && e.mode.Type() == fs.ModeSymlink:
		return objection{why: path + " is a link, and ccbot moves and removes what it finds in its own folders", instead: "put the folder itself in its place"}
	case e.mode.Type() == fs.ModeSymlink, e.mode.Type() == fs.ModeSocket:
		// A link's permissions mean nothing; each start makes a new socket, also after a kill
		// before it was closed.
		return objection{}
	case above && (e.mode.Perm()&othersWrite == 0 || e.mode&fs.ModeSticky != 0):
		return objection{}
	case above && e.uid != v.uid:
		return objection{fmt.Sprintf("others may write %s, and so put another folder in ccbot's place", path), "sudo chmod o-w", "or choose another CCBOT_DIR"}
	case above:
		return objection{fmt.Sprintf("others may write %s, and so put another folder in ccbot's place", path), "chmod o-w", ""}
	case e.mode.Perm()&groupsWrite != 0 && e.what == placeSettings:
		command := "chmod 600"
		if e.uid != v.uid { // after a chmod this user could not read it either
			command = "sudo chmod go-w"
		}
		return objection{fmt.Sprintf("group or others may write %s, which has the commands that ccbot runs", path), command, ""}
	case e.mode.Perm()&groupsWrite != 0:
		return objection{fmt.Sprintf("group or others may write %s, and ccbot would take what they write for its own", path), "chmod go-w", ""}
	case e.mode.Perm()&groupsRead != 0 && e.what == placeSettings && !v.mayRead:
		command := "chmod 600"
		if e.uid != v.uid {
			command = ""
		}
		return objection{fmt.Sprintf("group or others may read %s, where the token is", path), command,
			"if that is meant, set " + ReadableVariable + "=1 in the environment"}
	}
	return objection{}
}

// foreign reports whether an entry belongs to a user who must not own it. A folder above may be
// root's, because root could do anything anyway, and so may ccbot.env, as a secret that is mounted.
// For ccbot.env the uid 65534 does not count as root, even if it owns /.
func (e entry) foreign(v viewer) bool {
	switch {
	case e.uid == v.uid, e.uid == 0 && (e.what == placeAbove || e.what == placeSettings):
		return false
	case e.what == placeAbove:
		return e.uid != v.root
	}
	return true
}

// notOurs is the objection to an entry that belongs to another user. It does not propose to change
// the owner of a folder above: that folder may be the owner's home.
func (e entry) notOurs(v viewer) objection {
	path, asThem := terminal.Printable(e.path), ""
	if v.uid == 0 && e.uid > 0 && e.uid != nobody {
		asThem = "or run ccbot as that user"
	}
	if e.what == placeAbove {
		o := objection{why: fmt.Sprintf("%s belongs to user %d, who could put another folder in ccbot's place", path, e.uid), instead: "choose another CCBOT_DIR"}
		if asThem != "" {
			o.instead += ", " + asThem
		}
		return o
	}
	o := objection{why: fmt.Sprintf("%s belongs to user %d, and this ccbot runs as user %d", path, e.uid, v.uid), command: fmt.Sprintf("sudo chown -R %d", v.uid)}
	if e.what == placeFolder { // CCBOT_DIR may be / by mistake
		o.instead = fmt.Sprintf("choose another CCBOT_DIR, or, if all of it is ccbot's, use `%s %s`", o.command, terminal.ShellWord(e.path))
		o.command = ""
		if asThem != "" {
			o.instead += ", " + asThem
		}
	}
	return o
}

// refusal is one sentence with every objection to using dir, and with the commands that repair it;
// nil when there is no objection.
func refusal(dir string, entries []entry, v viewer) error {
	var first entry
	var is objection
	more := 0
	for _, e := range entries {
		o := e.objection(v)
		switch {
		case o.why == "":
		case is.why == "":
			first, is = e, o
		case (first.what == placeBelow || first.what == placePart) && within(dir, first.path) && within(dir, e.path):
			more++
		}
	}
	if is.why == "" {
		return nil
	}
	if more > 0 { // a command for each entry would mean one start for each
		is.why += fmt.Sprintf(", and so it is with %d more", more)
		is.command, first.path = strings.Replace(is.command, "chmod go-w", "chmod -R go-w", 1), dir
	}
	return exit.Usage(errors.New(is.sentence(first.path)))
}

// sentence is the objection to path, for a person.
func (o objection) sentence(path string) string {
	if o.command == "" {
		return o.why + ": " + o.instead
	}
	text := fmt.Sprintf("%s: `%s %s` mends that", o.why, o.command, terminal.ShellWord(path))
	switch {
	case o.instead == "":
		return text
	case strings.HasPrefix(o.instead, "or "):
		return text + ", " + o.instead
	}
	return text + "; " + o.instead
}
