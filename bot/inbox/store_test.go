package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port/talk"
)

func openStore(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "inbox")
	s, err := OpenStore(dir, new(logBuffer).logger())
	require.NoError(t, err)
	return s, dir
}

func newPromptKey() string { return talk.PromptKey(uuid.New()) }

func keys(entries []Entry) []string {
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Key)
	}
	return names
}

// TestP4_OlderCopyOfFolderUsesNoNumberAgain: an engine refuses a number that it has seen, and the
// prompt would be lost.
func TestP4_OlderCopyOfFolderUsesNoNumberAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, dir := openStore(t)
		_, err := s.NextNumber()
		require.NoError(t, err)
		older := filepath.Join(t.TempDir(), "inbox")
		require.NoError(t, os.CopyFS(older, os.DirFS(dir)))
		used := int64(0)
		for range 3 * reserve {
			used, err = s.NextNumber()
			require.NoError(t, err)
		}
		time.Sleep(time.Minute)
		s, err = OpenStore(older, new(logBuffer).logger())
		require.NoError(t, err)
		n, err := s.NextNumber()
		require.NoError(t, err)
		assert.Greater(t, n, used)
	})
}

func TestKeys(t *testing.T) {
	id := uuid.NewString()
	tests := []struct {
		name, key string
		want      bool
	}{
		{"update", "123", true},
		{"zero", "0", true},
		{"prompt", "p-" + id, true},
		{"fresh prompt", newPromptKey(), true},
		{"negative", "-1", false},
		{"leading zero", "01", false},
		{"plus", "+1", false},
		{"too large", "99999999999999999999", false},
		{"empty", "", false},
		{"a path", "../1", false},
		{"prompt without uuid", "p-1", false},
		{"prompt in capitals", "p-" + strings.ToUpper(id), false},
		{"prompt in braces", "p-{" + id + "}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, validKey(tt.key)) })
	}
}

func TestAcceptLoadSaveFinish(t *testing.T) {
	s, dir := openStore(t)
	fresh, err := s.Accept("7", json.RawMessage(message(7, 5, "hello <b>")))
	require.NoError(t, err)
	require.True(t, fresh)

	e, err := s.Load("7")
	require.NoError(t, err)
	assert.Equal(t, Accepted, e.State)
	assert.Equal(t, session.Conversation{ChatID: 5}, e.Conversation)
	assert.Equal(t, 70, e.MessageID)
	assert.JSONEq(t, message(7, 5, "hello <b>"), string(e.Update))

	e.State, e.Text, e.Session = Typing, "hello", uuid.New()
	e.Typing = &talk.Mark{At: time.Now().UTC().Round(0), Path: "/t.jsonl", Offset: 99, Enters: 1, Retreat: true}
	require.NoError(t, s.Save(e))
	again, err := s.Load("7")
	require.NoError(t, err)
	assert.Equal(t, e.Typing, again.Typing)
	assert.Equal(t, e.Session, again.Session)
	assert.Equal(t, "hello", again.Text)

	fresh, err = s.Accept("7", json.RawMessage(message(7, 5, "other")))
	require.NoError(t, err)
	assert.False(t, fresh, "the key has a file")

	require.NoError(t, s.Finish("7"))
	require.NoError(t, s.Finish("7"), "twice is fine")
	assert.Equal(t, []string{"7.done"}, files(t, dir))
	_, err = s.Load("7")
	require.ErrorIs(t, err, ErrNoEntry)
	require.ErrorIs(t, s.Save(e), ErrNoEntry, "a late save does not bring it back")
	fresh, err = s.Accept("7", json.RawMessage(message(7, 5, "other")))
	require.NoError(t, err)
	assert.False(t, fresh, "the key was finished")
	require.NoError(t, s.Finish("8"), "what never was")
	require.ErrorIs(t, s.Finish("../8"), ErrNoEntry)
}

// TestPromptEntryKeepsItsBytes: an earlier or a later program reads the same keys.
func TestPromptEntryKeepsItsBytes(t *testing.T) {
	const data = `{"version":1,"key":"7","received":"2026-01-02T03:04:05Z","state":"typing","session":"00000000-0000-4000-8000-000000000001",` +
		`"conversation":{"chat_id":1},"text":"/x","class":"command","typing":{"at":"2026-01-02T03:04:05.6Z","path":"/t.jsonl","offset":99,"enters":1,` +
		`"retreat":true,"esc":true,"agent":"b 7 1","age":5,"claude":"00000000-0000-4000-8000-000000000002"},"reported":["queued","held_draft"]}`
	var e Entry
	require.NoError(t, json.Unmarshal([]byte(data), &e))
	again, err := json.Marshal(e)
	require.NoError(t, err)
	assert.Equal(t, data, string(again))
}

func TestFilesArePrivate(t *testing.T) {
	s, dir := openStore(t)
	_, err := s.Accept("7", json.RawMessage(message(7, 5, "x")))
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "7.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestAddPrompt(t *testing.T) {
	s, dir := openStore(t)
	key := newPromptKey()
	fresh, err := s.Add(Entry{Key: key, Text: "go on", State: Held, Conversation: session.Conversation{ChatID: 5, ThreadID: 2}})
	require.NoError(t, err)
	require.True(t, fresh)
	fresh, err = s.Add(Entry{Key: key, Text: "go on"})
	require.NoError(t, err)
	assert.False(t, fresh, "sent twice counts once")
	e, err := s.Load(key)
	require.NoError(t, err)
	assert.Equal(t, Held, e.State)
	assert.Equal(t, 2, e.ThreadID)
	assert.Empty(t, e.Update)

	_, err = s.Add(Entry{Key: "x", Text: "go on"})
	require.Error(t, err)
	_, err = s.Add(Entry{Key: newPromptKey(), State: "guessed"})
	require.Error(t, err)
	assert.Len(t, files(t, dir), 1)
}

func TestListOrder(t *testing.T) {
	s, _ := openStore(t)
	early, late := newPromptKey(), newPromptKey()
	now := time.Now().UTC()
	for _, e := range []Entry{{Key: late, Received: now}, {Key: early, Received: now.Add(-time.Hour)}} {
		_, err := s.Add(e)
		require.NoError(t, err)
	}
	for _, id := range []int64{100, 9, 11} {
		_, err := s.Accept(UpdateKey(id), json.RawMessage(message(id, 5, "x")))
		require.NoError(t, err)
	}
	require.NoError(t, s.Finish("11"))
	list, err := s.List()
	require.NoError(t, err)
	assert.Equal(t, []string{"9", "100", early, late}, keys(list))
}

func TestUnknownFieldsSurviveARewrite(t *testing.T) {
	s, dir := openStore(t)
	path := filepath.Join(dir, "7.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1,"key":"7","received":"2026-01-02T03:04:05Z","state":"held",
		"conversation":{"chat_id":5},"later":{"a":[1,2]},"text":"old","Note":"not ours: another case"}`), 0o600))
	e, err := s.Load("7")
	require.NoError(t, err)
	e.Text = "new"
	require.NoError(t, s.Save(e))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(data, &all))
	assert.Equal(t, map[string]any{"a": []any{1.0, 2.0}}, all["later"])
	assert.Equal(t, "new", all["text"])
}

func TestUnreadableEntriesGoToQuarantine(t *testing.T) {
	good := `{"version":1,"key":"%s","received":"2026-01-02T03:04:05Z","state":"accepted","conversation":{"chat_id":5}}`
	tests := []struct{ name, file, content string }{
		{"not JSON", "8.json", "{"},
		{"empty", "8.json", ""},
		{"another's key", "8.json", fmt.Sprintf(good, "9")},
		{"a name that is no key", "x.json", fmt.Sprintf(good, "x")},
		{"unknown state", "8.json", `{"version":1,"key":"8","received":"2026-01-02T03:04:05Z","state":"maybe"}`},
		{"bad time", "8.json", `{"version":1,"key":"8","received":"yesterday","state":"held"}`},
		{"no time", "8.json", `{"version":1,"key":"8","state":"held"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := openStore(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "7.json"), fmt.Appendf(nil, good, "7"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.content), 0o600))
			list, err := s.List()
			require.NoError(t, err)
			assert.Equal(t, []string{"7"}, keys(list))
			assert.Equal(t, []string{"7.json"}, files(t, dir))
			assert.Equal(t, []string{"inbox-" + tt.file, "inbox-" + tt.file + ".reason", "inbox-" + tt.file + ".untold"}, files(t, filepath.Join(dir, "../quarantine")))
		})
	}
}

func TestLinkIsNotFollowed(t *testing.T) {
	s, dir := openStore(t)
	outside := filepath.Join(t.TempDir(), "8.json")
	require.NoError(t, os.WriteFile(outside, []byte(`{"version":1,"key":"8","received":"2026-01-02T03:04:05Z","state":"accepted"}`), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "8.json")))
	list, err := s.List()
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.FileExists(t, outside)
}

func TestOpenClearsWritesCutShort(t *testing.T) {
	_, dir := openStore(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".7.json123"), []byte("half"), 0o600))
	_, err := OpenStore(dir, new(logBuffer).logger())
	require.NoError(t, err)
	assert.Empty(t, files(t, dir))
}

func TestConfirmedRemovesMarkers(t *testing.T) {
	s, dir := openStore(t)
	prompt := newPromptKey()
	for _, id := range []int64{7, 8, 9} {
		_, err := s.Accept(UpdateKey(id), json.RawMessage(message(id, 5, "x")))
		require.NoError(t, err)
	}
	_, err := s.Add(Entry{Key: prompt})
	require.NoError(t, err)
	for _, key := range []string{"7", "9", prompt} {
		require.NoError(t, s.Finish(key))
	}
	old := time.Now().Add(-redelivery - time.Hour)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1000.done"), nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "1000.done"), old, old))

	s, err = OpenStore(dir, new(logBuffer).logger())
	require.NoError(t, err)
	require.NoError(t, s.confirmed(10))
	assert.ElementsMatch(t, []string{"7.done", "8.json", "9.done", prompt + ".done"}, files(t, dir),
		"what was confirmed a moment ago stays, for a server that forgets that; what is too old goes")
	past := time.Now().Add(-forgotten - time.Minute)
	for _, name := range []string{"7.done", "8.json", "9.done", prompt + ".done"} {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), past, past))
	}
	s, err = OpenStore(dir, new(logBuffer).logger())
	require.NoError(t, err)
	require.NoError(t, s.confirmed(9))
	assert.ElementsMatch(t, []string{"8.json", "9.done", prompt + ".done"}, files(t, dir),
		"the unfinished stays, so do the unconfirmed and the prompt")
	require.NoError(t, s.confirmed(10))
	assert.NotContains(t, files(t, dir), "9.done")
}

func TestChangeLetsNobodyInBetween(t *testing.T) {
	s, _ := openStore(t)
	_, err := s.Accept("7", json.RawMessage(message(7, 5, "x")))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			assert.NoError(t, s.Change("7", func(e *Entry) error { e.Tries++; return nil }))
		})
	}
	wg.Wait()
	errNo := errors.New("no")
	require.ErrorIs(t, s.Change("7", func(e *Entry) error { e.Tries = 99; return errNo }), errNo)
	e, err := s.Load("7")
	require.NoError(t, err)
	assert.Equal(t, 8, e.Tries)
	require.NoError(t, s.Finish("7"))
	assert.ErrorIs(t, s.Change("7", func(*Entry) error { return nil }), ErrNoEntry)
}

// The edit of a message has the same conversation and id, and is ignored.
func TestFindReturnsThePromptOfMessage(t *testing.T) {
	s, _ := openStore(t)
	chat := session.Conversation{ChatID: 5}
	for _, e := range []Entry{
		{Key: "1", State: Held, Conversation: chat, MessageID: 10, Text: "the one"},
		{Key: "2", State: Asked, Conversation: session.Conversation{ChatID: 5, ThreadID: 3}, MessageID: 10},
		{Key: "3", State: Typing, Conversation: chat, MessageID: 11},
		{Key: "4", State: Accepted, Conversation: chat, MessageID: 10},
		{Key: "5", State: Accepted, Conversation: chat, MessageID: 12},
		{Key: newPromptKey(), State: Held, Conversation: chat},
	} {
		_, err := s.Add(e)
		require.NoError(t, err)
	}
	tests := []struct {
		name    string
		to      session.Conversation
		message int
		want    string
	}{
		{"held", chat, 10, "1"},
		{"in a topic", session.Conversation{ChatID: 5, ThreadID: 3}, 10, "2"},
		{"being typed", chat, 11, "3"},
		{"not handled yet", chat, 12, ""},
		{"another chat", session.Conversation{ChatID: 6}, 10, ""},
		{"no message", chat, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := s.Find(tt.to, tt.message)
			if tt.want == "" {
				require.ErrorIs(t, err, ErrNoEntry)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, e.Key)
		})
	}
}

// TestP4_ConcurrentAcceptIsFreshOnce: exactly one of several is fresh, and a finished entry is not
// restored.
func TestP4_ConcurrentAcceptIsFreshOnce(t *testing.T) {
	s, dir := openStore(t)
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ok, err := s.Accept("7", json.RawMessage(message(7, 5, "x")))
			assert.NoError(t, err)
			if ok {
				fresh.Add(1)
			}
			if e, err := s.Load("7"); err == nil {
				e.State = Held
				_ = s.Save(e) // may lose against Finish
			}
			assert.NoError(t, s.Finish("7"))
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, fresh.Load())
	assert.Equal(t, []string{"7.done"}, files(t, dir))
}

func TestFinishInFinishesOneStateOnly(t *testing.T) {
	s, dir := openStore(t)
	_, err := s.Accept("7", json.RawMessage(message(7, 5, "x")))
	require.NoError(t, err)
	require.ErrorIs(t, s.FinishIn("7", Asked), ErrNoEntry)
	_, err = s.Load("7")
	require.NoError(t, err)
	require.NoError(t, s.FinishIn("7", Accepted))
	assert.Equal(t, []string{"7.done"}, files(t, dir))
	require.ErrorIs(t, s.FinishIn("7", Accepted), ErrNoEntry)
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"version":1,"key":"7","received":"2026-01-02T03:04:05Z","state":"held","conversation":{"chat_id":5},"x":1}`))
	f.Add([]byte(`{"version":1,"key":"7","update":{"update_id":7},"received":"2026-01-02T03:04:05Z","state":"typing","typing":{"at":"2026-01-02T03:04:05Z"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e, again Entry
		if json.Unmarshal(data, &e) != nil {
			return
		}
		out, err := json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, len(e.unknown), len(again.unknown))
		require.Equal(t, e.Key, again.Key)
		require.Equal(t, e.State, again.State)
	})
}

func FuzzGlance(f *testing.F) {
	for _, s := range []string{message(1, 2, "x"), tap(1, 2, 3, "x"), poison(1, 2), `{"update_id":"x"}`, `[]`, `{"update_id":1,"message":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if g := glance(data); g.hasID {
			require.True(t, validKey(UpdateKey(g.id)))
		}
	})
}

func TestGlance(t *testing.T) {
	topic := session.Conversation{ChatID: -5, ThreadID: 9}
	tests := []struct {
		name, raw string
		want      seen
	}{
		{"message", message(1, 2, "x"), seen{id: 1, hasID: true, kind: "message", where: session.Conversation{ChatID: 2}, message: 10, from: 77,
			place: models.ChatTypePrivate}},
		{"tap", tap(1, 2, 3, "x"), seen{id: 1, hasID: true, kind: "callback_query", where: session.Conversation{ChatID: 2}, message: 3, from: 77,
			place: models.ChatTypePrivate}},
		{"tap on nothing", `{"update_id":1,"callback_query":{"id":"1","from":{"id":7}}}`, seen{id: 1, hasID: true, kind: "callback_query", from: 7}},
		{"topic", `{"update_id":1,"message":{"message_id":4,"message_thread_id":9,"is_topic_message":true,"chat":{"id":-5}}}`,
			seen{id: 1, hasID: true, kind: "message", where: topic, message: 4}},
		{"a reply's thread is no topic", `{"update_id":1,"edited_message":{"message_id":4,"message_thread_id":9,"chat":{"id":-5}}}`,
			seen{id: 1, hasID: true, kind: "edited_message", where: session.Conversation{ChatID: -5}, message: 4}},
		{"another kind", `{"update_id":1,"message_reaction":{"chat":{"id":4},"user":{"id":3}}}`,
			seen{id: 1, hasID: true, kind: "message_reaction", where: session.Conversation{ChatID: 4}}},
		{"the bot was added", `{"update_id":1,"my_chat_member":{"chat":{"id":-4,"type":"group"},"from":{"id":3}}}`,
			seen{id: 1, hasID: true, kind: "my_chat_member", where: session.Conversation{ChatID: 3}, from: 3, place: models.ChatTypePrivate}},
		{"wrong types", `{"update_id":1,"message":{"message_id":"x","chat":{"id":4},"from":[]}}`,
			seen{id: 1, hasID: true, kind: "message", where: session.Conversation{ChatID: 4}}},
		{"only an id", `{"update_id":1}`, seen{id: 1, hasID: true}},
		{"no id", `{"message":{"chat":{"id":4}}}`, seen{kind: "message", where: session.Conversation{ChatID: 4}}},
		{"negative id", `{"update_id":-1}`, seen{id: -1}},
		{"no object", `[1]`, seen{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, glance(json.RawMessage(tt.raw))) })
	}
}

// A finished entry is restored unchanged, and its update still counts as handled.
func TestFinishedEntryIsReopened(t *testing.T) {
	s, dir := openStore(t)
	e := Entry{Key: "7", State: Typing, Text: "hello", MessageID: 5, Typing: &talk.Mark{At: time.Now()}}
	_, err := s.Add(e)
	require.NoError(t, err)
	_, err = s.Reopen("7", Asked)
	require.ErrorIs(t, err, ErrNoEntry, "it is not finished")
	require.NoError(t, s.Finish("7"))
	marker := filepath.Join(dir, "7"+doneSuffix)
	was, err := os.ReadFile(marker)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	_, err = s.Reopen("7", Asked)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNoEntry, "it is there, and cannot be read")
	require.NoError(t, os.WriteFile(marker, was, 0o600))
	_, err = s.Reopen("7", Asked)
	require.NoError(t, err)
	s, err = OpenStore(dir, s.log)
	require.NoError(t, err)
	again, err := s.Load("7")
	require.NoError(t, err)
	assert.Equal(t, Asked, again.State)
	assert.Equal(t, "hello", again.Text)
	assert.Nil(t, again.Typing)
	fresh, err := s.Accept("7", json.RawMessage(message(7, 5, "other")))
	require.NoError(t, err)
	assert.False(t, fresh)
	require.NoError(t, s.Finish("7"))
	_, err = s.Load("7")
	require.ErrorIs(t, err, ErrNoEntry)
}

// A draft is visible to all readers without a write; the next change writes it. After a crash the
// entry is accepted, and is handed on again.
func TestP4_NextChangeWritesTheDraft(t *testing.T) {
	s, dir := openStore(t)
	_, err := s.Accept("7", json.RawMessage(`{"update_id":7}`))
	require.NoError(t, err)
	accepted, err := s.Load("7")
	require.NoError(t, err)
	draft := accepted
	draft.Text = "hello"
	keep := func(draft Entry) error {
		return s.Change(draft.Key, func(e *Entry) error { *e = draft; return ErrDraft })
	}
	require.NoError(t, keep(draft))

	crashed, err := OpenStore(dir, new(logBuffer).logger())
	require.NoError(t, err)
	there, err := crashed.Load("7")
	require.NoError(t, err)
	assert.Equal(t, accepted, there)

	require.NoError(t, s.Change("7", func(e *Entry) error {
		assert.Equal(t, "hello", e.Text)
		e.State = Held
		return nil
	}))
	there, err = crashed.Load("7")
	require.NoError(t, err)
	assert.Equal(t, "hello", there.Text)
	assert.Equal(t, Held, there.State)

	require.NoError(t, keep(there))
	require.NoError(t, s.Finish("7"))
	_, err = s.Load("7")
	require.ErrorIs(t, err, ErrNoEntry)
	require.ErrorIs(t, keep(there), ErrNoEntry, "a draft brings nothing back")
}
