package upgrade

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/recovery"
)

// older is a folder that programs of version 2 have written.
var older = filepath.Join("..", "running", "testdata", "older")

// written is when a file of the folder was written.
var written = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

var discard = slog.New(slog.DiscardHandler)

// copied returns a copy of that folder, with a file that is damaged.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(older)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cards", "torn.json"), []byte(`{"look":`), 0o600))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chtimes(path, written, written)
		}
		return err
	}))
	return dir
}

// filesOf are the files below a folder, without the copy of an upgrade.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == recovery.UpgradeCopy(dir, 2) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		assert.True(t, info.ModTime().Equal(written), "%s keeps its time", path)
		data, err := os.ReadFile(path)
		within, _ := filepath.Rel(dir, path)
		all[within] = string(data)
		return err
	}))
	return all
}

// TestP8_InterruptedUpgradeIsRepeated: a fault at any access to the disk leaves a folder that a second
// call brings to the same end, and the copy has each file as it was before the first call.
func TestP8_InterruptedUpgradeIsRepeated(t *testing.T) {
	whole := copied(t)
	before := filesOf(t, whole)
	require.NoError(t, Step(whole, 2, discard))
	want := filesOf(t, whole)
	require.NotEqual(t, before, want)
	assert.Equal(t, before[filepath.Join("cards", "torn.json")], want[filepath.Join("cards", "torn.json")], "its store reports it")
	require.NoError(t, Step(whole, 2, discard))
	assert.Equal(t, want, filesOf(t, whole), "a step that was done changes nothing")

	broken := errors.New("broken")
	for at, failed := 0, true; failed; at += 7 {
		dir := copied(t)
		count := 0
		failed = false
		end := disk.Fail(func(_, path string) error {
			if !strings.HasPrefix(path, dir) {
				return nil
			}
			if count++; count > at {
				failed = true
				return broken
			}
			return nil
		})
		err := Step(dir, 2, discard)
		end()
		if failed {
			require.ErrorIs(t, err, broken)
			require.NoError(t, Step(dir, 2, discard))
		}
		require.Equal(t, want, filesOf(t, dir), "after the fault %d", at)
		copies := filesOf(t, recovery.UpgradeCopy(dir, 2))
		require.NotEmpty(t, copies)
		for file, data := range copies {
			require.Equal(t, before[file], data, file)
		}
	}
}

// TestUpgradeKeepsTimes: the time of a removed record's copy says when it was removed.
// TestP8_SecondUpgradeHasItsOwnCopy: a person has gone back to the older ccbot, which wrote again, and upgrades once more.
func TestP8_SecondUpgradeHasItsOwnCopy(t *testing.T) {
	dir := copied(t)
	require.NoError(t, Step(dir, 2, discard))
	again := filepath.Join("asks", "again.json")
	require.NoError(t, os.WriteFile(filepath.Join(dir, again), []byte(`{"state":"open"}`), 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(dir, again), written, written))
	require.NoError(t, Step(dir, 2, discard))
	assert.Equal(t, `{"state":"open"}`, filesOf(t, recovery.UpgradeCopy(dir, 2))[again])
	assert.JSONEq(t, `{"stage":"open"}`, filesOf(t, dir)[again])
}

// TestWayBackIsAsDocumented runs the commands of the page: every file is as the older ccbot wrote it.
func TestWayBackIsAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	_, commands, found := strings.Cut(string(page), "```sh\nccbot service stop\n")
	require.True(t, found)
	commands, _, _ = strings.Cut(commands, "```")
	home := t.TempDir()
	dir := filepath.Join(home, ".ccbot")
	require.NoError(t, os.Rename(copied(t), dir))
	before := filesOf(t, dir)
	require.NoError(t, Step(dir, 2, discard))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", "later.json"), nil, 0o600))
	sh := exec.Command("sh", "-euc", commands)
	sh.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	out, err := sh.CombinedOutput()
	require.NoError(t, err, "%s", out)
	format, err := os.ReadFile(filepath.Join(dir, "format"))
	require.NoError(t, err)
	assert.Equal(t, "2\n", string(format))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "format"), written, written))
	after := filesOf(t, dir)
	before["format"], before["cards/torn.json"] = "2\n", after["cards/torn.json"]
	assert.Equal(t, before, after)
}

// TestP8_FolderMayHaveAnyName: the signs of a pattern in its name are signs of a name.
func TestP8_FolderMayHaveAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]c*", "state")
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	require.NoError(t, os.Rename(copied(t), dir))
	require.NoError(t, Step(dir, 2, discard))
	assert.DirExists(t, recovery.UpgradeCopy(dir, 2))
}

func TestRenamedKeys(t *testing.T) {
	full, err := os.ReadFile(filepath.Join("testdata", "record.json"))
	require.NoError(t, err)
	record := string(full)
	for _, keys := range [][2]string{{"claude_session_id", "agent_session_id"}, {"earlier_claude_ids", "earlier_session_ids"}, {"asked_moment", "requested_moment"},
		{"haunted", "growth_reported"}, {"below", "descendants"}, {"hook_sha256", "hook_digest"}, {"wish", "mode_request"}, {"argv_sha256", "argv_digest"}} {
		require.Equal(t, 1, strings.Count(record, `"`+keys[0]+`"`), keys[0])
		record = strings.Replace(record, `"`+keys[0]+`"`, `"`+keys[1]+`"`, 1)
	}
	record = strings.Replace(record, "\n  \"agent\": \"", "\n  \"agent_name\": \"", 1)
	for _, tt := range []struct{ file, was, is string }{
		{"sessions/a.json", string(full), record},
		{"sessions/a.json", `{"haunted":true,"growth_reported":false}`, `{"haunted":true,"growth_reported":false}`},
		{"sessions/a.json", `["haunted"]`, `["haunted"]`},
		{"backups/purged/a.json", `{"agent":"codex","big":12345678901234567890.10}`, `{"agent_name":"codex","big":12345678901234567890.10}`},
		{"backups/purged/a.loop", `{"typed":{"asked":true},"asked":1}`, `{"typed":{"undecided":true},"asked":1}`},
		{"loops/a.json", `{"typed":{"asked":true},"before":{"asked":true}}`, `{"typed":{"undecided":true},"before":{"undecided":true}}`},
		{"schedules/a.json", `{"run":{"typed":{"asked":true}},"agent":"x"}`, `{"run":{"typed":{"undecided":true}},"agent":"x"}`},
		{"cards/a.json", `{"kind":"page","look":{"options":[[{"value":"to:new/{\"v\":\"use\",\"dir\":\"%2Fhome%2Fa%20b%25\"}"}]]},"payload":{"at":"changes/{\"file\":\"x%2Fy%22z\"}"},"n":12345678901234567890.10}`,
			`{"kind":"page","content":{"options":[[{"value":"to:new/{\"v\":\"use\",\"dir\":\"/home/a b%\"}"}]]},"payload":{"at":"changes/{\"file\":\"x/y\\\"z\"}"},"n":12345678901234567890.10}`},
		{"cards/a.json", `{"kind":"page","content":{},"payload":{"at":"new/{\"dir\":\"/a%20b\"}"}}`, `{"kind":"page","content":{},"payload":{"at":"new/{\"dir\":\"/a%20b\"}"}}`},
		{"prompts/a.json", `{"repeated":true}`, `{"repeats":true}`},
		{"prompts/a.delivered", `{"repeated":true}`, `{"repeats":true}`},
		{"inbox/a.json", `{"aged":true,"told":["x"],"told_edit":"y","repeated":true}`, `{"stale":true,"reported":["x"],"reported_edit":"y","repeated":true}`},
		{"inbox/a.done", `{"aged":true}`, `{"stale":true}`},
		{"asks/a.json", `{"state":"open","desk":true,"outcome":{"said":"x"},"request":{"asked":"now"}}`,
			`{"stage":"open","in_terminal":true,"outcome":{"reply":"x"},"request":{"asked":"now"}}`},
		{"chats/moved.json", `{"told":[1]}`, `{"reported":[1]}`},
		{"chats/1-0.json", `{"shown":{},"had":[],"asked_of":{},"topic":{"over":true}}`, `{"turns":{},"unread":[],"last_prompted":{},"topic":{"ended":true}}`},
		{"windows.json", `{"windows":[{"told":true},{}]}`, `{"windows":[{"reported":true},{}]}`},
		{"cards/a.json", `{"kind":"link","look":{"asked":"x"},"asked":"y","below":[],"payload":{"mark":"z"}}`,
			`{"kind":"link","content":{"waits_since":"x"},"waits_since":"y","extra_options":[],"payload":{"mark":"z"}}`},
		{"cards/a.json", `{"kind":"page","payload":{"heard":1}}`, `{"kind":"page","payload":{"reply":1}}`},
		{"cards/a.json", `{"kind":"idle","payload":{"left_out":1}}`, `{"kind":"idle","payload":{"spared":1}}`},
		{"cards/a.json", `{"kind":"stop-asked","payload":{"mark":1}}`, `{"kind":"stop-asked","payload":{"fingerprint":1}}`},
		{"cards/a.json", `{"kind":"screenshot","payload":{"mark":1}}`, `{"kind":"screenshot","payload":{"fingerprint":1}}`},
		{"cards/a.json", `{"kind":"where","payload":{"folder":1}}`, `{"kind":"where","payload":{"dir":1}}`},
		{"cards/a.json", `{"kind":"turn","payload":{"asked":1,"behind":2,"mark":3,"said":4}}`,
			`{"kind":"turn","payload":{"submitted":1,"read_up_to":2,"snapshot":3,"responded":4}}`},
	} {
		got, err := rename(tt.file, []byte(tt.was))
		require.NoError(t, err)
		assert.JSONEq(t, tt.is, string(got), tt.file)
		if strings.Contains(tt.was, "12345") {
			assert.Contains(t, string(got), "12345678901234567890.10", "a value stays as it is written")
		}
	}
	for _, file := range []string{"sessions/a.json", "cards/a.json", "backups/a.tar.gz"} {
		_, err := rename(file, []byte(`{"torn`))
		assert.Error(t, err, file)
	}
}

// TestNewKeysAreThoseOfFields: each new key is the key of a field of the type that reads it, and no
// former key is.
func TestNewKeysAreThoseOfFields(t *testing.T) {
	for _, tt := range []struct {
		keys    map[string]string
		source  string
		structs string
	}{
		{record.keys, "internal/session/record.go", "Record LastEnd"},
		{record.inside["binding"].keys, "internal/session/record.go", "Binding"},
		{plan.inside["typed"].keys, "lifecycle/outcome/outcome.go", "Prompt"},
		{prompt.keys, "internal/prompts/prompt.go", "Prompt"},
		{entry.keys, "bot/inbox/entry.go", "Entry"},
		{ask.keys, "bot/ask/state.go", "State"},
		{ask.inside["outcome"].keys, "bot/ask/state.go", "Outcome"},
		{conversation.keys, "bot/conversation/store.go", "file"},
		{conversation.inside["topic"].keys, "bot/conversation/book.go", "Topic"},
		{movedChats.keys, "bot/alias/table.go", "file"},
		{windows.inside["windows"].inside["*"].keys, "recovery/windows.go", "knownWindow"},
		{cardKeys, "bot/card/store.go", "record"},
		{cardLook.keys, "bot/card/content.go", "Content"},
		{payloads["page"].keys, "bot/chat/page.go", "pagePayload"},
		{payloads["idle"].keys, "bot/idle/idle.go", "together"},
		{payloads["stop-asked"].keys, "bot/questions/stop.go", "stop"},
		{payloads["screenshot"].keys, "bot/screenshot/screenshot.go", "payload"},
		{payloads["where"].keys, "bot/sessions/sessions.go", "unclear"},
		{payloads["turn"].keys, "bot/turn/state.go", "state"},
	} {
		keys := keysOf(t, filepath.Join("..", "..", "..", tt.source), strings.Fields(tt.structs))
		for former, key := range tt.keys {
			assert.Contains(t, keys, key, tt.source)
			assert.NotContains(t, keys, former, tt.source)
		}
		assert.NotEmpty(t, tt.keys, tt.source)
	}
}

// keysOf are the keys of the fields of structs.
func keysOf(t *testing.T, source string, structs []string) (keys []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	wanted := make(map[string]bool)
	for _, name := range structs {
		wanted[name] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || !wanted[spec.Name.Name] {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			if field.Tag != nil {
				tag, err := strconv.Unquote(field.Tag.Value)
				require.NoError(t, err)
				key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				keys = append(keys, key)
			}
		}
		return true
	})
	return keys
}
