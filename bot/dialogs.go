package bot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/internal/keepjson"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// Dialogs remembers the messages that show what terminals ask, one per session:
// their buttons must go when the dialog does, also after a restart.
type Dialogs struct {
	folder spool.Folder

	mu  sync.Mutex
	all map[uuid.UUID]shownDialog
}

// shownDialog is one file of dialogs/.
type shownDialog struct {
	Version int            `json:"version"`
	Session uuid.UUID      `json:"session"`
	Mark    string         `json:"mark,omitempty"` // what the buttons were drawn for
	ID      int            `json:"id,omitempty"`   // of the message; 0: it is not in the chat yet
	Closed  bool           `json:"closed,omitempty"`
	Message outbox.Message `json:"message"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// plainDialog is shownDialog without its methods.
type plainDialog shownDialog

// MarshalJSON writes the file, with the fields that this program does not know.
func (d shownDialog) MarshalJSON() ([]byte, error) {
	return keepjson.Marshal(plainDialog(d), d.unknown)
}

// UnmarshalJSON reads one; keepjson.ErrNewer: a newer program wrote it.
func (d *shownDialog) UnmarshalJSON(data []byte) error {
	var p plainDialog
	unknown, err := keepjson.Unmarshal(data, dialogVersion, &p)
	if err != nil {
		return err
	}
	*d = shownDialog(p)
	d.unknown = unknown
	return nil
}

func (d shownDialog) to() session.Conversation { return d.Message.To }

// shows says whether two are about the same dialog in the same place.
func (d shownDialog) shows(other shownDialog) bool {
	return !d.Closed && !other.Closed && d.Session == other.Session && d.Mark == other.Mark && d.to() == other.to()
}

const dialogVersion = 1

// OpenDialogs opens the folder. A file that cannot be understood goes to
// quarantine, a newer program's stays where it is until its session asks
// something again. One that cannot be read now is an error: it may pass.
func OpenDialogs(dir, quarantine string, log *slog.Logger) (*Dialogs, error) {
	d := &Dialogs{folder: spool.Folder{Path: dir, MaxSize: 1 << 20, Fsync: true}, all: make(map[uuid.UUID]shownDialog)}
	names, err := d.folder.List()
	if err != nil {
		return nil, fmt.Errorf("open dialogs: %w", err)
	}
	for _, name := range names {
		if filepath.Ext(name) != dialogSuffix {
			continue
		}
		if err := d.load(name, quarantine, log); err != nil {
			return nil, fmt.Errorf("open dialogs: %w", err)
		}
	}
	return d, nil
}

func (d *Dialogs) load(name, quarantine string, log *slog.Logger) error {
	var one shownDialog
	data, err := d.folder.Read(name)
	if err != nil && !errors.Is(err, spool.ErrForeign) && !errors.Is(err, spool.ErrTooBig) {
		return err // it may pass
	}
	if err == nil {
		err = json.Unmarshal(data, &one)
	}
	if err == nil && (dialogFile(one.Session) != name || one.Message.Text.Blank()) {
		err = errors.New("it is not the dialog of its session")
	}
	switch {
	case errors.Is(err, keepjson.ErrNewer):
		log.Warn("dialog_newer", "file", name, "error", err.Error())
		return nil
	case err != nil:
		log.Error("dialog_unreadable", "file", name, "moved_to", quarantine, "error", err.Error())
		return d.folder.Quarantine(name, quarantine, err.Error())
	}
	d.all[one.Session] = one
	return nil
}

const dialogSuffix = ".json"

func dialogFile(id uuid.UUID) string { return id.String() + dialogSuffix }

// Forget takes away what is remembered of a session.
func (d *Dialogs) Forget(id uuid.UUID) error {
	return d.change(id, func(_ shownDialog, c dialogChange) error { return c.remove() })
}

func (d *Dialogs) get(id uuid.UUID) (shownDialog, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one, ok := d.all[id]
	return one, ok
}

func (d *Dialogs) list() []shownDialog {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []shownDialog
	for _, one := range d.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b shownDialog) int { return cmp.Compare(a.Session.String(), b.Session.String()) })
	return all
}

// change does what do says to what is remembered of a session, the zero value if
// nothing is. Meanwhile nobody else changes or reads anything, so do must not
// wait.
func (d *Dialogs) change(id uuid.UUID, do func(now shownDialog, c dialogChange) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return do(d.all[id], dialogChange{store: d, id: id})
}

// dialogChange is a change under way; the store is locked for it.
type dialogChange struct {
	store *Dialogs
	id    uuid.UUID
}

func (c dialogChange) put(one shownDialog) error {
	one.Version, one.Session = dialogVersion, c.id
	data, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("write dialog: %w", err)
	}
	if err := c.store.folder.Put(dialogFile(c.id), append(data, '\n')); err != nil {
		return fmt.Errorf("write dialog: %w", err)
	}
	c.store.all[c.id] = one
	return nil
}

func (c dialogChange) remove() error {
	if err := c.store.folder.Remove(dialogFile(c.id)); err != nil {
		return fmt.Errorf("remove dialog: %w", err)
	}
	delete(c.store.all, c.id)
	return nil
}
