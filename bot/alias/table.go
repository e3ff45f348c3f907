package alias

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"ccbot/internal/spool"
)

// fileName is the file of a table. News that are not in it are heard again when something is sent
// to the earlier chat.
const fileName = "moved.json"

// perChat is how many message numbers a chat has inside. A message id of Telegram's has 31 bits.
const perChat = 1 << 32

// Table knows which groups have become which chats. The zero value knows none, and has no disk.
type Table struct {
	folder spool.Folder

	mu    sync.Mutex
	known file
}

// file is a table on disk.
type file struct {
	Version int       `json:"version"`
	Groups  [][]int64 `json:"groups"` // the numbers that each group has had, the first one first
	Told    []int64   `json:"told"`   // chats whose people know of it
}

// Open reads the table of a folder. A file that cannot be understood counts as none, and is set aside.
func Open(folder spool.Folder, aside spool.Loader) (*Table, error) {
	t := &Table{folder: folder}
	_, err := aside.LoadOne(folder, fileName, func(data []byte) error {
		var f file
		if err := json.Unmarshal(data, &f); err != nil {
			return err
		}
		t.known.Told = f.Told
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

// Note keeps that a group has become another chat. News that contradict what is known change
// nothing.
func (t *Table) Note(from, to int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next, fresh := t.known.with(from, to)
	if !fresh {
		return nil
	}
	return t.putLocked(next)
}

// NoteTold keeps that the people of a chat know that their group has become this chat.
func (t *Table) NoteTold(chat int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.known
	next.Told = append(slices.Clone(next.Told), chat)
	return t.putLocked(next)
}

// Told reports whether NoteTold was called for a chat.
func (t *Table) Told(chat int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.known.Told, chat)
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

// Numbers gives the numbers of a chat's place, the first one first. The first is the name of the
// place, the last is where messages go.
func (t *Table) Numbers(chat int64) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known.numbers(chat)
}

// Moved gives the Numbers of each group that has become another chat.
func (t *Table) Moved() [][]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known.Groups // which is never changed in place
}

// In gives the name of a chat's place, and the number inside of a message of the chat. What has its
// name and number already keeps them.
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

// Out is the way back: the chat that a place is now, and the id that the message has there. The id
// is 0 for a message of an earlier chat, which the chat does not have.
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

// Lost reports whether a message was left behind in an earlier chat of its place.
func (t *Table) Lost(place int64, inside int) bool {
	_, message := t.Out(place, inside)
	return inside > 0 && message == 0
}

// with is f with one more piece of news; fresh reports whether that is new and contradicts nothing:
// a group becomes one chat, that chat was one group, and nothing goes round. Both are groups: an absurd
// answer would otherwise move a private chat for good.
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
