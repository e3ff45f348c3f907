package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/importer"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/session"
)

// formerWorld is a machine on which the Python ccbot ran.
type formerWorld struct {
	t       *testing.T
	home    string
	state   string // of the Python ccbot
	environ []string
}

func newFormer(t *testing.T) formerWorld {
	t.Helper()
	home := t.TempDir()
	w := formerWorld{t: t, home: home, state: filepath.Join(home, "former"), environ: []string{"HOME=" + home, "CCBOT_DIR=" + filepath.Join(home, "new"),
		"CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(home), "PATH=" + os.Getenv("PATH"),
		"TELEGRAM_BOT_TOKEN=1:" + strings.Repeat("a", 35), "ALLOWED_USERS=7,8"}}
	for _, dir := range []string{w.state, filepath.Join(home, "shop"), filepath.Join(home, ".claude", "projects", "-shop")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	return w
}

func (w formerWorld) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.state, name), []byte(strings.ReplaceAll(text, "HOME", w.home)), 0o600))
}

// said writes a conversation, and returns its id.
func (w formerWorld) said(name string) string {
	w.t.Helper()
	return w.holds(uuid.NewSHA1(uuid.Nil, []byte(name)))
}

// holds writes the conversation of an id.
func (w formerWorld) holds(conversation uuid.UUID) string {
	w.t.Helper()
	id := conversation.String()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.home, ".claude", "projects", "-shop", id+".jsonl"), []byte("{\"type\":\"user\"}\nhalf"), 0o600))
	return id
}

func (w formerWorld) records() []session.Record {
	w.t.Helper()
	d, err := offline.Open(w.environ, os.Stderr)
	require.NoError(w.t, err)
	return d.Store.List()
}

func TestImportMakesRecordsOnce(t *testing.T) {
	w := newFormer(t)
	w.write("state.json", `{"sessions":{
		"a1":{"name":"shop","window_id":"@3","workdir":"HOME/shop","state":"active","claude_session_id":"`+w.said("shop")+`"},
		"a2":{"name":"twice","workdir":"HOME/shop","claude_session_id":"`+w.said("shop")+`"},
		"a3":{"name":"windowed","window_id":"@5","workdir":"HOME/shop","claude_session_id":null},
		"b1":{"name":"codex","workdir":"HOME/shop","backend":"codex","claude_session_id":"x"},
		"b2":{"name":"gone","workdir":"HOME/none","claude_session_id":"`+w.said("gone")+`"},
		"b3":{"name":"mute","workdir":"HOME/shop","claude_session_id":"`+uuid.NewString()+`"},
		"b4":{"name":"nobodys","workdir":"HOME/shop","claude_session_id":"`+w.said("nobodys")+`"},
		"b5":{"name":"strange\u001b[2J","workdir":"HOME/shop","claude_session_id":"`+w.said("strange")+`"},
		"b6":{"name":"never","workdir":"HOME/shop","claude_session_id":""}},
		"active_sessions":{"7":"a1","9":"b5"},"active_history":{"7":["a1","a2","b2","b3"],"8":["a3"]},"user_settings":{"7":{"language":"en"}}}`)
	w.write("session_map.json", `{"ccbot:@5":{"session_id":"`+w.said("windowed")+`","cwd":"HOME/shop","window_name":"windowed","backend":"claude"},
		"ccbot:@6":{"session_id":"`+w.said("unlisted")+`","cwd":"HOME/shop","window_name":"unlisted"}}`)

	code, out, errs := ccbot(w.environ, "import", w.state)
	require.Equal(t, exit.OK, code, errs)
	for _, want := range []string{"import  shop  ", "left    twice ", "its conversation is known already", "import  windowed  ", "it is of codex", "its folder cannot be used",
		"its conversation is not found", "left    unlisted ", "no person is known for it; --owner names one", "it is of 9, who is not in ALLOWED_USERS", "its conversation is not known",
		"nothing was changed: --yes makes 2 records"} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "\x1b")
	assert.NoDirExists(t, filepath.Join(w.home, "new"), "a dry run makes nothing")

	code, out, errs = ccbot(w.environ, "import", w.state, "--yes")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "2 records made")
	all := w.records()
	require.Len(t, all, 2)
	for _, r := range all {
		assert.Equal(t, session.Archived, r.State)
		assert.Equal(t, filepath.Join(w.home, "shop"), r.Dir)
		assert.Equal(t, session.Conversation{ChatID: r.Owner}, r.Conversation)
		assert.Equal(t, map[string]int64{"shop": 7, "windowed": 8}[r.Name], r.Owner)
		assert.EqualValues(t, len("{\"type\":\"user\"}\n"), r.Cursors[0].Offset, "what was said is not shown again")
		assert.Zero(t, r.EndedMoment, "no process counts as a leftover")
		assert.EqualValues(t, 7, r.ID.Version(), "its time is at its beginning, as in all ids of sessions")
	}

	code, out, errs = ccbot(w.environ, "import", w.state, "--yes")
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "there is nothing to import")
	assert.Len(t, w.records(), 2)
}

// TestImportPlanNeedsNoToken: it only reads.
func TestImportPlanNeedsNoToken(t *testing.T) {
	w := newFormer(t)
	w.write("state.json", `{"sessions":{"a1":{"name":"hers","workdir":"HOME/shop","claude_session_id":"`+w.said("hers")+`"}},"active_sessions":{"7":"a1"}}`)
	w.environ = append(w.environ, "TELEGRAM_BOT_TOKEN=")
	code, out, errs := ccbot(w.environ, "import", w.state)
	require.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "hers")
	assert.Empty(t, w.records())
	code, _, errs = ccbot(w.environ, "import", w.state, "--yes")
	assert.Equal(t, exit.Misuse, code, errs)
}

// The owner gets the sessions without a known person.
func TestImportOwner(t *testing.T) {
	w := newFormer(t)
	w.write("state.json", `{"sessions":{"a1":{"name":"hers","workdir":"HOME/shop","claude_session_id":"`+w.said("hers")+`"},
		"a2":{"name":"no person","workdir":"HOME/shop","claude_session_id":"`+w.said("no person")+`"}},"active_sessions":{"7":"a1"}}`)
	code, _, errs := ccbot(w.environ, "import", w.state, "--owner", "9", "--yes")
	assert.Equal(t, exit.Misuse, code)
	assert.Contains(t, errs, "9 is not in ALLOWED_USERS")
	code, _, errs = ccbot(w.environ, "import", w.state, "--owner", "8", "--yes")
	require.Equal(t, exit.OK, code, errs)
	owners := make(map[string]int64)
	for _, r := range w.records() {
		owners[r.Name] = r.Owner
	}
	assert.Equal(t, map[string]int64{"hers": 7, "no-person": 8}, owners)
}

// TestImportKeepsToTheRules of every other session: its folder, its name, its id.
func TestImportKeepsToTheRules(t *testing.T) {
	w := newFormer(t)
	w.environ = append(w.environ, "CCBOT_ROOTS="+filepath.Join(w.home, "shop"))
	require.NoError(t, os.Mkdir(filepath.Join(w.home, "elsewhere"), 0o700))
	require.NoError(t, os.Symlink("../elsewhere", filepath.Join(w.home, "shop", "out")))
	require.NoError(t, os.Symlink("shop", filepath.Join(w.home, "link")))
	seventh := w.holds(uuid.Must(uuid.NewV7()))
	w.write("state.json", `{"sessions":{
		"a1":{"name":"api","workdir":"HOME/link","claude_session_id":"`+w.said("a1")+`"},
		"a2":{"name":"api","workdir":"HOME/shop","claude_session_id":"`+seventh+`"},
		"a3":{"name":" two words ","workdir":"HOME/shop/","claude_session_id":"`+w.said("a3")+`"},
		"a4":{"name":"beyond","workdir":"HOME/shop/out","claude_session_id":"`+w.said("a4")+`"},
		"a5":{"name":"numbered","workdir":"HOME/shop","claude_session_id":"17"}},
		"active_history":{"7":["a1","a2","a3","a4","a5"]}}`)
	code, out, errs := ccbot(w.environ, "import", w.state)
	require.Equal(t, exit.OK, code, errs)
	for _, want := range []string{"import  api-2  " + w.home + "/shop, which was called api\n", "which was called  two words \n",
		"left    beyond  " + w.home + "/shop/out: its folder cannot be used: " + w.home + "/elsewhere is outside of CCBOT_ROOTS",
		`"17" is not an id of a Claude Code conversation`, "--yes makes 3 records"} {
		assert.Contains(t, out, want)
	}

	code, out, errs = ccbot(w.environ, "import", w.state, "--yes", "--json")
	require.Equal(t, exit.OK, code, errs)
	var report importer.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.True(t, report.Made)
	assert.Len(t, report.Sessions, 5)
	made := make(map[string]string)
	for _, r := range w.records() {
		made[r.Name] = r.Dir
	}
	shop := filepath.Join(w.home, "shop")
	assert.Equal(t, map[string]string{"api": shop, "api-2": shop, "two-words": shop}, made)
}

func TestImportOfWhatCannotBeRead(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"nothing there", "other.json", "{}", "/state.json is not there"},
		{"cut short", "state.json", `{"sessions":{"a":{"na`, "is not as the Python ccbot writes it"},
		{"another shape", "state.json", `{"sessions":[1]}`, "is not as the Python ccbot writes it"},
		{"the map is damaged", "session_map.json", `[]`, "session_map.json is not as"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newFormer(t)
			if tt.file == "session_map.json" {
				w.write("state.json", `{}`)
			}
			w.write(tt.file, tt.text)
			code, out, errs := ccbot(w.environ, "import", w.state, "--yes")
			assert.Equal(t, []any{exit.Failure, ""}, []any{code, out})
			assert.Contains(t, errs, tt.want)
			assert.NoDirExists(t, filepath.Join(w.home, "new"))
		})
	}
	code, _, errs := ccbot(nil, "import")
	assert.Equal(t, exit.Misuse, code)
	assert.Contains(t, errs, "ccbot import DIR")
}
