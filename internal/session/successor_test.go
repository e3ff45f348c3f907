package session_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
)

func TestSuccessor(t *testing.T) {
	a, b, c, d := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	record := func(id, from uuid.UUID) session.Record { return session.Record{ID: id, TookOver: from} }
	for _, tt := range []struct {
		name    string
		records []session.Record
		of      uuid.UUID
		want    uuid.UUID // Nil: none
	}{
		{"nobody took it over", []session.Record{record(a, uuid.Nil), record(b, uuid.Nil)}, a, uuid.Nil},
		{"one did, and the source does not say so yet", []session.Record{record(a, uuid.Nil), record(b, a)}, a, b},
		{"and another from that one", []session.Record{record(a, uuid.Nil), record(b, a), record(c, b)}, a, c},
		{"in any order", []session.Record{record(c, b), record(b, a), record(a, uuid.Nil)}, a, c},
		{"the source is forgotten", []session.Record{record(b, a)}, a, b},
		{"the newer one of two", []session.Record{record(a, uuid.Nil), record(b, a), record(c, a)}, a, c},
		{"a ring ends before it begins again", []session.Record{record(a, c), record(b, a), record(c, b)}, a, c},
		{"a ring that it is not in", []session.Record{record(b, d), record(c, b), record(d, c), record(a, uuid.Nil)}, b, d},
		{"itself, and another one before", []session.Record{record(b, a), record(a, a)}, a, b},
		{"itself", []session.Record{record(a, a)}, a, uuid.Nil},
		{"of no session", []session.Record{record(a, uuid.Nil)}, uuid.Nil, uuid.Nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := session.Successor(tt.records, tt.of)
			assert.Equal(t, tt.want != uuid.Nil, ok)
			assert.Equal(t, tt.want, got.ID)
		})
	}
}
