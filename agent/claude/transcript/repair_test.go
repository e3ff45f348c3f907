package transcript

import (
	"bytes"
	"ccbot/agent"
	"ccbot/agent/jsonl"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	oldID = uuid.MustParse("5eee061a-abba-432e-9e3f-3ec22deb0ca6")
	newID = uuid.MustParse("29d0caf2-fca8-4453-98f5-660cca7883ce")
)

// ours is a line of the session.
func ours(line string) string {
	return fmt.Sprintf(`{"sessionId":"%s",%s`, oldID, line[1:])
}

func renamed(text string) string { return strings.ReplaceAll(text, oldID.String(), newID.String()) }

// names are the files in the folder of a path.
func names(t require.TestingT, path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestRepair(t *testing.T) {
	one, two := ours(prompt("one")), ours(reply("m", "zwei"))
	tests := []struct{ name, content, want string }{
		{"whole already", one + two, one + two},
		{"half a line", one + two[:len(two)-5], one},
		{"only the break is missing", one + two[:len(two)-1], one + two},
		{"NULs at the end", one + two + nuls, one + two},
		{"NULs behind half a line", one + two[:40] + nuls, one},
		{"NULs right before a whole line", one + nuls + two, one + two},
		{"NULs instead of a break", one[:len(one)-1] + nuls + two, one + two},
		{"NULs in a line", one + two[:40] + nuls + two[40:] + one, one + one},
		{"NULs over the end of one and the start of the next", one + two[:40] + nuls + one[9:] + two, one + two},
		{"half a line in the middle", one[:40] + "\n" + two, two},
		{"no JSON object, blank lines", "[1]\n\n \n\"x\"\n" + one, one},
		{"bookkeeping stays", modeLine + one + costLine + "{", modeLine + one + costLine},
		{"other breaks stay", "  " + one[:len(one)-1] + "\r\n{", "  " + one[:len(one)-1] + "\r\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := projects(t, t.TempDir(), oldID, map[string]string{"a": tc.content})
			h, err := Check(dir, oldID)
			require.NoError(t, err)
			path, err := Repair(h, oldID, newID)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(dir, "a", newID.String()+".jsonl"), path)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, renamed(tc.want), string(got))
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode())
			original, err := os.ReadFile(h.Path)
			require.NoError(t, err)
			assert.Equal(t, tc.content, string(original))
			assert.Len(t, names(t, path), 2)
		})
	}
}

func TestRepairRenamesOnlyOwnID(t *testing.T) {
	kept := fmt.Sprintf(`"message":{"content":"the \"sessionId\":\"%[1]s\" [{ \\"},"input":{"sessionId":"%[1]s"},"list":[{"sessionId":"%[1]s"}],"session_id":"%[1]s"`, oldID)
	line := fmt.Sprintf(`{"type":"user",%s,"sessionId":"%%s","parentSessionId":"%s"}`+"\n", kept, oldID)
	other := fmt.Sprintf(`{"type":"user","sessionId":"%s"}`+"\n", uuid.New())
	dir := projects(t, t.TempDir(), oldID, map[string]string{"a": fmt.Sprintf(line, oldID) + other})
	path, err := Repair(agent.Health{Path: filepath.Join(dir, "a", oldID.String()+".jsonl")}, oldID, newID)
	require.NoError(t, err)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf(line, newID)+other, string(got))
}

// Each refusal leaves the folder as it was.
func TestRepairRefuses(t *testing.T) {
	tests := []struct {
		name, content string
		prepare       func(t *testing.T, h *agent.Health)
		as            uuid.UUID
		want          error
	}{
		{"empty", "", nil, newID, agent.ErrNothingLeft},
		{"NULs only", nuls, nil, newID, agent.ErrNothingLeft},
		{"half a line only", `{"type":"us`, nil, newID, agent.ErrNothingLeft},
		{"bookkeeping only", modeLine, nil, newID, agent.ErrNothingLeft},
		{"its own id", prompt("one"), nil, oldID, fs.ErrExist},
		{"a transcript of that id", prompt("one"), func(t *testing.T, h *agent.Health) {
			write(t, filepath.Join(filepath.Dir(h.Path), newID.String()+".jsonl"), "")
		}, newID, fs.ErrExist},
		{"one in another folder", prompt("one"), func(t *testing.T, h *agent.Health) {
			dir := filepath.Join(filepath.Dir(h.Path), "..", "b")
			require.NoError(t, os.Mkdir(dir, 0o700))
			write(t, filepath.Join(dir, newID.String()+".jsonl"), prompt("other"))
		}, newID, fs.ErrExist},
		{"a link of that name", prompt("one"), func(t *testing.T, h *agent.Health) {
			require.NoError(t, os.Symlink("nowhere", filepath.Join(filepath.Dir(h.Path), newID.String()+".jsonl")))
		}, newID, fs.ErrExist},
		{"gone", prompt("one"), func(t *testing.T, h *agent.Health) { require.NoError(t, os.Remove(h.Path)) }, newID, fs.ErrNotExist},
		{"another session's file", prompt("one"), func(_ *testing.T, h *agent.Health) {
			h.Path = filepath.Join(filepath.Dir(h.Path), uuid.NewString()+".jsonl")
		}, newID, nil},
		{"a folder that leads out", prompt("one"), func(t *testing.T, h *agent.Health) {
			outside := filepath.Join(t.TempDir(), "outside")
			require.NoError(t, os.Rename(filepath.Dir(h.Path), outside))
			require.NoError(t, os.Symlink(outside, filepath.Dir(h.Path)))
		}, newID, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := projects(t, t.TempDir(), oldID, map[string]string{"a": tc.content})
			h := agent.Health{Path: filepath.Join(dir, "a", oldID.String()+".jsonl")}
			if tc.prepare != nil {
				tc.prepare(t, &h)
			}
			before := names(t, h.Path)
			_, err := Repair(h, oldID, tc.as)
			require.Error(t, err)
			if tc.want != nil {
				require.ErrorIs(t, err, tc.want)
			}
			assert.Equal(t, before, names(t, h.Path))
		})
	}
}

// A stretch of NULs longer than the longest line, as a file system leaves one, takes no memory and
// no lines.
func TestRepairSkipsLongNULRuns(t *testing.T) {
	dir := projects(t, t.TempDir(), oldID, map[string]string{"a": prompt("one")})
	h := agent.Health{Path: filepath.Join(dir, "a", oldID.String()+".jsonl")}
	require.NoError(t, os.Truncate(h.Path, jsonl.Budget()+10<<20))
	appendTo(t, h.Path, prompt("two"))
	path, err := Repair(h, oldID, newID)
	require.NoError(t, err)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, prompt("one")+prompt("two"), string(got))
}

func TestRepairAtOnceMakesOneCopy(t *testing.T) {
	content := strings.Repeat(ours(prompt("one")), 2000)
	dir := projects(t, t.TempDir(), oldID, map[string]string{"a": content})
	h := agent.Health{Path: filepath.Join(dir, "a", oldID.String()+".jsonl")}
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = Repair(h, oldID, newID) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, fs.ErrExist)
	}
	assert.Equal(t, 1, made)
	got, err := os.ReadFile(filepath.Join(dir, "a", newID.String()+".jsonl"))
	require.NoError(t, err)
	assert.Equal(t, renamed(content), string(got))
	assert.Len(t, names(t, h.Path), 2)
}

// A transcript is cut at any byte, and NULs stand anywhere in what is left: Check finds it, and
// Repair saves every whole line and makes none up.
func TestCheckAndRepairAfterACrash(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		good := drawTranscript(t)
		bad := good[:rapid.IntRange(0, len(good)).Draw(t, "cut")]
		torn := len(bad) > 0 && bad[len(bad)-1] != '\n'
		zeros := rapid.SampledFrom([]int{0, 0, 1, 7, 4096}).Draw(t, "zeros")
		if zeros > 0 {
			at := rapid.IntRange(0, len(bad)).Draw(t, "at")
			over := rapid.IntRange(0, len(bad)-at).Draw(t, "over")
			bad = bad[:at] + nuls[:zeros] + bad[at+over:]
		}
		dir := projects(t, filepath.Join(root, fmt.Sprint(n)), oldID, map[string]string{"a": bad})
		h, err := Check(dir, oldID)
		require.Equal(t, zeros > 0, slices.Contains(h.Faults, FaultNUL))
		if zeros == 0 {
			require.Equal(t, torn, slices.Contains(h.Faults, FaultHalfLine))
		}
		path, repairErr := Repair(h, oldID, newID)
		original, readErr := os.ReadFile(h.Path)
		require.NoError(t, readErr)
		require.Equal(t, bad, string(original))
		if err != nil {
			require.ErrorIs(t, err, agent.ErrNothingLeft)
			require.ErrorIs(t, repairErr, agent.ErrNothingLeft)
			require.Len(t, names(t, h.Path), 1)
			return
		}
		require.NoError(t, repairErr)
		again, err := Check(dir, newID)
		require.NoError(t, err)
		require.Equal(t, path, again.Path)
		require.Empty(t, again.Faults)
		copied, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, inOrder(wholeLines(renamed(bad)), wholeLines(string(copied))), "every whole line is there")
		require.True(t, inOrder(wholeLines(string(copied)), wholeLines(renamed(good))), "and no other")
	})
}

func drawTranscript(t *rapid.T) string {
	text := rapid.StringN(0, 20, -1)
	var b strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "lines") {
		var content any
		kind := rapid.SampledFrom([]string{"mode", "user", "assistant"}).Draw(t, "kind")
		switch kind {
		case "user":
			content = text.Draw(t, "prompt")
		case "assistant":
			content = []map[string]string{{"type": "text", "text": text.Draw(t, "answer")}, {"type": "text", "text": "{}"}}
		}
		line, err := json.Marshal(map[string]any{"type": kind, "sessionId": oldID, "message": map[string]any{"content": content}})
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// wholeLines are the lines of a transcript that are whole, found in another way than the code does.
// NULs and a cut may by chance leave a block of a message as a line; Claude Code passes such types,
// and so does this.
func wholeLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		var v struct{ Type string }
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &v) != nil {
			continue
		}
		if v.Type == "user" || v.Type == "assistant" || v.Type == "mode" {
			all = append(all, line)
		}
	}
	return all
}

// inOrder reports whether all contains the lines of some in the same order.
func inOrder(some, all []string) bool {
	for _, line := range all {
		if len(some) > 0 && some[0] == line {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// BenchmarkRepair shows that a copy is made at the pace of a JSON parser.
func BenchmarkRepair(b *testing.B) {
	line := ours(reply("m", strings.Repeat("some words of an answer ", 200)))
	content := bytes.Repeat([]byte(line), 20<<20/len(line))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		require.NoError(b, copyWhole(&bytes.Buffer{}, bytes.NewReader(content), oldID, newID))
	}
}
