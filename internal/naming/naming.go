package naming

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Named is what a person may call a session by.
type Named struct {
	ID     uuid.UUID // made of the time at its beginning, so its last letters tell it from others
	Name   string
	Former []string    // names that it had
	Other  []uuid.UUID // further ids, of which a person gives all letters
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

// Find gives those of a list that a text means: by the name or the id in full; else by the last letters
// of the id, or another id; else by the beginning of the name, or by a former one in full. Small and
// capital letters are the same, and so are a blank and the "-" that stands for it in names.
// Where several are meant, and only some of them fit, those are given; of these the ones whose name has
// the very letters of the text, where there are any.
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

// prefer gives those of a list that are as wanted, or all where none is.
func prefer[T any](list []T, wanted func(T) bool) []T {
	some := slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !wanted(one) })
	if len(some) == 0 {
		return list
	}
	return some
}

// Free returns a name, with a number behind it where the name is taken.
func Free(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
