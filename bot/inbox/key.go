package inbox

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

const promptPrefix = "p-" // of the key of a prompt that was no update

// PromptKey is the key of the prompt with this id, which was no update.
func PromptKey(id uuid.UUID) string { return promptPrefix + id.String() }

// UpdateKey is the key of the update with this id.
func UpdateKey(updateID int64) string { return strconv.FormatInt(updateID, 10) }

// updateID reads an update's key. Only the spelling that UpdateKey makes is valid, so a key is also
// a safe file name.
func updateID(key string) (id int64, ok bool) {
	id, err := strconv.ParseInt(key, 10, 64)
	return id, err == nil && id >= 0 && UpdateKey(id) == key
}

func validKey(key string) bool {
	if _, ok := updateID(key); ok {
		return true
	}
	text, ok := strings.CutPrefix(key, promptPrefix)
	if !ok {
		return false
	}
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// inOrder sorts updates by id and puts prompts behind them by time.
func inOrder(a, b Entry) int {
	idA, isA := updateID(a.Key)
	idB, isB := updateID(b.Key)
	switch {
	case isA && isB:
		return cmp.Compare(idA, idB)
	case isA:
		return -1
	case isB:
		return 1
	}
	return cmp.Or(a.Received.Compare(b.Received), strings.Compare(a.Key, b.Key))
}
