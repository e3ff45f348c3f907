package running

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	accepted "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/recovery"
	"ccbot/schedule"
)

// olderFolder copies testdata/older, which programs of version 2 of the folder have written: sessions
// in several states, an open request, a loop, schedules, prompts, chats, cards and copies of records.
func olderFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "older"))))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		if err == nil {
			return os.Chmod(path, 0o600)
		}
		return err
	}))
	return dir
}

// TestP8_OlderFolderIsRead: the stores have all values of a folder of version 2 after an upgrade, and
// nothing is set aside. Each value that is in a file is compared with what its store has, so a key
// that lost its value is found whatever its name is.
func TestP8_OlderFolderIsRead(t *testing.T) {
	dir, log := olderFolder(t), slog.New(slog.DiscardHandler)
	_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, log)
	require.NoError(t, err)
	defer func() { assert.NoError(t, held.Close()) }()
	quarantine := filepath.Join(dir, "quarantine")

	has := make(map[string]any) // what the stores have, by the file
	records, err := session.Open(filepath.Join(dir, "sessions"), quarantine, time.Now, log, []string{"codex"})
	require.NoError(t, err)
	for _, r := range records.List() {
		whole, err := records.Whole(r.ID)
		require.NoError(t, err)
		has["sessions/"+r.ID.String()+".json"] = whole
	}
	purged, err := offline.Backups(dir).Purged([]string{"codex"})
	require.NoError(t, err)
	for _, p := range purged {
		has["backups/purged/"+p.Record.ID.String()+".json"] = p.Record
	}
	loops, err := loop.Read(filepath.Join(dir, "loops"), log)
	require.NoError(t, err)
	for _, l := range loops {
		has["loops/"+l.ID.String()+".json"] = l
	}
	prompts, err := accepted.Open(filepath.Join(dir, "prompts"), log)
	require.NoError(t, err)
	for _, name := range namesIn(t, dir, "prompts") {
		if p, as, err := prompts.Find(strings.TrimSuffix(name, filepath.Ext(name))); err == nil {
			assert.True(t, as == "" || "."+string(as) == filepath.Ext(name), name)
			has["prompts/"+name] = p
		}
	}
	in, err := inbox.OpenStore(filepath.Join(dir, "inbox"), log)
	require.NoError(t, err)
	for _, name := range namesIn(t, dir, "inbox") {
		key := strings.TrimSuffix(name, filepath.Ext(name))
		e, err := in.Load(key)
		if filepath.Ext(name) == ".done" {
			e, err = in.Finished(key)
		}
		if name != "numbers" {
			require.NoError(t, err, name)
			has["inbox/"+name] = e
		}
	}
	asks, err := ask.Open(filepath.Join(dir, "asks"), quarantine, log)
	require.NoError(t, err)
	for _, s := range asks.List() {
		has["asks/"+s.Request.ID+".json"] = s
	}
	chats, err := conversation.Open(filepath.Join(dir, "chats"), quarantine, log)
	require.NoError(t, err)
	for _, at := range chats.All() { // its file is the only view of all that it has
		name := fmt.Sprintf("chats/%d-%d.json", at.ChatID, at.ThreadID)
		require.NoError(t, chats.SetCurrent(at, chats.Current(at)))
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		has[name] = json.RawMessage(data)
	}
	cards, err := card.Open(filepath.Join(dir, "cards"), quarantine, outbox.New(nil, "", filepath.Join(dir, "outbox"), log),
		func(session.Conversation) bool { return true }, log)
	require.NoError(t, err)
	looks := looksOf(t, filepath.Join("testdata", "older", "cards"))
	for kind, byKey := range looks {
		for _, c := range card.NewKind[json.RawMessage](cards, kind, nil).List() {
			assert.ElementsMatch(t, valuesOf(t, byKey[c.Key]), valuesOf(t, c.Content), "the content of card %s %s", kind, c.Key)
			delete(byKey, c.Key)
		}
		assert.Empty(t, byKey, "cards of the kind %s", kind)
	}
	assert.NoDirExists(t, quarantine)

	compared := 0
	for _, folder := range []string{"sessions", "backups/purged", "loops", "prompts", "inbox", "asks", "chats"} {
		for _, name := range namesIn(t, filepath.Join("testdata", "older"), folder) {
			if name == "numbers" || name == "settled" {
				continue
			}
			file := folder + "/" + name
			want, err := os.ReadFile(filepath.Join("testdata", "older", file))
			require.NoError(t, err)
			require.Contains(t, has, file, "no store has it")
			assert.ElementsMatch(t, valuesOf(t, json.RawMessage(want)), valuesOf(t, has[file]), file)
			compared++
		}
	}
	assert.Greater(t, compared, 25)
	plans, err := schedule.Read(filepath.Join(dir, "schedules"), log)
	require.NoError(t, err)
	assert.Len(t, plans, 2)
	backups, err := offline.Backups(dir).List()
	require.NoError(t, err)
	require.Len(t, backups, 1)
	require.NoError(t, backups[0].Broken)
	_, err = offline.Backups(dir).Restore(t.Context(), backups[0].Name)
	require.NoError(t, err)
	records, err = session.Open(filepath.Join(dir, "sessions"), quarantine, time.Now, log, []string{"codex"})
	require.NoError(t, err)
	assert.Len(t, records.List(), 6)
	assert.Empty(t, records.Unloaded(), "the copy of the records has the new names too")
	sameFiles(t, filepath.Join("testdata", "older"), recovery.UpgradeCopy(dir, 2))
}

// sameFiles checks that each copied file is the one that was there.
func sameFiles(t *testing.T, was, copied string) {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir(copied, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(copied, path)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(was, within))
		require.NoError(t, err)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), within)
		count++
		return nil
	}))
	assert.Greater(t, count, 40)
}

func namesIn(t *testing.T, dir, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	require.NoError(t, err)
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// looksOf are the contents of the cards of version 2, by kind and key.
func looksOf(t *testing.T, dir string) map[string]map[string]json.RawMessage {
	t.Helper()
	all := make(map[string]map[string]json.RawMessage)
	for _, name := range namesIn(t, dir, ".") {
		var c struct {
			Kind, Key string
			Look      json.RawMessage
			Closed    bool
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &c))
		if c.Closed {
			continue
		}
		if all[c.Kind] == nil {
			all[c.Kind] = make(map[string]json.RawMessage)
		}
		all[c.Kind][c.Key] = c.Look
	}
	return all
}

// valuesOf are the values of a JSON object without their keys. A store keeps what it does not know for
// a later program, so nothing may be there.
func valuesOf(t *testing.T, of any) (values []string) {
	t.Helper()
	if v := reflect.ValueOf(of); v.Kind() == reflect.Struct {
		if unknown := v.FieldByName("unknown"); unknown.IsValid() {
			assert.Zero(t, unknown.Len(), "keys that no field has: %v", unknown)
		}
	}
	data, err := json.Marshal(of)
	require.NoError(t, err)
	var all any
	require.NoError(t, json.Unmarshal(data, &all))
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, one := range v {
				add(one)
			}
		case []any:
			for _, one := range v {
				add(one)
			}
		default:
			values = append(values, fmt.Sprintf("%v", v))
		}
	}
	add(all)
	slices.Sort(values)
	return values
}
