package newtext

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSplitNameAndPath(t *testing.T) {
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
		{"on another machine", "api barn:~/my api", "api", "barn:~/my api"},
		{"on another machine, without a path", "api barn:", "api", "barn:"},
		{"on another machine, in quotes", `api "barn:/srv/x"`, "api", "barn:/srv/x"},
		{"a colon in a path", "api /srv/barn:x", "api", "/srv/barn:x"},
		{"a colon in a name", "fix:it", "fix:it", ""},
		{"a colon before a path", "fix:it /srv", "fix:it", "/srv"},
		{"letters of two bytes", "über /srv/ü", "über", "/srv/ü"},
	} {
		t.Run(tt.label, func(t *testing.T) {
			name, path := NameAndPath(tt.args, func(name string) bool { return name == "barn" })
			assert.Equal(t, []string{tt.name, tt.path}, []string{name, path})
		})
	}
}

func TestSplitNamePathAtBlank(t *testing.T) {
	for _, blank := range []string{"\n", "\t", "\u00a0"} {
		name, path := NameAndPath("api"+blank+"/srv", func(string) bool { return false })
		assert.Equal(t, []string{"api", "/srv"}, []string{name, path}, "%q", blank)
	}
}

func TestAgentIsSeparated(t *testing.T) {
	for _, tt := range []struct{ label, args, agent, rest string }{
		{"none", "api /srv", "", "api /srv"},
		{"last", "api /srv --agent Codex", "codex", "api /srv"},
		{"first, with a sign", "--agent=codex api", "codex", "api"},
		{"between", "api --agent codex /srv", "codex", "api /srv"},
		{"a phone's dash", "api —agent codex", "codex", "api"},
		{"alone", "–agent claude", "claude", ""},
		{"no name", "api --agent", "", "api --agent"},
		{"part of a word", "my--agent codex", "", "my--agent codex"},
	} {
		t.Run(tt.label, func(t *testing.T) {
			agent, rest := Agent(tt.args)
			assert.Equal(t, []string{tt.agent, tt.rest}, []string{agent, rest})
		})
	}
}
