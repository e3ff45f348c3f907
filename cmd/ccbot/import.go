package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

func importCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "import DIR", Args: oneFolder, Short: "Take over the sessions of the Python ccbot, whose state lies in DIR",
		Long: `Make a record for each session in DIR's state.json and session_map.json, the files of the Python ccbot, so that
/resume goes on with its conversation. Without --yes it only prints what it would do. What is known already is left as it
is, and nothing in DIR is changed. Stop both ccbots first.`,
		Example: "  ccbot import ~/.ccbot-python\n  ccbot import ~/.ccbot-python --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return importFormer(cmd.Context(), environ, args[0], yes, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

// oneFolder wants the folder of the other program's state.
func oneFolder(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return exit.Usage(errors.New("say where the state is: ccbot import DIR"))
	}
	return nil
}

// former is what this program uses of a session of the Python ccbot.
type former struct {
	Name     string `json:"name"`
	Window   string `json:"window_id"`
	Dir      string `json:"workdir"`
	ClaudeID string `json:"claude_session_id"`
	Backend  string `json:"backend"`
	person   int64  // 0: not known
}

// readFormer reads the sessions of the Python ccbot, in the order of their names. A window of session_map.json that
// belongs to no session is a session, too.
func readFormer(dir string) ([]former, error) {
	var state struct {
		Sessions map[string]former   `json:"sessions"`
		Active   map[string]string   `json:"active_sessions"`
		History  map[string][]string `json:"active_history"`
	}
	if err := readFormerFile(dir, "state.json", &state); err != nil {
		return nil, err
	}
	var windows map[string]struct {
		ClaudeID string `json:"session_id"`
		Dir      string `json:"cwd"`
		Name     string `json:"window_name"`
		Backend  string `json:"backend"`
	}
	if err := readFormerFile(dir, "session_map.json", &windows); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	people := make(map[string]int64)
	for person, ids := range state.History {
		for _, id := range append(slices.Clone(ids), state.Active[person]) {
			people[id], _ = strconv.ParseInt(person, 10, 64)
		}
	}
	for person, id := range state.Active {
		people[id], _ = strconv.ParseInt(person, 10, 64)
	}
	var all []former
	for id, f := range state.Sessions {
		f.person = people[id]
		all = append(all, f)
	}
	for _, key := range slices.Sorted(maps.Keys(windows)) {
		w, window := windows[key], formerWindow.FindString(key)
		at := slices.IndexFunc(all, func(f former) bool { return f.ClaudeID == w.ClaudeID || f.ClaudeID == "" && f.Window == window })
		if at < 0 {
			all = append(all, former{Name: w.Name, Dir: w.Dir, ClaudeID: w.ClaudeID, Backend: w.Backend})
		} else if all[at].ClaudeID == "" {
			all[at].ClaudeID, all[at].Dir = w.ClaudeID, cmp.Or(all[at].Dir, w.Dir)
		}
	}
	slices.SortFunc(all, func(a, b former) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ClaudeID, b.ClaudeID))
	})
	return all, nil
}

// formerWindow is the window's id at the end of a key of session_map.json.
var formerWindow = regexp.MustCompile(`@\d+$`)

func readFormerFile(dir, name string, into any) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s is not as the Python ccbot writes it: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// importing decides what becomes of each session.
type importing struct {
	config
	host    string
	known   map[uuid.UUID]bool
	written func(uuid.UUID) (bool, error)
}

// record makes the record of a session, or says why there is none.
func (i importing) record(f former, now time.Time) (r session.Record, why string) {
	id, err := uuid.Parse(f.ClaudeID)
	switch {
	case cmp.Or(f.Backend, "claude") != "claude":
		return r, "it is of " + f.Backend + ", not of Claude Code"
	case err != nil || id == uuid.Nil:
		return r, "its conversation is not known"
	case i.known[id]:
		return r, "its conversation is known already"
	case !filepath.IsAbs(f.Dir):
		return r, "its folder is not known"
	}
	dir := filepath.Clean(f.Dir)
	if err := lifecycle.CheckDir(dir); err != nil {
		return r, "its folder cannot be used: " + err.Error()
	}
	person := f.person
	if person == 0 && len(i.AllowedUsers) == 1 {
		person = i.AllowedUsers[0]
	}
	switch {
	case person == 0:
		return r, "whose it is is not known"
	case !i.AllowedUsers.set()[person]:
		return r, fmt.Sprintf("it is of %d, who is not in ALLOWED_USERS", person)
	}
	path, err := transcript.Find(i.projectsDir(), id)
	if err != nil {
		return r, "its conversation is not found: " + err.Error()
	}
	end, err := transcript.End(path)
	if err != nil {
		return r, err.Error()
	}
	if writes, err := i.written(id); err != nil || writes {
		return r, "another process writes its conversation, or may: end that first"
	}
	r = session.Record{Version: session.Version, ID: uuid.New(), Name: cmp.Or(strings.TrimSpace(f.Name), filepath.Base(dir)), Dir: dir,
		Host: i.host, State: session.Archived, ClaudeSessionID: id, Conversation: session.Conversation{ChatID: person}, Owner: person,
		Cursors: []transcript.Cursor{end}, CreatedAt: now, UpdatedAt: now, EndedAt: now, Tail: end.Offset}
	r.Note(now, "import", "taken over from the Python ccbot")
	return r, ""
}

// importFormer makes the records, with yes, or prints what it would make.
func importFormer(ctx context.Context, environ []string, dir string, yes bool, stdout, stderr io.Writer) error {
	all, err := readFormer(dir)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	c, err := loadConfig(environ)
	if err != nil {
		return err
	}
	open := func() (*session.Store, error) { return openRecords(c.Dir, stderr) }
	if yes {
		let, err := c.lockRecords(ctx, environ, stderr)
		if err != nil {
			return err
		}
		defer let()
		open = func() (*session.Store, error) {
			return session.Open(filepath.Join(c.Dir, "sessions"), filepath.Join(c.Dir, "quarantine"), time.Now, quietLog(c, stderr))
		}
	}
	store, err := open()
	if err != nil {
		return statefolder.Error(c.Dir, err)
	}
	i, err := importingInto(ctx, c, environ, store)
	if err != nil {
		return err
	}
	return i.all(all, store, yes, stdout)
}

// importingInto looks at what is there.
func importingInto(ctx context.Context, c config, environ []string, store *session.Store) (importing, error) {
	host, err := os.Hostname()
	if err != nil {
		return importing{}, fmt.Errorf("host name: %w", err)
	}
	table, err := process.NewTable()
	if err != nil {
		return importing{}, err
	}
	_, sources, err := c.look(ctx, environ, store, table, slog.New(slog.DiscardHandler))
	if err != nil {
		return importing{}, err
	}
	i := importing{config: c, host: host, known: make(map[uuid.UUID]bool)}
	i.written = func(id uuid.UUID) (bool, error) {
		written, err := sources.Written(ctx, id)
		return written[id], err
	}
	for _, r := range store.List() {
		for _, id := range append(slices.Clone(r.EarlierClaudeIDs), r.ClaudeSessionID) {
			i.known[id] = true
		}
	}
	return i, nil
}

func (i importing) all(all []former, store *session.Store, yes bool, stdout io.Writer) error {
	p := terminal.Printer{Out: stdout}
	made := 0
	for _, f := range all {
		r, why := i.record(f, time.Now().UTC())
		if why != "" {
			p.Line("left    %s  %s: %s", terminal.Printable(cmp.Or(f.Name, "?")), terminal.Printable(f.Dir), terminal.Printable(why))
			continue
		}
		if yes {
			if err := store.Create(r); err != nil {
				return statefolder.Error(i.Dir, err)
			}
		}
		i.known[r.ClaudeSessionID] = true
		made++
		p.Line("import  %s  %s", terminal.Printable(r.Name), terminal.Printable(r.Dir))
	}
	switch {
	case made == 0:
		p.Line("there is nothing to import")
	case yes:
		p.Line("%s made; start ccbot, then /archive and /resume have them", terminal.Several(made, "record"))
	default:
		p.Line("nothing was changed: --yes makes %s", terminal.Several(made, "record"))
	}
	return p.Err
}
