package alias

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"ccbot/internal/spool"
)

// fileName is the file of a table. Missing news arrive again with the next message to the earlier
// chat.
const fileName = "moved.json"

// perChat is the number of inside message numbers per chat. A Telegram message id has 31 bits.
const perChat = 1 << 32

// Table maps groups to their later chats. The zero value is empty and has no disk.
type Table struct {
	folder spool.Folder

	mu    sync.Mutex
	known file
}

// file is a table on disk.
type file struct {
	Version  int       `json:"version"`
	Groups   [][]int64 `json:"groups"`   // the numbers of each group, the first one first
	Reported []int64   `json:"reported"` // chats whose people were notified
}

// Open reads the table of a folder. An invalid file counts as missing, and is set aside.
func Open(folder spool.Folder, aside spool.Loader) (*Table, error) {
	t := &Table{folder: folder}
	_, err := aside.LoadOne(folder, fileName, func(data []byte) error {
		var f file
		if err := json.Unmarshal(data, &f); err != nil {
			return err
		}
		t.known.Reported = f.Reported
		for _, numbers := range f.Groups {
			for i := range len(numbers) - 1 {
				t.known, _ = t.known.with(numbers[i], numbers[i+1])
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read moved chats: %w", err)
	}
	return t, nil
}

// Note stores that a group has become another chat. It ignores news that contradict the table.
func (t *Table) Note(from, to int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next, fresh := t.known.with(from, to)
	if !fresh {
		return nil
	}
	return t.putLocked(next)
}

// NoteReported stores that a chat's people were notified of the move.
func (t *Table) NoteReported(chat int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.known
	next.Reported = append(slices.Clone(next.Reported), chat)
	return t.putLocked(next)
}

// IsReported reports whether NoteReported was called for a chat.
func (t *Table) IsReported(chat int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.known.Reported, chat)
}

func (t *Table) putLocked(next file) error {
	next.Version = 1
	if t.folder.Path != "" {
		data, err := json.Marshal(next)
		if err == nil {
			err = t.folder.Put(fileName, append(data, '\n'))
		}
		if err != nil {
			return fmt.Errorf("write moved chats: %w", err)
		}
	}
	t.known = next
	return nil
}

// Numbers returns the numbers of a chat's place, oldest first. The first is the name of the place;
// messages are sent to the last.
func (t *Table) Numbers(chat int64) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known.numbers(chat)
}

// Moved returns the Numbers of each group that has become another chat.
func (t *Table) Moved() [][]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known.Groups // never changed in place
}

// In returns the name of a chat's place, and the inside number of a message. Names and inside
// numbers stay unchanged.
func (t *Table) In(chat int64, message int) (place int64, inside int) {
	numbers := t.Numbers(chat)
	return numbers[0], numberIn(numbers, chat, message)
}

func numberIn(numbers []int64, chat int64, message int) int {
	if message <= 0 || message >= perChat {
		return message
	}
	return message + slices.Index(numbers, chat)*perChat
}

// Out is the reverse of In: it returns the place's current chat, and the message's id there, or 0
// for a message of an earlier chat.
func (t *Table) Out(place int64, inside int) (chat int64, message int) {
	numbers := t.Numbers(place)
	last := len(numbers) - 1
	switch inside = numberIn(numbers, place, inside); {
	case inside <= 0:
		return numbers[last], inside
	case inside/perChat != last:
		return numbers[last], 0
	}
	return numbers[last], inside % perChat
}

// Lost reports whether a message remained in an earlier chat of its place.
func (t *Table) Lost(place int64, inside int) bool {
	_, message := t.Out(place, inside)
	return inside > 0 && message == 0
}

// with returns f with a move added; fresh reports whether the move is new and consistent: a group
// becomes one chat, that chat was one group, and there is no cycle. Both must be groups: a wrong
// response would otherwise move a private chat for good.
func (f file) with(from, to int64) (next file, fresh bool) {
	before, after := f.numbers(from), f.numbers(to)
	if from >= 0 || to >= 0 || before[len(before)-1] != from || after[0] != to || before[0] == to {
		return f, false
	}
	f.Groups = slices.DeleteFunc(slices.Clone(f.Groups), func(numbers []int64) bool {
		return numbers[0] == before[0] || numbers[0] == to
	})
	f.Groups = append(f.Groups, slices.Concat(before, after))
	return f, true
}

// numbers is Table.Numbers.
func (f file) numbers(chat int64) []int64 {
	for _, numbers := range f.Groups {
		if slices.Contains(numbers, chat) {
			return numbers
		}
	}
	return []int64{chat}
}
