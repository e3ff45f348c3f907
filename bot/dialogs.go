package bot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
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
}

func (d shownDialog) to() session.Conversation { return d.Message.To }

const dialogVersion = 1

// OpenDialogs opens the folder. What cannot be read there goes to quarantine.
func OpenDialogs(dir, quarantine string, log *slog.Logger) (*Dialogs, error) {
	d := &Dialogs{folder: spool.Folder{Path: dir, MaxSize: 1 << 20, Fsync: true}, all: make(map[uuid.UUID]shownDialog)}
	names, err := d.folder.List()
	if err != nil {
		return nil, fmt.Errorf("open dialogs: %w", err)
	}
	for _, name := range names {
		one, err := d.read(name)
		if err == nil {
			d.all[one.Session] = one
			continue
		}
		log.Warn("dialog_set_aside", "file", name, "error", err.Error())
		if err := d.folder.Quarantine(name, quarantine, err.Error()); err != nil {
			return nil, fmt.Errorf("open dialogs: %w", err)
		}
	}
	return d, nil
}

func (d *Dialogs) read(name string) (one shownDialog, err error) {
	data, err := d.folder.Read(name)
	if err != nil {
		return shownDialog{}, err
	}
	if err := json.Unmarshal(data, &one); err != nil {
		return shownDialog{}, err
	}
	if one.Version != dialogVersion || dialogFile(one.Session) != name || one.Message.Text.Blank() {
		return shownDialog{}, errors.New("not a dialog of this version")
	}
	return one, nil
}

func dialogFile(id uuid.UUID) string { return id.String() + ".json" }

// Forget takes away what is remembered of a session.
func (d *Dialogs) Forget(id uuid.UUID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.removeLocked(id)
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

func (d *Dialogs) putLocked(one shownDialog) error {
	one.Version = dialogVersion
	data, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("write dialog: %w", err)
	}
	if err := d.folder.Put(dialogFile(one.Session), append(data, '\n')); err != nil {
		return fmt.Errorf("write dialog: %w", err)
	}
	d.all[one.Session] = one
	return nil
}

func (d *Dialogs) removeLocked(id uuid.UUID) error {
	if err := d.folder.Remove(dialogFile(id)); err != nil {
		return fmt.Errorf("remove dialog: %w", err)
	}
	delete(d.all, id)
	return nil
}
