package transcript

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/agent"
	"ccbot/internal/programtest"
)

const (
	modeLine = `{"type":"mode","mode":"normal"}` + "\n"
	costLine = `{"type":"cost-state","totalCostUSD":0.1}` + "\n"
)

var nuls = strings.Repeat("\x00", 4096)

// projects makes a projects folder with files of one session, named after their folders.
func projects(t require.TestingT, root string, id uuid.UUID, contents map[string]string) string {
	dir := filepath.Join(root, "projects")
	for name, content := range contents {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, id.String()+".jsonl"), content)
	}
	return dir
}

func TestCheck(t *testing.T) {
	talk := modeLine + prompt("one") + reply("m", "eins")
	half := talk[:len(talk)-9]
	tests := []struct {
		name, content string
		faults        []agent.Fault
		nothing       bool
	}{
		{"whole", talk, nil, false},
		{"whole, bookkeeping behind it", talk + costLine, nil, false},
		{"a person's prompt only", prompt("one"), nil, false},
		{"blank lines behind it", talk + "\n \n", nil, false},
		{"half a line", half, []agent.Fault{FaultHalfLine}, false},
		{"half a line with a break", half + "\n", []agent.Fault{FaultHalfLine}, false},
		{"half a line and blank lines", half + "\n\n", []agent.Fault{FaultHalfLine}, false},
		{"no JSON", talk + "garbage\n", []agent.Fault{FaultHalfLine}, false},
		{"only the break is missing", talk[:len(talk)-1], []agent.Fault{FaultHalfLine}, false},
		{"a resume has come past half a line", half + "\n" + prompt("two"), nil, false},
		{"NULs", talk + nuls, []agent.Fault{FaultNUL}, false},
		{"NULs and a break", talk + nuls + "\n", []agent.Fault{FaultNUL}, false},
		{"one NUL", talk + "\x00", []agent.Fault{FaultNUL}, false},
		{"NULs behind half a line", half + nuls, []agent.Fault{FaultNUL, FaultHalfLine}, false},
		{"NULs and a break behind half a line", half + nuls + "\n", []agent.Fault{FaultNUL, FaultHalfLine}, false},
		{"NULs before a whole line", talk + nuls + prompt("two"), []agent.Fault{FaultNUL}, false},
		{"NULs before half a line", talk + nuls + `{"type":`, []agent.Fault{FaultNUL, FaultHalfLine}, false},
		{"NULs over a line's end", half + nuls + prompt("two"), []agent.Fault{FaultNUL}, false},
		{"nothing but NULs before the talk", nuls + talk, []agent.Fault{FaultNUL}, false},
		{"empty", "", nil, true},
		{"a break only", "\n", nil, true},
		{"NULs only", nuls, []agent.Fault{FaultNUL}, true},
		{"NULs and a break only", nuls + "\n", []agent.Fault{FaultNUL}, true},
		{"half a line only", `{"type":"user","mess`, []agent.Fault{FaultHalfLine}, true},
		{"bookkeeping only", modeLine + costLine, nil, true},
		{"bookkeeping and half a prompt", modeLine + `{"type":"user","mess`, []agent.Fault{FaultHalfLine}, true},
		{"injected only", `{"type":"user","isMeta":true,"message":{"content":"x"}}` + "\n", nil, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			id := uuid.New()
			dir := projects(t, t.TempDir(), id, map[string]string{"a": tc.content, "b": modeLine})
			h, err := Check(dir, id)
			if tc.nothing {
				require.ErrorIs(t, err, agent.ErrNothingLeft)
				assert.NotErrorIs(t, err, fs.ErrNotExist)
				assert.Empty(t, h.Others)
				return
			}
			require.NoError(t, err)
			path := filepath.Join(dir, "a", id.String()+".jsonl")
			assert.Equal(t, agent.Health{Path: path, Size: int64(len(tc.content)), Faults: tc.faults}, h)
		})
	}
}

func TestCheckOfEmptyTailReportsFaults(t *testing.T) {
	id := uuid.New()
	dir := projects(t, t.TempDir(), id, map[string]string{"a": nuls})
	h, err := Check(dir, id)
	require.ErrorIs(t, err, agent.ErrNothingLeft)
	assert.Equal(t, agent.Health{Path: filepath.Join(dir, "a", id.String()+".jsonl"), Size: 4096, Faults: []agent.Fault{FaultNUL}}, h)
}

func TestCheckOfNoTranscript(t *testing.T) {
	id := uuid.New()
	dir := projects(t, t.TempDir(), uuid.New(), map[string]string{"a": prompt("another's")})
	_, err := Check(dir, id)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Check(filepath.Join(dir, "none"), id)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a", id.String()+".jsonl"), 0o700))
	_, err = Check(dir, id)
	require.ErrorIs(t, err, fs.ErrNotExist, "a folder is no transcript")

	// A folder that cannot be read is not a missing one. A link to itself also refuses root.
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	_, err = Check(dir, id)
	require.Error(t, err)
	assert.NotErrorIs(t, err, fs.ErrNotExist)
}

func TestCheckOfDuplicates(t *testing.T) {
	one, two := prompt("one"), prompt("two")
	tests := []struct {
		name   string
		files  map[string]string
		newest string
		best   string
		others []string
		faults []agent.Fault
	}{
		{"more of the talk, though older", map[string]string{"a": one + two, "b": one}, "b", "a", []string{"b"}, []agent.Fault{FaultDuplicate}},
		{"as much, then the newest", map[string]string{"a": one, "b": two}, "b", "b", []string{"a"}, []agent.Fault{FaultDuplicate}},
		{"NULs are not more", map[string]string{"a": one + nuls, "b": one + two}, "a", "b", []string{"a"}, []agent.Fault{FaultDuplicate}},
		{"half a line is not more", map[string]string{"a": one + two[:20], "b": one + costLine}, "a", "b", []string{"a"}, []agent.Fault{FaultDuplicate}},
		{"faults of the best one", map[string]string{"a": one + nuls, "b": modeLine + "x"}, "b", "a", nil, []agent.Fault{FaultNUL}},
		{"and a duplicate", map[string]string{"a": one + two + "{", "b": one}, "b", "a", []string{"b"}, []agent.Fault{FaultHalfLine, FaultDuplicate}},
		{"three", map[string]string{"a": one, "b": one + two, "c": one + costLine}, "a", "b", []string{"c", "a"}, []agent.Fault{FaultDuplicate}},
		{"one without talk does not count", map[string]string{"a": one, "b": "", "c": nuls, "d": modeLine}, "b", "a", nil, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			id := uuid.New()
			dir := projects(t, t.TempDir(), id, tc.files)
			at := func(name string) string { return filepath.Join(dir, name, id.String()+".jsonl") }
			for name := range tc.files {
				if name != tc.newest {
					require.NoError(t, os.Chtimes(at(name), time.Time{}, time.Now().Add(-time.Hour)))
				}
			}
			h, err := Check(dir, id)
			require.NoError(t, err)
			want := agent.Health{Path: at(tc.best), Size: int64(len(tc.files[tc.best])), Faults: tc.faults}
			for _, other := range tc.others {
				want.Others = append(want.Others, at(other))
			}
			assert.Equal(t, want, h)
		})
	}
}

func TestCheckCountsOneFileOnce(t *testing.T) {
	id := uuid.New()
	dir := projects(t, t.TempDir(), id, map[string]string{"b": prompt("one")})
	require.NoError(t, os.Symlink("b", filepath.Join(dir, "a")))
	h, err := Check(dir, id)
	require.NoError(t, err)
	assert.Empty(t, h.Faults)
	assert.Empty(t, h.Others)
}

// A file of another user is neither read nor taken for missing.
func TestCheckOfForeignFiles_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	id := uuid.New()
	dir := projects(t, t.TempDir(), id, map[string]string{"a": prompt("one")})
	path := filepath.Join(dir, "a", id.String()+".jsonl")
	require.NoError(t, os.Chown(path, 12345, -1))
	_, err := Check(dir, id)
	require.ErrorContains(t, err, "not a regular file of this user: it belongs to uid 12345")
	_, err = Repair(agent.Health{Path: path}, id, uuid.New())
	require.ErrorContains(t, err, "not a regular file of this user: it belongs to uid 12345")
}

func TestPipeIsNotTranscript(t *testing.T) {
	id := uuid.New()
	path := filepath.Join(t.TempDir(), id.String()+".jsonl")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	_, err := Repair(agent.Health{Path: path}, id, uuid.New())
	require.ErrorContains(t, err, "not a regular file")
	_, err = readTail(path, tailSize)
	require.ErrorContains(t, err, "not a regular file", "and it does not wait for a writer")
}

func TestReadTail(t *testing.T) {
	long := prompt(strings.Repeat("x", 100))
	tests := []struct {
		name, content string
		faults        []agent.Fault
		end           int
		spoken        bool
	}{
		{"shorter than the window", prompt("one"), nil, len(prompt("one")), true},
		{"the window begins in a line", prompt("one") + long + modeLine, nil, len(prompt("one") + long + modeLine), true},
		{"one long line", long, nil, 0, true},
		{"half of a long line", long[:90], []agent.Fault{FaultHalfLine}, 0, true},
		{"NULs before the window are not seen", nuls + long + modeLine, nil, len(nuls + long + modeLine), true},
		{"NULs fill the window", prompt("one") + nuls, []agent.Fault{FaultNUL}, 0, true},
		{"a piece behind NULs in the first line", long[:90] + nuls[:9] + modeLine, []agent.Fault{FaultNUL}, 0, true},
		{"a half piece behind NULs in the first line", long[:90] + nuls[:9] + "{\n", []agent.Fault{FaultNUL, FaultHalfLine}, 0, true},
		{"a half line behind a cut one", long + `{"type":`, []agent.Fault{FaultHalfLine}, 0, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			write(t, path, tc.content)
			got, err := readTail(path, 64)
			require.NoError(t, err)
			assert.Equal(t, tc.faults, got.faults)
			assert.Equal(t, int64(tc.end), got.end)
			assert.Equal(t, tc.spoken, got.spoken)
		})
	}
}

// A sparse file of 8 GB: reading more than its end would not come back in time.
func TestCheckReadsTheTailOnly(t *testing.T) {
	id := uuid.New()
	dir := projects(t, t.TempDir(), id, map[string]string{"a": ""})
	path := filepath.Join(dir, "a", id.String()+".jsonl")
	require.NoError(t, os.Truncate(path, 8<<30))
	appendTo(t, path, "\n"+strings.Repeat(prompt(strings.Repeat("x", 1000)), 2*tailSize/1000)+"{")
	h, err := Check(dir, id)
	require.NoError(t, err)
	assert.Equal(t, []agent.Fault{FaultHalfLine}, h.Faults)
}

func FuzzLook(f *testing.F) {
	f.Add([]byte(prompt("one")+reply("m", "a")), false)
	f.Add([]byte(prompt("one")+nuls[:9]+`{"type":"us`), true)
	f.Add([]byte(nuls[:9]+"\n"), true)
	f.Add([]byte("\n\x00{}"), false)
	f.Fuzz(func(t *testing.T, data []byte, cut bool) {
		before := bytes.Clone(data)
		got := judge(data, cut)
		require.Equal(t, before, data)
		require.Equal(t, bytes.IndexByte(data, 0) >= 0, slices.Contains(got.faults, FaultNUL))
		if text := bytes.TrimRight(data, "\x00"); len(text) > 0 && text[len(text)-1] != '\n' {
			require.True(t, slices.Contains(got.faults, FaultHalfLine))
		}
		require.LessOrEqual(t, got.end, int64(len(data)))

		var copied bytes.Buffer
		err := copyWhole(&copied, bytes.NewReader(data), uuid.New(), uuid.New())
		if !cut {
			require.Equal(t, got.spoken, err == nil, "what Check calls worth a repair can be repaired")
		}
		if err != nil {
			require.ErrorIs(t, err, agent.ErrNothingLeft)
			return
		}
		again := judge(copied.Bytes(), false)
		require.Empty(t, again.faults)
		require.True(t, again.spoken)
		require.Equal(t, int64(copied.Len()), again.end)
	})
}
