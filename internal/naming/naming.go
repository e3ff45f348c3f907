package naming

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Named holds the names of a session.
type Named struct {
	ID     uuid.UUID // made of the time at its beginning, so its last letters tell it from others
	Name   string
	Former []string    // names that it had
	Other  []uuid.UUID // further ids, matched in full only
}

const (
	shownEnd    = 8 // how many letters of an id are shown
	shortestEnd = 4 // how many of them are enough to find it
)

// ShortID is as much of an id as tells it from others.
func ShortID(id uuid.UUID) string {
	text := id.String()
	return text[len(text)-shownEnd:]
}

// Find returns the elements of a list that a text means: by the full name or id; otherwise by the
// id's last letters, or another id; otherwise by a prefix of the name, or a full former name. It
// ignores case, and takes a blank for "-". If several match, it prefers those that fit, and then
// those whose name equals the text exactly.
func Find[T any](list []T, text string, named func(T) Named, fits func(T) bool) []T {
	means := func(strength func(Named) bool) []T {
		return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !strength(named(one)) })
	}
	lower, folded := strings.ToLower(text), fold(text)
	other, _ := uuid.Parse(text)
	found := means(func(n Named) bool { return folded != "" && fold(n.Name) == folded || n.ID.String() == lower })
	if len(found) == 0 {
		found = means(func(n Named) bool {
			return len(text) >= shortestEnd && strings.HasSuffix(n.ID.String(), lower) ||
				other != uuid.Nil && slices.Contains(n.Other, other)
		})
	}
	if len(found) == 0 && folded != "" {
		found = means(func(n Named) bool {
			was := func(name string) bool { return fold(name) == folded }
			return strings.HasPrefix(fold(n.Name), folded) || slices.ContainsFunc(n.Former, was)
		})
	}
	return prefer(prefer(found, fits), func(one T) bool { return named(one).Name == text })
}

// fold makes names equal that a person would take for one.
func fold(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), "-") }

// prefer returns the wanted elements of a list, or all if none is wanted.
func prefer[T any](list []T, wanted func(T) bool) []T {
	some := slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !wanted(one) })
	if len(some) == 0 {
		return list
	}
	return some
}

// Free returns the name, with a number appended if it is taken.
func Free(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
