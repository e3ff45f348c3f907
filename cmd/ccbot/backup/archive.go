package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/cmd/ccbot/config"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/port/talk"
)

// version of the format that this program writes.
const version = 1

// Manifest is the first entry of a backup.
type Manifest struct {
	Version int       `json:"version"`
	Program string    `json:"ccbot"` // the version of the program
	Host    string    `json:"host"`
	At      time.Time `json:"at"`
	// the folder of Claude Code's conversations there
	Projects string `json:"projects"`
	// the folders of the conversations of the other agents there
	Folders map[string]string `json:"folders,omitempty"`
	LeftOut []string          `json:"left_out,omitempty"` // settings that a backup cannot have
	// the id of the bot, without which the chats are of no use
	Bot string `json:"bot,omitempty"`
}

// kind distinguishes the entries of a backup.
type kind int

const (
	manifest kind = iota
	settings
	chats
	records
	transcripts
	others // conversations of other agents than Claude Code, below the agent's name
)

const (
	manifestName = "ccbot-backup.json"
	settingsName = "settings.json"
	uuidText     = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
)

// places has the names that entries of each kind may have, and their largest size.
var places = map[kind]struct {
	name *lazyregexp.Regexp
	size int64
}{
	manifest:    {lazyregexp.New(`^` + regexp.QuoteMeta(manifestName) + `$`), 64 << 10},
	settings:    {lazyregexp.New(`^` + regexp.QuoteMeta(settingsName) + `$`), 64 << 10},
	chats:       {lazyregexp.New(`^chats/-?[0-9]{1,20}-[0-9]{1,20}\.json$`), 4 << 20},
	records:     {lazyregexp.New(`^sessions/` + uuidText + `\.json$`), spool.DefaultMaxSize},
	transcripts: {lazyregexp.New(`^transcripts/[A-Za-z0-9-][A-Za-z0-9._-]{0,254}/` + uuidText + `\.jsonl$`), 4 << 30},
	others:      {lazyregexp.New(`^agents/[a-z0-9-]{1,32}(/[A-Za-z0-9-][A-Za-z0-9._-]*)+$`), 4 << 30},
}

// Limits of a whole backup. A file that is compressed to almost nothing may have any size.
const (
	maxEntries = 50_000
	maxTotal   = 64 << 30
)

// ErrForeign is returned if a file is damaged, is not a backup, or has an entry that a backup
// cannot have.
var ErrForeign = errors.New("it is not a backup that ccbot can restore")

func foreign(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrForeign}, args...)...)
}

// entry is one file of a backup.
type entry struct {
	kind kind
	name string // without the folder of its kind
	size int64
}

// walk calls each with all entries of a backup, and skips the bytes that each has not read.
func walk(file io.ReadSeeker, each func(e entry, content io.Reader) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(file)
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return foreign("%w", err)
	}
	unpacked.Multistream(false)
	limited := &io.LimitedReader{R: unpacked, N: maxTotal}
	archive, seen := tar.NewReader(limited), make(map[string]bool)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return foreign("%w", err)
		}
		e, err := place(h, seen)
		if err == nil {
			err = each(e, archive)
		}
		if err != nil {
			return err
		}
	}
	switch rest, err := io.ReadAll(io.LimitReader(limited, 1<<20)); {
	case err != nil:
		return foreign("%w", err)
	case limited.N <= 0 || len(bytes.Trim(rest, "\x00")) > 0:
		return foreign("it has data after its end")
	case len(seen) == 0:
		return foreign("it is empty")
	}
	if _, err := unpacked.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return foreign("it has data after its end")
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return foreign("it has data after its end")
	}
	return nil
}

// place returns the entry of a header, and notes its name. Names are compared as on a file system
// that does not distinguish cases.
func place(h *tar.Header, seen map[string]bool) (entry, error) {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return entry{}, foreign("%.200q has holes", h.Name)
		}
	}
	name := strings.ToLower(h.Name)
	switch {
	case h.Typeflag != tar.TypeReg:
		return entry{}, foreign("%.200q is not a plain file", h.Name)
	case seen[name]:
		return entry{}, foreign("%.200q is in it twice", h.Name)
	case len(seen) == maxEntries:
		return entry{}, foreign("it has more than %d files", maxEntries)
	}
	for k, p := range places {
		switch {
		case !p.name.MatchString(h.Name):
			continue
		case (k == manifest) != (len(seen) == 0):
			return entry{}, foreign("%s is not its first file", manifestName)
		case h.Size > p.size:
			return entry{}, foreign("%s has %d bytes, and may have %d", h.Name, h.Size, p.size)
		}
		seen[name] = true
		inner := h.Name
		if k >= chats {
			_, inner, _ = strings.Cut(h.Name, "/")
		}
		return entry{kind: k, name: inner, size: h.Size}, nil
	}
	return entry{}, foreign("%.200q is not a file name of a backup", h.Name)
}

// contents describes a backup whose files were checked.
type contents struct {
	Manifest
	agents   agent.Agents
	settings map[string]string
	count    map[kind]int
	dirs     map[string]int // of the sessions
}

func newContents(agents agent.Agents, m Manifest) contents {
	return contents{agents: agents, Manifest: m, count: make(map[kind]int), dirs: make(map[string]int)}
}

// check reads a whole backup and writes nothing.
func check(file *os.File, agents agent.Agents) (c contents, err error) {
	c = newContents(agents, Manifest{})
	err = walk(file, func(e entry, content io.Reader) error {
		c.count[e.kind]++
		if e.kind >= transcripts {
			if err := c.checkOther(e); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, content)
			return cut(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return cut(err)
		}
		return c.checkFile(e, data)
	})
	return c, err
}

// cut is the error of a read that the archive's end has cut short.
func cut(err error) error {
	if err == nil {
		return nil
	}
	return foreign("%w", err)
}

// checked returns why a restore would refuse a file.
func (w *writer) checked(k kind, name string, data []byte) error {
	c := newContents(w.Agents, w.Manifest)
	return c.checkFile(entry{kind: k, name: name}, data)
}

// checkOther checks the name of a conversation of another agent.
func (c *contents) checkOther(e entry) error {
	if name, inner, _ := strings.Cut(e.name, "/"); e.kind == others && !isConversationOf(c.agents, name, inner) {
		return foreign("%.200q is not a conversation of an agent that this ccbot knows", e.name)
	}
	return nil
}

func (c *contents) checkFile(e entry, data []byte) error {
	var err error
	switch e.kind {
	case manifest:
		if err = json.Unmarshal(data, &c.Manifest); err == nil && c.Version != version {
			err = fmt.Errorf("its version is %d, and this ccbot knows %d", c.Version, version)
		}
	case settings:
		if err = json.Unmarshal(data, &c.settings); err == nil {
			err = checkSettings(c.settings)
		}
	case chats:
		err = json.Unmarshal(data, &map[string]json.RawMessage{})
	case records:
		var r session.Record
		err = json.Unmarshal(data, &r)
		_, known := c.agents[cmp.Or(r.AgentName, agent.Default)]
		switch outside := func(at talk.Cursor) bool { return !c.isConversation(r, at.Path) }; {
		case err != nil:
		case !known:
			err = fmt.Errorf("this ccbot knows no agent %.60q", r.AgentName)
		case r.ID.String()+".json" != e.name || !path.IsAbs(r.Dir):
			err = errors.New("it is the record of another session")
		case slices.ContainsFunc(r.Cursors, outside):
			err = errors.New("it reads a file that is not a conversation")
		}
		c.dirs[r.Dir]++
	}
	if err != nil {
		return foreign("%s: %w", e.name, err)
	}
	return nil
}

// inProjects returns the part of a conversation's path below the folder of all conversations.
func inProjects(file string) string { return path.Join(path.Base(path.Dir(file)), path.Base(file)) }

// other returns the agent, other than Claude Code, in whose folder there a path is, and the path
// below that folder.
func (m Manifest) other(file string) (name, inner string, found bool) {
	for name, folder := range m.Folders {
		if inner, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(inner) {
			return name, inner, true
		}
	}
	return "", "", false
}

// isConversation reports whether a path in a record is that of a conversation of its agent.
func (c *contents) isConversation(r session.Record, file string) bool {
	name, inner, other := c.other(file)
	if !other {
		return isDefault(r) && isConversation(inProjects(file))
	}
	return name == r.AgentName && isConversationOf(c.agents, name, inner)
}

func isDefault(r session.Record) bool { return cmp.Or(r.AgentName, agent.Default) == agent.Default }

// isConversationOf reports whether a path below the folder of another agent's conversations is that
// of a conversation.
func isConversationOf(agents agent.Agents, name, inner string) bool {
	by, known := agents[name]
	if !known || name == agent.Default || !places[others].name.MatchString(path.Join("agents", name, inner)) {
		return false
	}
	_, err := uuid.Parse(by.Usage.Conversation(inner))
	return err == nil
}

// isConversation reports whether a path below the folder of all conversations is one that a backup
// may have.
func isConversation(inner string) bool {
	return places[transcripts].name.MatchString("transcripts/" + inner)
}

func checkSettings(all map[string]string) error {
	for name, value := range all {
		if !config.IsPortable(name, value) {
			return fmt.Errorf("%.60q is not a setting of a backup", name)
		}
	}
	return nil
}
