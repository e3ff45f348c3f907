package ask

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

func open(t *testing.T, dir string) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	st, err := Open(filepath.Join(dir, "asks"), filepath.Join(dir, "quarantine"), slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	return st, &log
}

func numbered(n string, asked time.Time) State {
	s := stateOf("Bash", `{"command":"echo <b> & \u202e","n":1.50}`, npmRule)
	s.Request.ID = strings.Repeat(n, 22)
	s.Request.RequestedAt = asked
	return s
}

func TestP8_CardsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	st, _ := open(t, dir)
	s := numbered("a", noon)
	s.Text, s.AllShown = 17, true
	s, err := Tap(s, person, "ses", noon)
	require.NoError(t, err)
	ask := stateOf("AskUserQuestion", twoQuestions)
	ask, err = Tap(ask, person, "o:0:1", noon)
	require.NoError(t, err)
	ask, err = Tap(ask, person, "x:1", noon)
	require.NoError(t, err)
	for _, s := range []State{s, ask} {
		require.NoError(t, st.Save(s))
		require.NoError(t, st.Save(s), "again is no error")
	}
	again, _ := open(t, dir)
	for _, want := range []State{s, ask} {
		got, ok := again.Get(want.Request.ID)
		require.True(t, ok)
		assert.True(t, want.Same(got.Request), "a redial finds it")
		assert.True(t, got.Same(want.Request))
		a, err := json.Marshal(want)
		require.NoError(t, err)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		assert.JSONEq(t, string(a), string(b))
		v := viewer(t, "en")
		assert.Equal(t, v.View(want, "w"), v.View(got, "w"), "and it looks as before")
	}
	_, ok := again.Get("nobody")
	assert.False(t, ok)
	info, err := os.Stat(filepath.Join(dir, "asks", s.Request.ID+".json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestP9_RequestReusesID(t *testing.T) {
	st := numbered("a", noon)
	for name, change := range map[string]func(*State){
		"input":   func(st *State) { st.Request.Input = json.RawMessage(`{"command":"rm"}`) },
		"tool":    func(st *State) { st.Request.Tool = "Write" },
		"hook":    func(st *State) { st.Request.Hook = "12.2.b" },
		"agent":   func(st *State) { st.Request.Agent = "10.9.b" },
		"session": func(st *State) { st.Request.Session[3]++ },
	} {
		other := st
		change(&other)
		assert.False(t, st.Same(other.Request), name)
	}
	later := st.Request
	later.RequestedAt = noon.Add(time.Minute)
	assert.True(t, st.Same(later))
}

func TestStore_ListAndPrune(t *testing.T) {
	st, _ := open(t, t.TempDir())
	over := func(s State, at time.Time) State {
		return settle(s, talk.RequestOutcome{Done: true}, true, false, at)
	}
	for _, s := range []State{
		over(numbered("a", noon), noon.Add(time.Hour)), numbered("b", noon.Add(2*time.Minute)), numbered("c", noon.Add(time.Minute)),
		numbered("e", noon.Add(time.Minute)), over(numbered("d", noon.Add(-time.Hour)), noon.Add(2*time.Hour)),
	} {
		require.NoError(t, st.Save(s))
	}
	ids := func() string {
		var all string
		for _, s := range st.List() {
			all += s.Request.ID[:1]
		}
		return all
	}
	assert.Equal(t, "daceb", ids())
	require.NoError(t, st.Prune(noon.Add(time.Hour+time.Minute)))
	assert.Equal(t, "dceb", ids())
	require.NoError(t, st.Prune(noon.Add(1000*time.Hour)))
	assert.Equal(t, "ceb", ids(), "what is not over stays")
	names, err := st.folder.List()
	require.NoError(t, err)
	assert.Len(t, names, 3)
}

func TestStore_ForgetsASession(t *testing.T) {
	dir := t.TempDir()
	st, _ := open(t, dir)
	gone, stays := numbered("a", noon), numbered("b", noon)
	stays.Request.Session[5]++
	require.NoError(t, st.Save(gone))
	require.NoError(t, st.Save(stays))
	require.NoError(t, st.Forget(gone.Request.Session))
	st, _ = open(t, dir)
	require.Len(t, st.List(), 1)
	assert.Equal(t, stays.Request.ID, st.List()[0].Request.ID)
}

func TestP8_StoreSetsAsideInvalidFiles(t *testing.T) {
	dir := t.TempDir()
	st, _ := open(t, dir)
	good := numbered("a", noon)
	require.NoError(t, st.Save(good))
	data, err := os.ReadFile(filepath.Join(dir, "asks", good.Request.ID+".json"))
	require.NoError(t, err)
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "asks", name), []byte(text), 0o600))
	}
	with := func(old, new string) string {
		require.Contains(t, string(data), old)
		return strings.Replace(string(data), old, new, 1)
	}
	b := strings.Repeat("b", 22)
	put("empty.json", "")
	put("half.json", string(data[:len(data)/2]))
	put("othername.json", string(data))
	put(strings.Repeat("c", 22)+".json", strings.ReplaceAll(with(`"stage":"open"`, `"stage":"maybe"`), good.Request.ID, strings.Repeat("c", 22)))
	put(strings.Repeat("d", 22)+".json", strings.ReplaceAll(with(`"stage":"open"`, `"stage":"sent"`), good.Request.ID, strings.Repeat("d", 22)))
	put(strings.Repeat("e", 22)+".json", strings.ReplaceAll(with(`"chat_id":7`, `"chat_id":0`), good.Request.ID, strings.Repeat("e", 22)))
	put(b+".json", strings.ReplaceAll(with(`"version":1`, `"version":1,"later":{"x":1}`), good.Request.ID, b))
	put("later.json", `{"version":2}`)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "asks", "link.json")))
	put("note.txt", "not ours")

	st, log := open(t, dir)
	assert.Len(t, st.List(), 2)
	aside, err := os.ReadDir(filepath.Join(dir, "quarantine"))
	require.NoError(t, err)
	assert.Len(t, aside, 16, "eight, each with its reason")
	assert.Equal(t, 8, strings.Count(log.String(), "file_unreadable"))

	kept, ok := st.Get(b)
	require.True(t, ok)
	kept.Text = 5
	require.NoError(t, st.Save(kept))
	data, err = os.ReadFile(filepath.Join(dir, "asks", b+".json"))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"later":{"x":1}`, "a later program's field is kept")
}

func TestStore_SaveRefuses(t *testing.T) {
	st, _ := open(t, t.TempDir())
	for name, s := range map[string]State{
		"nothing":          {},
		"no conversation":  New(requestOf("Bash", `{}`), numbered("a", noon).Conversation),
		"an id for a path": numbered("a", noon),
	} {
		switch name {
		case "no conversation":
			s.Conversation.ChatID = 0
		case "an id for a path":
			s.Request.ID = "../" + strings.Repeat("a", 19)
		}
		assert.Error(t, st.Save(s), name)
	}
	assert.Empty(t, st.List())
}

func TestStore_ManyAtOnce(t *testing.T) {
	st, _ := open(t, t.TempDir())
	var wg sync.WaitGroup
	for _, n := range "abcdefgh" {
		wg.Go(func() {
			s := numbered(string(n), noon)
			for i := range 5 {
				s.Text = i
				assert.NoError(t, st.Save(s))
				st.List()
				_, ok := st.Get(s.Request.ID)
				assert.True(t, ok)
			}
		})
	}
	wg.Wait()
	assert.Len(t, st.List(), 8)
}
