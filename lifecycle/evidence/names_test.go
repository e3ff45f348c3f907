package evidence

import (
	"context"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/agent/witness"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// ownFile is the presence file of one process.
type ownFile struct {
	witness.Presences
	file presence.File
	err  error
	// later is read from the second time on, if it is set.
	later *presence.File
	reads int
}

func (f *ownFile) Read(context.Context, int) (presence.File, error) {
	if f.reads++; f.reads > 1 && f.later != nil {
		return *f.later, nil
	}
	return f.file, f.err
}

type oneRecord struct{ r session.Record }

func (o oneRecord) Shared() []session.Record { return []session.Record{o.r} }

func TestP9_PresenceFileNamesConversation(t *testing.T) {
	agent := process.Identity{PID: 5, Start: 50, Boot: boot}
	own, other := uuid.New(), uuid.New()
	file := func(start uint64, id uuid.UUID) presence.File {
		return presence.File{PID: 5, ProcStart: start, SessionID: id}
	}
	named := file(50, other)
	tests := []struct {
		name         string
		from         ownFile
		names, named error // of the conversation other
		record       uuid.UUID
	}{
		{name: "it does", from: ownFile{file: named}},
		{name: "it names another", from: ownFile{file: file(50, own)}, names: hooks.ErrContradicted, named: hooks.ErrContradicted},
		{name: "it names another, and the session has this one", from: ownFile{file: file(50, own)}, record: other,
			names: hooks.ErrContradicted, named: hooks.ErrContradicted},
		{name: "it names it a moment later", from: ownFile{file: file(50, own), later: &named}, names: hooks.ErrContradicted},
		{name: "it is of an earlier process", from: ownFile{file: file(49, other)}, names: hooks.ErrNotNamed, named: hooks.ErrNotNamed},
		{name: "there is none", from: ownFile{err: fs.ErrNotExist}, names: hooks.ErrNotNamed, named: hooks.ErrNotNamed},
		{name: "there is none, and the session has this one", from: ownFile{err: fs.ErrNotExist}, record: other, names: hooks.ErrNotNamed},
		{name: "it is torn", from: ownFile{err: presence.ErrTorn}, names: hooks.ErrNotNamed, named: hooks.ErrNotNamed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := session.Record{State: session.Running, AgentSessionID: tt.record, Run: session.Run{Binding: &session.Binding{Agent: agent}}}
				s := &Sources{Agents: coding.Agents{coding.Default: {Presences: &tt.from}}, Records: oneRecord{r}}
				require.ErrorIs(t, s.Names(t.Context(), "", agent, other), tt.names)
				tt.from.reads = 0
				began := time.Now()
				require.ErrorIs(t, s.Named(t.Context(), Above{Agent: agent}, other), tt.named)
				if tt.named != nil {
					assert.Equal(t, Contradiction, time.Since(began))
				}
			})
		})
	}
}
