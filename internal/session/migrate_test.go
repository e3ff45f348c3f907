package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// object is a record as it stands in its file.
type object map[string]any

func parseObject(t *testing.T, data []byte) object {
	t.Helper()
	var o object
	require.NoError(t, json.Unmarshal(data, &o))
	return o
}

func agentOfFixture(pid, start int) object {
	return object{"pid": float64(pid), "start": float64(start), "boot": "7f3c1a52-90c4-4e0e-8b51-5a1f0c7e2d11"}
}

// fixtures are records as programs of version 1 wrote them, with what becomes of
// them. What is not in changed must come out as it went in.
var fixtures = []struct {
	name    string // file in testdata
	changed object
}{
	{"v1-running-without-bound", object{"bound": []any{agentOfFixture(4242, 98765)}}},
	{"v1-cleanup-without-failures", object{
		"bound": []any{agentOfFixture(4300, 99100)},
		"cleanup": object{
			"processes": []any{agentOfFixture(4311, 99200)}, "reason": "process 4311 is still there after KILL",
			"failures": []any{object{"kind": "unknown", "detail": "process 4311 is still there after KILL"}},
			"attempts": 3.0, "not_before": "2026-01-02T03:10:05.678Z",
		},
	}},
	{"v1-stopping-with-bare-below", object{"below": []any{
		object{"process": agentOfFixture(5010, 121000), "of": agentOfFixture(5001, 120000)},
		object{"process": agentOfFixture(5011, 121005), "of": agentOfFixture(5001, 120000)},
	}}},
	{"v1-archived-with-bare-below", object{"below": []any{
		object{"process": agentOfFixture(5160, 131000), "of": object{"pid": 0.0, "start": 0.0, "boot": ""}},
	}}},
	{"v1-cleanup-with-failures", nil},
	{"v1-last-running", nil},
	{"v1-last-failed", nil},
}

func TestP8_RecordsOfEveryEarlierVersionMigrate(t *testing.T) {
	for _, tt := range fixtures {
		t.Run(tt.name, func(t *testing.T) {
			old, err := os.ReadFile(filepath.Join("testdata", tt.name+".json"))
			require.NoError(t, err)
			before := parseObject(t, old)
			id := uuid.MustParse(before["id"].(string))
			f := newFolders(t)
			f.put(t, file(id), string(old))

			s := f.open(t)
			assert.Empty(t, s.Aside())
			there, err := os.ReadFile(filepath.Join(f.dir, file(id)))
			require.NoError(t, err)
			assert.Equal(t, string(old), string(there), "reading rewrites nothing")
			read, ok := s.Get(id)
			require.True(t, ok)
			assert.Equal(t, Version, read.Version)

			require.NoError(t, s.Do(t.Context(), id, func(_ *Record, save func() error) error { return save() }))
			there, err = os.ReadFile(filepath.Join(f.dir, file(id)))
			require.NoError(t, err)
			want := before
			for name, value := range tt.changed {
				want[name] = value
			}
			want["version"], want["updated_at"] = float64(Version), "2026-03-04T12:00:00Z"
			wantText, err := json.Marshal(want)
			require.NoError(t, err)
			assert.JSONEq(t, string(wantText), string(there))

			again, ok := f.open(t).Get(id)
			require.True(t, ok)
			read.UpdatedAt = noon
			assert.Equal(t, text(t, read), text(t, again), "it migrates once")
		})
	}
}

func TestEveryEarlierVersionHasAFixture(t *testing.T) {
	listed := make(map[string]bool)
	for _, tt := range fixtures {
		listed["testdata/"+tt.name+".json"] = true
	}
	for version := 1; version < Version; version++ {
		files, err := filepath.Glob(fmt.Sprintf("testdata/v%d-*.json", version))
		require.NoError(t, err)
		assert.NotEmpty(t, files, "version %d", version)
		for _, name := range files {
			assert.True(t, listed[name], "%s is not tested", name)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.Equal(t, float64(version), parseObject(t, data)["version"], name)
		}
	}
}

// What the fixtures do not show.
func TestMigrationCompletesOnlyWhatIsLacking(t *testing.T) {
	agent := `{"pid":7,"start":70,"boot":"b"}`
	id := process.Identity{PID: 7, Start: 70, Boot: "b"}
	other := process.Identity{PID: 8, Start: 80, Boot: "b"}
	tests := []struct {
		name, version, fields string
		check                 func(t *testing.T, r Record)
	}{
		{"no version is the first", ``, `"binding":{"agent":` + agent + `,"bound_at":"2026-01-02T03:04:05Z"}`, func(t *testing.T, r Record) {
			assert.Equal(t, []process.Identity{id}, r.Bound)
		}},
		{"an agent beside others", `"version":1,`, `"bound":[{"pid":8,"start":80,"boot":"b"}],"binding":{"agent":` + agent + `}`, func(t *testing.T, r Record) {
			assert.Equal(t, []process.Identity{other, id}, r.Bound)
		}},
		{"an agent that is there", `"version":1,`, `"bound":[` + agent + `],"binding":{"agent":` + agent + `}`, func(t *testing.T, r Record) {
			assert.Equal(t, []process.Identity{id}, r.Bound)
		}},
		{"an incomplete agent names nobody", `"version":1,`, `"binding":{"agent":{"pid":7}}`, func(t *testing.T, r Record) {
			assert.Empty(t, r.Bound)
		}},
		{"failures that are there", `"version":1,`, `"cleanup":{"reason":"a","failures":[{"kind":"tmux","detail":"b"}]}`, func(t *testing.T, r Record) {
			assert.Equal(t, []CleanupFailure{{Kind: "tmux", Detail: "b"}}, r.Cleanup.Failures)
		}},
		{"both forms of tools", `"version":1,`, `"below":[{"process":` + agent + `,"of":{"pid":9}},` + agent + `]`, func(t *testing.T, r Record) {
			assert.Equal(t, []Tool{{Process: id, Of: process.Identity{PID: 9}}, {Process: id}}, r.Below)
		}},
		{"the present version lacks nothing", `"version":2,`, `"binding":{"agent":` + agent + `},"cleanup":{"reason":"a"}`, func(t *testing.T, r Record) {
			assert.Empty(t, r.Bound)
			assert.Empty(t, r.Cleanup.Failures)
		}},
		{"unknown fields", `"version":1,`, `"colour":{"of":"later"}`, func(t *testing.T, r Record) {
			assert.Contains(t, text(t, r), `"colour":{"of":"later"}`)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r Record
			require.NoError(t, json.Unmarshal([]byte(`{`+tt.version+`"id":"`+uuid.NewString()+`","dir":"/src","state":"running","claude_session_id":"`+
				uuid.NewString()+`","created_at":"2026-01-02T03:04:05Z",`+tt.fields+`}`), &r))
			tt.check(t, r)
		})
	}
	t.Run("tools of neither form", func(t *testing.T) {
		assert.Error(t, json.Unmarshal([]byte(`{"version":1,"id":"`+uuid.NewString()+`","dir":"/src","state":"running","claude_session_id":"`+
			uuid.NewString()+`","created_at":"2026-01-02T03:04:05Z","below":[{"pid":"x"}]}`), &Record{}))
	})
}
