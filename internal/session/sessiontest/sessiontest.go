// Package sessiontest makes records for the tests of what shows them.
package sessiontest

import (
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/history"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port"
)

// Noon is the time at which these sessions begin.
var Noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// ID is an id of a second after Noon, as an id of that time begins.
func ID(second int) uuid.UUID {
	id := uuid.MustParse("019cb8f0-0000-7000-8000-000000000000")
	ms := uint64(0x019cb8f00000) + uint64(second)*1000
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[14], id[15] = byte(second>>8), byte(second) // the random part of ids of people's sessions
	return id
}

// Over is the record of an ended session, with changes. Its conversation is this test program's own: another one may resume its own at
// the same time, and would be a writer.
func Over(second int, name string, changes ...func(*session.Record)) session.Record {
	at := Noon.Add(time.Duration(second) * time.Second)
	r := session.Record{Version: session.Version, ID: ID(second), Name: name, Dir: "/src/" + name, Host: "box", State: session.Archived,
		AgentSessionID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, name, os.Getpid())), CreatedAt: at, UpdatedAt: at, LastEnd: session.LastEnd{EndedAt: at}}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// Full is a record with all its fields set.
func Full() session.Record {
	return Over(9, "api", func(r *session.Record) {
		r.State, r.Phase, r.PhaseAt = session.Running, "waiting_permission", Noon.Add(time.Minute)
		r.StartedAt, r.EndedAt = Noon, time.Time{}
		r.Binding = &session.Binding{Window: "@21", Agent: process.Identity{PID: 4711, Start: 5, Boot: "b"}}
		r.Usage = &port.Usage{Model: "Opus 5.5", Context: 41.6, Cost: 3.5}
		r.Progress = history.Progress{From: 1, Turns: 7, LastTurnAt: Noon, Tokens: port.Tokens{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4},
			Tasks: []port.Task{{Text: "a", Status: "completed"}, {Text: "b", Status: "in_progress"}}}
		r.GitNow = &git.State{Root: "/src", Branch: "main", Head: "abc", Dirty: true, At: Noon}
		r.Prompts = []string{"7", "8"}
		r.ClosedReason = session.ClosedReboot
	})
}
