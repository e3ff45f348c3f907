package bot_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/host"
	"ccbot/internal/session"
)

func TestResolveDir(t *testing.T) {
	for _, tt := range []struct{ name, path, alone, beside string }{
		{"none", "", "/home/alice", "/home/alice/api"},
		{"home", "~", "/home/alice", "/home/alice"},
		{"below home", "~/my api/v2", "/home/alice/my api/v2", "/home/alice/my api/v2"},
		{"absolute", "/srv/x", "/srv/x", "/srv/x"},
		{"cleaned", "/srv//y/../x/", "/srv/x", "/srv/x"},
		{"here", ".", "/home/alice", "/home/alice/api"},
		{"above", "..", "/home", "/home/alice"},
		{"beside", "../web", "/home/web", "/home/alice/web"},
		{"below", "./sub dir", "/home/alice/sub dir", "/home/alice/api/sub dir"},
		{"hidden", ".config", "/home/alice/.config", "/home/alice/api/.config"},
		{"another person's home", "~root", "/root", "/root"},
		{"a folder with such a name", "./~bob", "/home/alice/~bob", "/home/alice/api/~bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.MustHear(t, "/new it "+tt.path)
			assert.Equal(t, []string{`start "it" in ` + tt.alone}, w.Lifecycle.Done(), "without a session")
			w = chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Archived)
			w.MustHear(t, "/new it "+tt.path)
			assert.Equal(t, []string{`start "it" in ` + tt.beside}, w.Lifecycle.Done(), "from the current session")
			w = chattest.NewWorld(t)
			api := w.Session(t, "api", session.Archived)
			require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, api.ID))
			w.MustHear(t, "/new it "+tt.path)
			assert.Equal(t, []string{`start "it" in ` + tt.alone}, w.Lifecycle.Done(), "another conversation has its own")
		})
	}
}

// A session's record has a folder without links, so that what it sends lies inside.
func TestSessionFolderHasNoLinks(t *testing.T) {
	w := chattest.NewWorld(t)
	real := host.WithoutLinks(t.TempDir())
	link := filepath.Join(real, "link")
	require.NoError(t, os.Mkdir(filepath.Join(real, "project"), 0o700))
	require.NoError(t, os.Symlink("project", link))
	w.MustHear(t, "/new api "+link)
	old := w.Session(t, "old", session.Archived)
	w.MustHear(t, "/resume old "+link)
	project := filepath.Join(real, "project")
	assert.Equal(t, []string{`start "api" in ` + project, "restore " + old.ID.String() + " in " + project}, w.Lifecycle.Done())
}

func TestChats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chats")
	c, err := chattest.OpenChats(dir)
	require.NoError(t, err)
	w := chattest.NewWorld(t)
	one, two := w.Session(t, "one", session.Running), w.Session(t, "two", session.Running)
	topic := session.Conversation{ChatID: chattest.Ours, ThreadID: 5}
	require.NoError(t, c.SetCurrent(chattest.InGroup, one.ID))
	require.NoError(t, c.SetCurrent(topic, two.ID))
	c, err = chattest.OpenChats(dir)
	require.NoError(t, err)
	for to, want := range map[session.Conversation]session.Record{chattest.InGroup: one, topic: two, chattest.AtAlice: {}} {
		id := c.Current(to)
		assert.Equal(t, want.ID, id)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "-100-0.json"), []byte("{half"), 0o600))
	c, err = chattest.OpenChats(dir)
	require.NoError(t, err)
	id := c.Current(chattest.InGroup)
	assert.Zero(t, id, "the person picks again")
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // the folder can no longer be written
	assert.Error(t, c.SetCurrent(chattest.InGroup, one.ID))
	_, err = chattest.OpenChats(filepath.Join(dir, "\x00"))
	assert.Error(t, err)
	assert.False(t, errors.Is(err, os.ErrNotExist))
}
