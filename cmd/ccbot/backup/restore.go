package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/agent"
	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/disk"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// Target is the ccbot into which a backup is restored. The caller holds its lock.
type Target struct {
	Dir      string            // ccbot's folder
	File     string            // of its settings
	Set      map[string]string // settings that count there already
	Projects string            // the folder of Claude Code's conversations
	Agents   agent.Agents
	Host     string
	Bot      string // the id of its bot; empty if no token is known here and nothing was restored yet
	Now      time.Time
	// Failpoint is called at each persisted step with its name. It is nil except in tests.
	Failpoint func(string)
}

// Restored describes a finished restore.
type Restored struct {
	Manifest
	Sessions, Chats, Transcripts int
	Kept                         int               // chats and conversations that were there
	Settings                     map[string]string // that were written
	KeptSettings                 []string
	NoFolder                     []string // directories of sessions that are not on this machine
}

// ErrOtherBot is returned if the backup is of another bot: its chats name messages that this bot
// has not sent.
var ErrOtherBot = errors.New("the backup is of another bot")

// ErrSessions is returned if the folder has sessions.
var ErrSessions = errors.New("this ccbot has sessions; a backup is restored into a ccbot without any")

// Restore restores a backup. The sessions come last, all at once, so it can be called again after
// an error or a kill.
func Restore(ctx context.Context, file *os.File, to Target) (done Restored, err error) {
	entries, err := disk.ReadDir(to.sessions())
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return done, err
	case len(entries) > 0:
		return done, ErrSessions
	}
	c, err := check(file, to.Agents)
	if err != nil {
		return done, err
	}
	if c.Bot != "" && to.Bot != "" && c.Bot != to.Bot {
		return done, fmt.Errorf("%w: its bot has the id %.20q, and this ccbot is of the bot %.20s", ErrOtherBot, c.Bot, to.Bot)
	}
	done = Restored{Manifest: c.Manifest, Sessions: c.count[records]}
	folders := map[string]bool{to.Dir: true, to.chats().Path: true, filepath.Join(to.Dir, "backups"): true}
	staged := spool.Folder{Path: filepath.Join(to.Dir, "backups", "."+to.Now.UTC().Format("2006-01-02T15-04-05.000Z")), Fsync: true}
	defer func() { err = errors.Join(err, disk.RemoveAll(staged.Path)) }() // or the next backup
	if err := errors.Join(staged.Make(), to.chats().Make()); err != nil {
		return done, err
	}
	if err := to.keepBot(c.Bot); err != nil { // before the chats: a restore that is killed leaves some of them
		return done, err
	}
	if err := to.unpack(ctx, file, staged, folders, &done); err != nil {
		return done, err
	}
	if err := to.writeSettings(c.settings, &done); err != nil {
		return done, err
	}
	to.reached("settings")
	if _, err := statefolder.RenewInstance(to.Dir); err != nil {
		return done, err
	}
	to.reached("instance")
	for _, dir := range slices.Sorted(maps.Keys(c.dirs)) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			done.NoFolder = append(done.NoFolder, dir)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(folders)) { // first, because of a power cut
		if err := (spool.Folder{Path: path}).Sync(); err != nil {
			return done, err
		}
	}
	if err := disk.Remove(to.sessions()); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty
		return done, err
	}
	to.reached("sessions-removed")
	if err := disk.Rename(staged.Path, to.sessions()); err != nil {
		return done, err
	}
	to.reached("sessions")
	return done, spool.Folder{Path: to.Dir}.Sync()
}

func (t Target) sessions() string { return filepath.Join(t.Dir, "sessions") }

func (t Target) chats() spool.Folder {
	return spool.Folder{Path: filepath.Join(t.Dir, "chats"), MaxSize: places[chats].size, Fsync: true}
}

// keepBot notes the bot of the backup. Chats that are there may be of another one, whose token is
// not known here: then it notes none.
func (t Target) keepBot(id string) error {
	there, err := disk.ReadDir(t.chats().Path)
	if err != nil || id == "" || t.Bot == "" && len(there) > 0 {
		return err
	}
	if err := statefolder.KeepBot(t.Dir, id); err != nil {
		return err
	}
	t.reached("bot")
	return nil
}

func (t Target) reached(name string) {
	if t.Failpoint != nil {
		t.Failpoint(name)
	}
}

// unpack writes chats and conversations where they belong, and the records into staged. It adds the
// folders that got a new name to folders.
func (t Target) unpack(ctx context.Context, file *os.File, staged spool.Folder, folders map[string]bool, done *Restored) error {
	return walk(file, func(e entry, content io.Reader) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		defer t.reached("file")
		switch e.kind {
		case chats:
			if _, err := os.Lstat(filepath.Join(t.chats().Path, e.name)); err == nil {
				done.Kept++
				return nil
			}
			data, err := io.ReadAll(content)
			if moved, failed := conversation.WithPaths(data, func(there string) string { return t.transcriptPath(there, done.Manifest) }); failed == nil { // else a start sets it aside
				data = moved
			}
			if err == nil {
				err = t.chats().Put(e.name, data)
			}
			done.Chats++
			return err
		case records:
			data, err := io.ReadAll(content)
			if err == nil {
				data, err = t.arrived(data, done.Manifest)
			}
			if err != nil {
				return err
			}
			return staged.Put(e.name, data)
		case transcripts, others:
			return t.transcript(e, content, folders, done)
		}
		return nil
	})
}

// transcript writes one conversation, whole or not at all.
func (t Target) transcript(e entry, content io.Reader, folders map[string]bool, done *Restored) error {
	folder := t.Projects
	if e.kind == others {
		var name string
		name, e.name, _ = strings.Cut(e.name, "/")
		folder = t.Agents[name].Usage.Folder()
	}
	// A restore that was killed may have made these without a sync.
	folders[filepath.Dir(folder)] = true
	for dir := filepath.Join(folder, filepath.Dir(e.name)); ; dir = filepath.Dir(dir) {
		if folders[dir] = true; dir == folder {
			break
		}
	}
	for dir := filepath.Dir(folder); isMissing(dir); dir = filepath.Dir(dir) {
		folders[filepath.Dir(dir)] = true
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(e.name); err == nil {
		done.Kept++
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(e.name), 0o700); err != nil {
		return err
	}
	half := e.name + ".restore"
	if err := root.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed restore
		return err
	}
	out, err := root.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, root.Remove(half))
	}
	done.Transcripts++
	return root.Rename(half, e.name)
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// writeSettings adds the settings that do not count here yet.
func (t Target) writeSettings(all map[string]string, done *Restored) error {
	done.Settings = make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case t.Set[name] == all[name]:
		case t.Set[name] != "":
			done.KeptSettings = append(done.KeptSettings, name)
		default:
			done.Settings[name] = all[name]
		}
	}
	if len(done.Settings) == 0 {
		return nil
	}
	_, err := config.WriteSettings(t.File, done.Settings)
	return err
}

// arrived returns a record as it is on this machine: bound to nothing. A session that had not ended
// there is lost here, and the next start asks about it.
func (t Target) arrived(data []byte, from Manifest) ([]byte, error) {
	var r session.Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	if !r.State.HasEnded() {
		r.Note(t.Now, session.BroughtBack, fmt.Sprintf("it was %s on %s when its backup was made", r.State, from.Host))
		r.State, r.Final, r.Cleanup, r.EndedAt, r.Unreported = session.Lost, "", nil, from.At, true
	}
	r.Note(t.Now, session.BroughtBack, "it came with a backup of "+from.Host)
	r.Host, r.ReturnedAt = t.Host, t.Now
	r.Binding, r.Bound, r.Descendants, r.SecondWriters, r.Prompts, r.ModeRequest = nil, nil, nil, nil, nil, nil
	r.Exe, r.HookDigest, r.Phase, r.PhaseWhat, r.NameDue = "", "", "", "", false
	r.Requested, r.Ended, r.Since = process.Moment{}, process.Moment{}, process.Moment{}
	for i, c := range r.Cursors {
		r.Cursors[i].Path = t.transcriptPath(c.Path, from)
	}
	return json.Marshal(r)
}

// transcriptPath returns the path of a transcript on this machine.
func (t Target) transcriptPath(there string, from Manifest) string {
	if name, inner, _ := from.other(there); isConversationOf(t.Agents, name, inner) {
		return filepath.Join(t.Agents[name].Usage.Folder(), inner)
	}
	return filepath.Join(t.Projects, inProjects(there))
}
