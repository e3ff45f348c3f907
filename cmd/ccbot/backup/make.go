package backup

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// Source describes the ccbot that is backed up.
type Source struct {
	Manifest
	Dir         string       // ccbot's folder
	Agents      agent.Agents // whose conversations the sessions are
	Settings    map[string]string
	Transcripts bool // the conversations as well
}

// Made counts the parts of a backup.
type Made struct {
	Sessions, Open, Chats, Transcripts int
	Unreadable                         []string // records and chats that were left out
	// sessions whose conversation is not there, if they were wanted
	Without int
}

// Make writes a backup into a new file that only this user can read, and checks it as a restore
// does. After an error there is no file; a kill leaves one that a restore refuses.
func Make(ctx context.Context, file string, s Source) (made Made, err error) {
	out, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return made, err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(file))
		}
	}()
	for name, by := range s.Agents {
		if name != agent.Default {
			if s.Folders == nil {
				s.Folders = make(map[string]string)
			}
			s.Folders[name] = by.Usage.Folder()
		}
	}
	packed := gzip.NewWriter(out)
	w := writer{Context: ctx, Writer: tar.NewWriter(packed), Source: s}
	if err = errors.Join(w.all(), w.Close(), packed.Close(), out.Sync()); err != nil {
		return w.made, err
	}
	if _, err = check(out, s.Agents); err != nil {
		return w.made, fmt.Errorf("the new backup cannot be restored: %w", err)
	}
	return w.made, spool.SyncFolder(os.Open(filepath.Dir(file)))
}

// writer writes one backup.
type writer struct {
	context.Context
	*tar.Writer
	Source
	made Made
}

func (w *writer) all() error {
	w.Manifest.Version = version
	for _, one := range []struct {
		name  string
		value any
	}{{manifestName, w.Manifest}, {settingsName, w.Settings}} {
		data, err := json.MarshalIndent(one.value, "", "  ")
		if err == nil {
			err = w.put(one.name, data)
		}
		if err != nil {
			return err
		}
	}
	if err := w.chats(); err != nil {
		return err
	}
	return w.records()
}

func (w *writer) put(name string, data []byte) error {
	if err := w.Err(); err != nil {
		return context.Cause(w)
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o600, ModTime: w.At}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// chats copies what the chats remember. The list of groups that have moved stays: it is about
// messages.
func (w *writer) chats() error {
	folder := spool.Folder{Path: filepath.Join(w.Dir, "chats"), MaxSize: places[chats].size}
	names, err := list(folder)
	for _, name := range names {
		if !places[chats].name.MatchString("chats/" + name) {
			continue
		}
		data, readErr := folder.Read(name)
		if readErr != nil {
			return readErr
		}
		if w.checked(chats, name, data) != nil {
			w.made.Unreadable = append(w.made.Unreadable, name)
			continue
		}
		if err := w.put("chats/"+name, data); err != nil {
			return err
		}
		w.made.Chats++
	}
	return err
}

// list is the names in a folder; a folder that is not there is empty.
func list(folder spool.Folder) ([]string, error) {
	names, err := folder.List()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

func (w *writer) records() error {
	folder := spool.Folder{Path: filepath.Join(w.Dir, "sessions"), MaxSize: places[records].size}
	names, err := list(folder)
	if err != nil {
		return err
	}
	said := make(map[string][]uuid.UUID) // by agent
	for _, name := range names {
		data, err := folder.Read(name)
		var r session.Record
		if err == nil {
			data = session.WithoutPrompts(data)
			err = errors.Join(w.checked(records, name, data), json.Unmarshal(data, &r))
		}
		if err != nil || !places[records].name.MatchString("sessions/"+name) {
			w.made.Unreadable = append(w.made.Unreadable, name)
			continue
		}
		if err := w.put("sessions/"+name, data); err != nil {
			return err
		}
		w.made.Sessions++
		if r.State.Live() {
			w.made.Open++
		}
		by := cmp.Or(r.AgentName, agent.Default)
		said[by] = append(append(said[by], r.AgentSessionID), r.EarlierSessionIDs...)
	}
	if !w.Transcripts {
		return nil
	}
	for _, by := range slices.Sorted(maps.Keys(said)) {
		ids := said[by]
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
		for _, id := range slices.Compact(ids) {
			if err := w.transcript(by, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf returns the name in a backup of a conversation's file, or "" if a backup cannot have it.
func (w *writer) nameOf(by, file string) string {
	if by == agent.Default {
		if inner := inProjects(file); isConversation(inner) {
			return "transcripts/" + inner
		}
		return ""
	}
	name, inner, _ := w.other(file)
	if name != by || !isConversationOf(w.Agents, name, inner) {
		return ""
	}
	return path.Join("agents", name, inner)
}

// transcript copies one conversation up to its present size, because its agent may write at the
// same time.
func (w *writer) transcript(by string, id uuid.UUID) error {
	file, err := w.Agents[by].Transcripts.Find(id)
	if errors.Is(err, fs.ErrNotExist) {
		w.made.Without++
		return nil
	}
	if err != nil {
		return err
	}
	name := w.nameOf(by, file)
	if name == "" {
		w.made.Without++
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > places[transcripts].size {
		w.made.Without++
		return nil
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o600, ModTime: info.ModTime()}); err != nil {
		return err
	}
	if _, err := io.CopyN(w, in, info.Size()); err != nil {
		return fmt.Errorf("copy %s: %w", file, err)
	}
	w.made.Transcripts++
	return context.Cause(w)
}
