package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// home is a ccbot of a test without a bot.
type home struct {
	dir, projects string
	environ       []string
}

func homeWith(t *testing.T, settings string, records ...session.Record) home {
	t.Helper()
	dir := stateWith(t, records...)
	h := home{dir: dir, projects: filepath.Join(dir, ".claude", "projects"),
		environ: []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir), "PATH=" + os.Getenv("PATH")}}
	if settings != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot.env"), []byte(settings), 0o600))
	}
	return h
}

const secretSettings = "TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1,2\nIDLE_ARCHIVE_AFTER=2h\nANTHROPIC_API_KEY=sk-sesame-open\nCLAUDE_FLAGS='--append-system-prompt hunter2'\n" +
	"VOICE_COMMAND='curl -H swordfish https://x'\nCCBOT_CONTINUE_TEXT=\"go\non\"\n"

// moving is a ccbot with an open session and an archived one, whose conversations are there.
func moving(t *testing.T) home {
	t.Helper()
	h := homeWith(t, secretSettings, one(1, "api", func(r *session.Record) {
		r.State, r.EndedAt, r.Dir, r.Prompts = session.Running, time.Time{}, "/gone/api", []string{"7"}
		r.Binding = &session.Binding{Agent: process.Identity{PID: 4123, Start: 5}}
		r.Cursors = []talk.Cursor{{Path: "/home/other/.claude/projects/-gone-api/" + r.AgentSessionID.String() + ".jsonl"}}
	}), one(2, "web", func(r *session.Record) { r.State, r.Dir = session.Archived, "/" }))
	require.NoError(t, os.MkdirAll(filepath.Join(h.projects, "-gone-api"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.projects, "-gone-api", one(1, "api").AgentSessionID.String()+".jsonl"), []byte("{}\n"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "chats"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "chats", "7-0.json"), []byte(`{"version":1,"settings":{"language":"ru"}}`), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "inbox"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "inbox", "7.json"), []byte(`{"text":"a prompt"}`), 0o600))
	return h
}

// unpacked has the files of a backup.
func unpacked(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	gz, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	all, archive := make(map[string]string), tar.NewReader(gz)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		all[h.Name] = string(content)
	}
}

// TestP9_BackupHasNoSecret: no token, no key of an agent, no prompt; the file is its owner's.
func TestP9_BackupHasNoSecret(t *testing.T) {
	h := moving(t)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	code, out, errs := ccbot(h.environ, "backup", file, "--transcripts")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "2 sessions, 1 chat, 2 settings, 1 conversation\nnot in it (secrets, command lines, which may contain one, values of several lines, and what only one machine has): "+
		"ANTHROPIC_API_KEY, CCBOT_CONTINUE_TEXT, CLAUDE_FLAGS, TELEGRAM_BOT_TOKEN, VOICE_COMMAND\n")
	assert.Contains(t, out, "1 session still open")
	all := fmt.Sprint(unpacked(t, file))
	for _, secret := range []string{goodToken, "AAsecret", "sk-sesame", "hunter2", "swordfish", "a prompt"} {
		assert.NotContains(t, all, secret)
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	code, _, errs = ccbot(h.environ, "backup", file)
	assert.Equal(t, exit.Failure, code, "a file that is there stays")
	assert.Contains(t, errs, "file exists")
	code, _, errs = ccbot(h.environ, "backup", file+"2")
	require.Equal(t, exit.OK, code, errs)
	assert.NotContains(t, fmt.Sprint(unpacked(t, file+"2")), "transcripts/", "conversations are on request")
}

// TestBackupHasSettingsOfFile: the environment plays no part, and the output names what is omitted.
func TestBackupHasSettingsOfFile(t *testing.T) {
	h := homeWith(t, "LOG_LEVEL=warn\nCCBOT_MACHINE=mill\nCCBOT_DIR=/elsewhere\n", one(1, "api"))
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	code, out, errs := ccbot(append(h.environ, "LOG_LEVEL=debug", "CCBOT_MACHINE=here"), "backup", file)
	require.Equal(t, exit.OK, code, errs)
	assert.JSONEq(t, `{"LOG_LEVEL": "warn"}`, unpacked(t, file)["settings.json"])
	assert.Contains(t, out, ": CCBOT_MACHINE\n")

	h.environ = slices.DeleteFunc(h.environ, func(v string) bool { return strings.HasPrefix(v, "CCBOT_DIR=") })
	require.NoError(t, os.Rename(h.dir, h.dir+"-state"))
	require.NoError(t, os.MkdirAll(h.dir, 0o700))
	require.NoError(t, os.Rename(h.dir+"-state", filepath.Join(h.dir, ".ccbot")))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, ".ccbot", "ccbot.env"), []byte("CCBOT_DIR="+filepath.Join(h.dir, ".ccbot")+"\n"), 0o600))
	code, out, errs = ccbot(h.environ, "backup", file+"2")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, ": CCBOT_DIR\n")
}

func TestRestoreOfAnotherMachine(t *testing.T) {
	from := moving(t)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", "--transcripts", file)
	require.Equal(t, exit.OK, code, errs)
	to := homeWith(t, "ALLOWED_USERS=3\n")
	require.NoError(t, os.WriteFile(filepath.Join(to.dir, "instance"), []byte("0123456789ab\n"), 0o600))
	code, out, errs := ccbot(to.environ, "recover", "--restore", file)
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "restored: 2 sessions, 1 chat, 1 conversation of the backup")
	assert.Contains(t, out, "asks for the token of bot 123456789, and starts it")
	assert.Contains(t, out, "written into ccbot.env: IDLE_ARCHIVE_AFTER\nkept as it is set here: ALLOWED_USERS\n")
	assert.Contains(t, out, "by the path of its folder, so bring them to the same path:\n  /gone/api\n")
	code, out, errs = ccbot(to.environ, "list", "--all", "--json")
	require.Equal(t, exit.OK, code, errs)
	assert.Regexp(t, `(?s)"name": "api".*"state": "lost"`, out)
	assert.Regexp(t, `(?s)"name": "web".*"state": "archived"`, out)
	settings, err := os.ReadFile(filepath.Join(to.dir, "ccbot.env"))
	require.NoError(t, err)
	assert.Equal(t, "ALLOWED_USERS=3\nIDLE_ARCHIVE_AFTER=2h\n", string(settings))
	instance, err := os.ReadFile(filepath.Join(to.dir, "instance"))
	require.NoError(t, err)
	assert.Regexp(t, `^[0-9a-f]{12}\n$`, string(instance))
	assert.NotEqual(t, "0123456789ab\n", string(instance))
	record, err := os.ReadFile(filepath.Join(to.dir, "sessions", idOf(1).String()+".json"))
	require.NoError(t, err)
	assert.Contains(t, string(record), `"path":"`+to.projects+`/-gone-api/`)
	assert.NotContains(t, string(record), `"binding"`)
	assert.NotContains(t, string(record), `"prompts"`)
	said := filepath.Join(to.projects, "-gone-api", one(1, "api").AgentSessionID.String()+".jsonl")
	for path, mode := range map[string]os.FileMode{said: 0o600, filepath.Dir(said): os.ModeDir | 0o700, filepath.Join(to.dir, "sessions"): os.ModeDir | 0o700,
		filepath.Join(to.dir, "sessions", idOf(2).String()+".json"): 0o600, filepath.Join(to.dir, "chats", "7-0.json"): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
	}
	code, _, errs = ccbot(to.environ, "recover", "--restore", file)
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "this ccbot has sessions")
}

// packed is an archive of headers with their contents.
func packed(t *testing.T, all ...part) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for _, one := range all {
		if one.Typeflag == 0 {
			one.Typeflag = tar.TypeReg
		}
		if one.Typeflag == tar.TypeReg && one.Size == 0 {
			one.Size = int64(len(one.content))
		}
		require.NoError(t, w.WriteHeader(&one.Header))
		_, _ = w.Write([]byte(one.content))
	}
	_ = w.Flush()
	if len(all) > 0 && all[len(all)-1].Size == int64(len(all[len(all)-1].content)) {
		require.NoError(t, w.Close())
	}
	require.NoError(t, gz.Close())
	return out.Bytes()
}

type part struct {
	tar.Header
	content string
}

func file(name, content string) part { return part{tar.Header{Name: name, Mode: 0o600}, content} }

// TestP9_HostileBackupsAreRefused: before anything is written.
func TestP9_HostileBackupsAreRefused(t *testing.T) {
	first := file("ccbot-backup.json", `{"version":1,"ccbot":"1","host":"h","at":"2026-01-02T03:04:05Z"}`)
	record := "sessions/" + idOf(1).String() + ".json"
	whole := packed(t, first)
	reading := func(path string) string {
		data, err := json.Marshal(one(1, "api", func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path}} }))
		require.NoError(t, err)
		return string(data)
	}
	id := idOf(1).String()
	tests := []struct {
		name string
		data []byte
	}{
		{"an absolute path", packed(t, first, file("/etc/cron.d/x", "x"))},
		{"a path out of the folder", packed(t, first, file("sessions/../../x.json", "{}"))},
		{"a path out of the conversations", packed(t, first, file("transcripts/../"+idOf(1).String()+".jsonl", "x"))},
		{"a hidden folder", packed(t, first, file("transcripts/.ssh/"+idOf(1).String()+".jsonl", "x"))},
		{"a symbolic link", packed(t, first, part{tar.Header{Name: record, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""})},
		{"a hard link", packed(t, first, part{tar.Header{Name: record, Typeflag: tar.TypeLink, Linkname: "ccbot-backup.json"}, ""})},
		{"a device", packed(t, first, part{tar.Header{Name: record, Typeflag: tar.TypeChar}, ""})},
		{"a folder", packed(t, first, part{tar.Header{Name: "sessions/", Typeflag: tar.TypeDir, Mode: 0o777}, ""})},
		{"a name twice", packed(t, first, file("chats/7-0.json", "{}"), file("chats/7-0.json", "{}"))},
		{"a second manifest", packed(t, first, first)},
		{"no manifest", packed(t, file("chats/7-0.json", "{}"))},
		{"a file of ccbot that is in no backup", packed(t, first, file("instance", "0123456789ab\n"))},
		{"the settings file", packed(t, first, file("ccbot.env", "CLAUDE_COMMAND=/tmp/x\n"))},
		{"a token", packed(t, first, file("settings.json", `{"TELEGRAM_BOT_TOKEN":"`+goodToken+`"}`))},
		{"a variable of agents", packed(t, first, file("settings.json", `{"ANTHROPIC_BASE_URL":"http://x"}`))},
		{"a command line", packed(t, first, file("settings.json", `{"VOICE_COMMAND":"/tmp/x"}`))},
		{"a record that reads another file", packed(t, first, file(record, reading("/etc/passwd")))},
		{"a record that reads above the conversations", packed(t, first, file(record, reading("/p/../"+id+".jsonl")))},
		{"a record that reads a hidden folder", packed(t, first, file(record, reading("/p/.ssh/"+id+".jsonl")))},
		{"two lines in a setting", packed(t, first, file("settings.json", `{"LOG_LEVEL":"info\nTELEGRAM_BOT_TOKEN=x"}`))},
		{"a record of another session", packed(t, first, file("sessions/"+idOf(2).String()+".json", `{"version":2}`))},
		{"a record that is none", packed(t, first, file(record, "{"))},
		{"a size that is a lie", packed(t, first, part{tar.Header{Name: "chats/7-0.json", Size: 1000}, "{}"})},
		{"a file that is too large", packed(t, first, file("settings.json", strings.Repeat(" ", 64<<10+1)))},
		{"a newer version", packed(t, file("ccbot-backup.json", `{"version":2}`))},
		{"an archive that is cut", whole[:len(whole)-9]},
		{"bytes after its end", append(bytes.Clone(whole), "more"...)},
		{"a second archive after its end", append(bytes.Clone(whole), packed(t, file("chats/7-0.json", "{}"))...)},
		{"nothing", packed(t)},
		{"no archive", []byte("hello")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := homeWith(t, "ALLOWED_USERS=3\n")
			path := filepath.Join(t.TempDir(), "b.tar.gz")
			require.NoError(t, os.WriteFile(path, tt.data, 0o600))
			code, out, errs := ccbot(h.environ, "recover", "--restore", path)
			assert.Equal(t, exit.Failure, code, out)
			assert.Contains(t, errs, "it is not a backup that ccbot can restore")
			for _, name := range []string{"chats", "backups", "instance"} {
				assert.NotContains(t, names(t, h.dir), name)
			}
			assert.Empty(t, names(t, filepath.Join(h.dir, "sessions")))
			settings, err := os.ReadFile(filepath.Join(h.dir, "ccbot.env"))
			require.NoError(t, err)
			assert.Equal(t, "ALLOWED_USERS=3\n", string(settings))
			assert.NoDirExists(t, h.projects)
		})
	}
}

func TestRestoreNeedsTheLock(t *testing.T) {
	from, to := moving(t), homeWith(t, "")
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", path)
	require.Equal(t, exit.OK, code, errs)
	_, held, err := statefolder.Take(t.Context(), to.dir, "run", 0, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer held.Close()
	code, _, errs = ccbot(to.environ, "recover", "--restore", path)
	assert.Equal(t, exit.Running, code, errs)
	assert.Empty(t, names(t, filepath.Join(to.dir, "sessions")))
}

// TestBackupLeavesOutWhatRestoreRefuses: such files are counted, and the others can be restored.
func TestBackupLeavesOutWhatRestoreRefuses(t *testing.T) {
	from := moving(t)
	require.NoError(t, os.WriteFile(filepath.Join(from.dir, "chats", "8-0.json"), []byte("{"), 0o600))
	data, err := json.Marshal(one(3, "odd", func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: "/etc/passwd"}} }))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(from.dir, "sessions", idOf(3).String()+".json"), data, 0o600))
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, out, errs := ccbot(from.environ, "backup", path)
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "2 sessions, 1 chat, ")
	assert.Contains(t, out, "left out, because a restore would refuse them: 2 files\n")
	code, _, errs = ccbot(homeWith(t, "").environ, "recover", "--restore", path)
	assert.Equal(t, exit.OK, code, errs)
}

// TestUnrestorableBackupLeavesNoFile: as if one file of it were too large.
func TestUnrestorableBackupLeavesNoFile(t *testing.T) {
	from := homeWith(t, "CCBOT_ROOTS="+strings.Repeat("/x", 40_000)+"\n")
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", path)
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "the new backup cannot be restored: it is not a backup that ccbot can restore: settings.json has ")
	assert.NoFileExists(t, path)
}

func TestBackupOfAnotherBotIsRefused(t *testing.T) {
	from, to := moving(t), homeWith(t, "TELEGRAM_BOT_TOKEN=77:"+strings.Repeat("A", 30)+"\n")
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", path)
	require.Equal(t, exit.OK, code, errs)
	code, _, errs = ccbot(to.environ, "recover", "--restore", path)
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, `the backup is of another bot: its bot has the id "123456789", and this ccbot is of the bot 77`)
	assert.NotContains(t, names(t, to.dir), "chats")
	assert.Empty(t, names(t, filepath.Join(to.dir, "sessions")))
}

// TestRestoreBesideChatsKeepsNoBot: chats that are there are of a bot whose token only the service
// may have; that bot still starts.
func TestRestoreBesideChatsKeepsNoBot(t *testing.T) {
	from, to := moving(t), homeWith(t, "")
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", path)
	require.Equal(t, exit.OK, code, errs)
	require.NoError(t, os.MkdirAll(filepath.Join(to.dir, "chats"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to.dir, "chats", "8-0.json"), []byte("{}"), 0o600))
	code, _, errs = ccbot(to.environ, "recover", "--restore", path)
	require.Equal(t, exit.OK, code, errs)
	assert.NoError(t, statefolder.CheckBot(to.dir, "77"))
}

// TestRestoredFoldersBackupNamesBot: also before the folder has a token.
func TestRestoredFoldersBackupNamesBot(t *testing.T) {
	from, to := moving(t), homeWith(t, "")
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	code, _, errs := ccbot(from.environ, "backup", path)
	require.Equal(t, exit.OK, code, errs)
	code, _, errs = ccbot(to.environ, "recover", "--restore", path)
	require.Equal(t, exit.OK, code, errs)
	code, _, errs = ccbot(to.environ, "backup", path+"2")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, unpacked(t, path+"2")["ccbot-backup.json"], `"bot": "123456789"`)
}
