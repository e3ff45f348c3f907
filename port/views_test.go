package port

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// asItWas are the texts of a session that stored news keep: facts about the moment of the news,
// which no person can delete or change.
var asItWas = []string{"Machine", "Dir", "Start", "Origin", "Window", "Attach", "Agent", "Product", "Mode", "Failures.Kind", "Failures.Detail", "Interruption.Step", "Now.What"}

// TestP9_StoredNewsHaveNoWordsThatPeopleDelete fills each text of a session and looks which are
// left in the stored view. A person who renames a session, or deletes a text of it, leaves none.
func TestP9_StoredNewsHaveNoWordsThatPeopleDelete(t *testing.T) {
	var s Session
	fill(reflect.ValueOf(&s).Elem(), 0)
	assert.Contains(t, texts(reflect.ValueOf(s), ""), "Name", "the texts are filled")
	left := texts(reflect.ValueOf(s.WithPresent(Session{})), "")
	for _, text := range left {
		assert.True(t, slices.Contains(asItWas, text), "stored news keep Session.%s: take it from the present in WithPresent if a person can delete or change it; otherwise add it to asItWas", text)
	}
	for _, text := range asItWas {
		assert.True(t, slices.Contains(left, text), "stored news do not keep Session.%s any more: take it out of asItWas", text)
	}
}

// A machine that does not count turns may have had some.
func TestP9_UncountedTurnsAreWords(t *testing.T) {
	assert.True(t, Session{TakesPlaces: true}.HasWords())
	assert.False(t, Session{CountsTurns: true}.HasWords())
	assert.True(t, Session{CountsTurns: true, Turns: 1}.Veiled().HasWords())
	assert.False(t, Session{CountsTurns: true}.Veiled().HasWords())
}

// fill sets each text, and each list and pointer that leads to one.
func fill(v reflect.Value, depth int) {
	switch {
	case depth > 6:
	case v.Type() == reflect.TypeFor[string]():
		v.SetString("words")
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	}
}

// texts returns the filled fields. A text with a type of its own is a code.
func texts(v reflect.Value, at string) (all []string) {
	switch {
	case v.Type() == reflect.TypeFor[string]() && v.Len() > 0:
		return []string{at}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f, name := v.Type().Field(i), at
			if name != "" && !f.Anonymous {
				name += "."
			}
			if !f.Anonymous {
				name += f.Name
			}
			all = append(all, texts(v.Field(i), name)...)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return texts(v.Elem(), at)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			all = append(all, texts(v.Index(i), at)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
