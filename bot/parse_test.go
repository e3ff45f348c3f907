package bot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host"
	"ccbot/internal/session"
)

func TestSplitCommand(t *testing.T) {
	for _, tt := range []struct{ label, text, name, to, rest string }{
		{"a command", "/list", "list", "", ""},
		{"with words", "/kill the api", "kill", "", " the api"},
		{"nothing is trimmed", "/kill   the  api  ", "kill", "", "   the  api  "},
		{"a line break ends the name", "/new\napi /srv", "new", "", "\napi /srv"},
		{"a tab ends the name", "/new\tapi", "new", "", "\tapi"},
		{"for this bot", "/list@cc_bot all", "list", "cc_bot", " all"},
		{"for another bot", "/list@other_bot", "list", "other_bot", ""},
		{"for nobody", "/list@", "list", "", ""},
		{"an @ further on is text", "/mail bob@example.org", "mail", "", " bob@example.org"},
		{"the agent's own", "//help", "", "", ""},
		{"slashes", "///", "", "", ""},
		{"only a slash", "/", "", "", ""},
		{"a slash and a blank", "/ list", "", "", " list"},
		{"no name", "/@cc_bot", "", "cc_bot", ""},
		{"upper case is another name", "/LIST", "LIST", "", ""},
		{"no slash", "list", "", "", ""},
		{"a blank before", " /list", "", "", ""},
		{"nothing", "", "", "", ""},
	} {
		t.Run(tt.label, func(t *testing.T) {
			name, to, rest := splitCommand(tt.text)
			assert.Equal(t, []string{tt.name, tt.to, tt.rest}, []string{name, to, rest})
		})
	}
}

func TestSplitNew(t *testing.T) {
	for _, tt := range []struct{ label, args, name, path string }{
		{"nothing", "", "", ""},
		{"a name", "api", "api", ""},
		{"several words make one name", "the new api", "the-new-api", ""},
		{"a path", "/srv/api", "", "/srv/api"},
		{"a path with blanks", "/srv/my api/v 2", "", "/srv/my api/v 2"},
		{"name and path", "api /srv/my api", "api", "/srv/my api"},
		{"words and path", "the api ~/my api", "the-api", "~/my api"},
		{"home", "~", "", "~"},
		{"here", ".", "", "."},
		{"name and here", "api .", "api", "."},
		{"above", "api ..", "api", ".."},
		{"relative", "api ./sub", "api", "./sub"},
		{"a hidden folder", ".config", "", ".config"},
		{"a dot in a name is no path", "v1.2", "v1.2", ""},
		{"a slash in a name is no path", "feature/x", "feature/x", ""},
		{"a tilde in a name is no path", "a~b", "a~b", ""},
		{"the first of two paths begins it", "api /srv /etc", "api", "/srv /etc"},
		{"quotes around the name go, inside a path they are letters", `"my api" /srv/"my api"`, "my-api", `/srv/"my api"`},
		{"quotes around the path", `api "~/my proj"`, "api", "~/my proj"},
		{"curved quotes around both", `“my api” “/srv/my proj”`, "my-api", "/srv/my proj"},
		{"blanks around", "  api   /srv  ", "api", "/srv"},
		{"letters of two bytes", "über /srv/ü", "über", "/srv/ü"},
	} {
		t.Run(tt.label, func(t *testing.T) {
			name, path := splitNew(tt.args)
			assert.Equal(t, []string{tt.name, tt.path}, []string{name, path})
		})
	}
}

func TestSplitNewAtAnyBlank(t *testing.T) {
	for _, blank := range []string{"\n", "\t", "\u00a0"} {
		name, path := splitNew("api" + blank + "/srv")
		assert.Equal(t, []string{"api", "/srv"}, []string{name, path}, "%q", blank)
	}
}

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
		{"another person's home is only a name", "~bob", "/home/alice/~bob", "/home/alice/api/~bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			dir, err := w.resolveDir(atAlice, tt.path)
			require.NoError(t, err)
			assert.Equal(t, tt.alone, dir, "without a session")
			w.currentSession(t, "api", session.Archived)
			dir, err = w.resolveDir(atAlice, tt.path)
			require.NoError(t, err)
			assert.Equal(t, tt.beside, dir, "from the current session")
			dir, err = w.resolveDir(inGroup, tt.path)
			require.NoError(t, err)
			assert.Equal(t, tt.alone, dir, "another conversation has its own")
		})
	}
}

// A session's record has a folder without links, so that what it sends lies inside.
func TestASessionWorksInAFolderWithoutLinks(t *testing.T) {
	w := newWorld(t)
	real := host.WithoutLinks(t.TempDir())
	link := filepath.Join(real, "link")
	require.NoError(t, os.Mkdir(filepath.Join(real, "project"), 0o700))
	require.NoError(t, os.Symlink("project", link))
	w.mustHear(t, "/new api "+link)
	old := w.session(t, "old", session.Archived)
	w.mustHear(t, "/resume old "+link)
	project := filepath.Join(real, "project")
	assert.Equal(t, []string{`start "api" in ` + project, "restore " + old.ID.String() + " in " + project}, w.sessions.done())
}

func TestLastLines(t *testing.T) {
	assert.Equal(t, "c\nd", lastLines("a\nb\nc\nd\n \n", 2))
	assert.Equal(t, "a", lastLines("a", 2))
	assert.Empty(t, lastLines("", 2))
}

func TestChats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chats")
	c, err := OpenChats(dir)
	require.NoError(t, err)
	w := newWorld(t)
	one, two := w.session(t, "one", session.Running), w.session(t, "two", session.Running)
	topic := session.Conversation{ChatID: ours, ThreadID: 5}
	require.NoError(t, c.SetCurrent(inGroup, one.ID))
	require.NoError(t, c.SetCurrent(topic, two.ID))
	c, err = OpenChats(dir)
	require.NoError(t, err)
	for to, want := range map[session.Conversation]session.Record{inGroup: one, topic: two, atAlice: {}} {
		id, err := c.Current(to)
		require.NoError(t, err)
		assert.Equal(t, want.ID, id)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "-100-0.json"), []byte("{half"), 0o600))
	c, err = OpenChats(dir)
	require.NoError(t, err)
	id, err := c.Current(inGroup)
	require.NoError(t, err, "the person picks again")
	assert.Zero(t, id)
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // nothing can be written there any more
	assert.Error(t, c.SetCurrent(inGroup, one.ID))
	_, err = OpenChats(filepath.Join(dir, "\x00"))
	assert.Error(t, err)
	assert.False(t, errors.Is(err, os.ErrNotExist))
}
