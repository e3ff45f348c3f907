package running

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// kept are the files of a ccbot's folder that a start reads, by kind, each with the treatment of a
// damaged one. The table in docs/operations.md says the same.
var kept = []struct {
	file  string
	aside string // its name in quarantine; empty: it stays in place
	log   string // the text in the log
	chat  string // the text in the chat; empty: nothing
}{
	{"sessions/" + idOf(1).String() + ".json", "sessions-" + idOf(1).String() + ".json", "file_unreadable", "The file of 1 session cannot be read"},
	{"inbox/7.json", "inbox-7.json", "file_unreadable", "2 messages cannot be read"},
	{"outbox/00000000000000000001.json", "outbox-00000000000000000001.json", "file_unreadable", "2 messages cannot be read"},
	{"chats/1-0.json", "chats-1-0.json", "file_unreadable", "The file of this chat was damaged"},
	{"chats/moved.json", "chats-moved.json", "file_unreadable", ""},
	{"cards/CARD.json", "cards-CARD.json", "file_unreadable", ""},
	{"asks/ask.json", "asks-ask.json", "file_unreadable", ""},
	{"holds.json", "state-holds.json", "file_unreadable", ""},
	{"parked.json", "state-parked.json", "file_unreadable", ""},
	{"rich.json", "state-rich.json", "file_unreadable", ""},
	{"reactions.json", "state-reactions.json", "file_unreadable", ""},
	{"windows.json", "", "windows_unreadable", ""}, // aside when it is written
	{"bindings/b-1-2.json", "", "", ""},
	{"status/" + idOf(1).String() + ".json", "", "", ""},
	{"alive", "", "", ""},
}

// keepAll makes each of those files, as ccbot writes them.
func keepAll(t *testing.T, dir string) {
	t.Helper()
	log, aside := slog.New(slog.DiscardHandler), filepath.Join(dir, "quarantine")
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	chats, err := conversation.Open(filepath.Join(dir, "chats"), aside, log)
	require.NoError(t, err)
	require.NoError(t, chats.SetCurrent(session.Conversation{ChatID: 1}, idOf(2)))
	require.NoError(t, chats.SetCurrent(session.Conversation{ChatID: 1, ThreadID: 3}, idOf(2)))
	require.NoError(t, chats.Aliases.Note(-1, -100))
	in, err := inbox.OpenStore(filepath.Join(dir, "inbox"), log)
	require.NoError(t, err)
	_, err = in.Add(inbox.Entry{Key: "7", Session: idOf(2), Text: "hi"})
	require.NoError(t, err)
	out := filepath.Join(dir, "outbox")
	require.NoError(t, outbox.New(nil, "", out, log).Post(t.Context(), outbox.Message{To: session.Conversation{ChatID: 1}, Text: render.Plain("hi")}))
	names, err := filepath.Glob(filepath.Join(out, "*.json"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(names[0], filepath.Join(dir, kept[2].file)))
	cards, err := card.Open(filepath.Join(dir, "cards"), aside, outbox.New(nil, "", out, log), func(session.Conversation) bool { return false }, log)
	require.NoError(t, err)
	look := card.Content{To: session.Conversation{ChatID: 1}, Text: render.Plain("?"), Options: [][]card.Option{{{Text: "x", Value: "x"}}}}
	require.NoError(t, card.NewKind[int](cards, "link", nil).Show(t.Context(), "k", look, 1))
	names, err = filepath.Glob(filepath.Join(dir, "cards", "*.json"))
	require.NoError(t, err)
	// Its id is unknown here.
	require.NoError(t, os.Rename(names[0], filepath.Join(dir, "cards", "CARD.json")))
	put("asks/ask.json", `{"version":1,"request":{"id":"ask"}}`)
	put("holds.json", `{"1":{"at":"2026-03-04T12:00:00Z","seconds":1}}`)
	put("parked.json", `{"9":"2026-03-04T12:00:00Z"}`)
	put("rich.json", `{"https://x":{"has":true,"at":"2026-03-04T12:00:00Z"}}`)
	put("reactions.json", `{"-9":"2026-03-04T12:00:00Z"}`)
	put("windows.json", `{"version":1,"windows":[]}`)
	put("bindings/b-1-2.json", `{"version":1}`)
	put("status/"+idOf(1).String()+".json", `{"version":1}`)
	put("alive", "")
}

// damages are the ways in which a file is damaged.
var damages = map[string]func(t *testing.T, path string){
	"truncated": func(t *testing.T, path string) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(path, info.Size()/2))
	},
	"empty": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
	"garbage": func(t *testing.T, path string) {
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("\x00\xff{"), 100), 0o600))
	},
	"another shape": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("[[]]"), 0o600)) },
	"a folder in its place": func(t *testing.T, path string) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.MkdirAll(filepath.Join(path, "inside"), 0o700))
	},
	"a link to a good one": func(t *testing.T, path string) {
		away := filepath.Join(t.TempDir(), "away")
		require.NoError(t, os.Rename(path, away))
		require.NoError(t, os.Symlink(away, path))
	},
}

// TestP8_DamagedFilesAreQuarantined: ccbot starts with any damaged file. An unreadable file
// goes to quarantine, the log names it, and people are informed of their loss. The next start finds
// nothing more, and reports nothing again.
func TestP8_DamagedFilesAreQuarantined(t *testing.T) {
	for damage, corrupt := range damages {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			environ := machine(t, one(1, "api"), one(2, "web"))
			dir := stateOf(environ)
			keepAll(t, dir)
			for _, k := range kept {
				corrupt(t, filepath.Join(dir, k.file))
			}
			log, posts := startOnce(t, environ, func(s *system) {
				assert.Len(t, s.Store.List(), 1, "the others are whole")
				current := s.bot.Store.Current(session.Conversation{ChatID: 1, ThreadID: 3})
				assert.Equal(t, idOf(2), current)
			})
			for _, k := range kept {
				aside := strings.ReplaceAll(k.aside, "state-", filepath.Base(dir)+"-")
				if aside == "" {
					assert.NoFileExists(t, filepath.Join(dir, "quarantine", filepath.Base(k.file)), k.file)
				} else {
					_, err := os.Lstat(filepath.Join(dir, "quarantine", aside))
					require.NoError(t, err, k.file)
					assert.FileExists(t, filepath.Join(dir, "quarantine", aside+".reason"))
				}
				if k.log != "" {
					assert.Regexp(t, fmt.Sprintf(`msg=%s file=(%s|%s)`, k.log, k.file, filepath.Base(dir)+"/"+k.file), log, k.file)
				}
				assert.Contains(t, posts, k.chat, k.file)
			}
			log, posts = startOnce(t, environ, func(*system) {})
			assert.NotContains(t, log, "file_unreadable")
			assert.Empty(t, strings.TrimSpace(posts), "nothing is told again")
		})
	}
}

// TestP8_QuarantineIsInNextReport: the next report that reaches the chat names each
// file that was set aside, once.
func TestP8_QuarantineIsInNextReport(t *testing.T) {
	session, message, post := kept[0].file, kept[1].file, kept[2].file
	for _, tt := range []struct {
		name    string
		damaged []string
		// The part that then reads the files.
		meets func(t *testing.T, s *system, report recovery.Report)
		says  []string
	}{
		{"by a verb without the bot", []string{session, message}, func(*testing.T, *system, recovery.Report) {},
			[]string{"The file of 1 session cannot be read", "1 message cannot be read"}},
		{"before a report that fails", []string{session, message, post}, func(t *testing.T, s *system, report recovery.Report) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			require.Error(t, s.ReportRecovery(ctx, report))
		}, []string{"The file of 1 session cannot be read", "2 messages cannot be read"}},
		{"while the bot runs", nil, func(t *testing.T, s *system, report recovery.Report) {
			assert.NoError(t, s.ReportRecovery(t.Context(), report))
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, message), []byte("{"), 0o600))
			_, err := s.inbox.List()
			require.NoError(t, err)
		}, []string{"1 message cannot be read"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			environ := machine(t, one(1, "api"), one(2, "web"))
			dir := stateOf(environ)
			keepAll(t, dir)
			for _, file := range tt.damaged {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("{"), 0o600))
			}
			require.NoError(t, aside(t, environ, func(_ context.Context, s *system) error {
				tt.meets(t, s, *s.recoveredFor)
				return nil
			}))
			_, posts := startOnce(t, environ, func(*system) {})
			for _, sentence := range tt.says {
				assert.Contains(t, posts, sentence)
			}
			_, posts = startOnce(t, environ, func(*system) {})
			assert.NotContains(t, posts, "cannot be read", "nothing is told again")
		})
	}
}

// TestP9_ForeignFileKindsAreNotRead_AsRoot: another user may have put the file there before the folder
// was closed.
func TestP9_ForeignFileKindsAreNotRead_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	for _, k := range kept {
		dir := stateWith(t, one(1, "api"))
		keepAll(t, dir)
		require.NoError(t, os.Chown(filepath.Join(dir, k.file), 4711, 4711))
		log, err := begun(t, dir)
		require.NoError(t, err)
		later := strings.HasPrefix(k.file, "inbox/") || strings.HasPrefix(k.file, "outbox/") // they are read by a run
		if k.aside != "" && !later {
			assert.Contains(t, log, "it belongs to uid 4711", k.file)
		}
	}
}

func stateOf(environ []string) string {
	for _, v := range environ {
		if dir, ok := strings.CutPrefix(v, "CCBOT_DIR="); ok {
			return dir
		}
	}
	return ""
}

// startOnce starts as the bot does, up to the report. It returns the log, and the texts that the
// start has posted, and removes the posts.
func startOnce(t *testing.T, environ []string, look func(*system)) (said, posts string) {
	t.Helper()
	c, err := config.Load(environ)
	require.NoError(t, err)
	var log bytes.Buffer
	s, err := begin(t.Context(), c, "cli", "/bin/true", environ, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	defer s.end()
	require.NoError(t, s.alone(t.Context(), func(ctx context.Context, s *system) error {
		assert.NoError(t, s.ReportRecovery(ctx, *s.recoveredFor))
		look(s)
		return nil
	}))
	for _, dir := range []string{"outbox", "cards"} {
		names, err := filepath.Glob(filepath.Join(c.Dir, dir, "*.json"))
		require.NoError(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			posts += string(data) + "\n"
			require.NoError(t, os.Remove(name))
		}
	}
	return log.String(), posts
}

// TestP8_ForgetNamesADamagedBackup, which may have the record, with the remedy; the record stays
// until then.
func TestP8_ForgetNamesADamagedBackup(t *testing.T) {
	environ := machine(t, one(1, "api"))
	damaged := filepath.Join(stateOf(environ), "backups", "2026-01-01T00-00-00.000Z.tar.gz")
	require.NoError(t, os.MkdirAll(filepath.Dir(damaged), 0o700))
	require.NoError(t, os.WriteFile(damaged, []byte("broken"), 0o600))
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		forget := func() error {
			_, err := Forgetting.by(s)(ctx, []byte(`{"session_id":"`+idOf(1).String()+`"}`))
			return err
		}
		refusal := (*control.Refusal)(nil)
		require.ErrorAs(t, forget(), &refusal)
		assert.Equal(t, "the backup "+damaged+" cannot be read (unexpected EOF), so it may have a copy of the record: "+
			"remove the file, and forget the session again", refusal.Text)
		_, there := s.Store.Get(idOf(1))
		assert.True(t, there)
		require.NoError(t, os.Remove(damaged))
		return forget()
	}))
}

// TestP8_DamagedInstanceIsNotReplaced: with another id the running windows would have no owner.
func TestP8_DamagedInstanceIsNotReplaced(t *testing.T) {
	for damage, corrupt := range damages {
		t.Run(damage, func(t *testing.T) {
			environ := machine(t)
			dir := stateOf(environ)
			path := filepath.Join(dir, "instance")
			require.NoError(t, os.WriteFile(path, []byte("0123456789ab\n"), 0o600))
			id, err := statefolder.ReadInstance(dir)
			require.NoError(t, err)
			assert.Equal(t, "0123456789ab", id)
			corrupt(t, path)
			c, err := config.Load(environ)
			require.NoError(t, err)
			_, err = begin(t.Context(), c, "cli", "/bin/true", environ, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, "@ccbot_session")
			assert.Equal(t, exit.Misuse, exit.Code(err))
			_, err = os.Lstat(path)
			assert.NoError(t, err)
		})
	}
}
