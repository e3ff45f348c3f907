package quotation

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommand(t *testing.T) {
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
			name, to, rest := split(tt.text)
			assert.Equal(t, []string{tt.name, tt.to, tt.rest}, []string{name, to, rest})
		})
	}
}
