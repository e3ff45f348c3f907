package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestP9_BackupHasNoPrompt(t *testing.T) {
	tests := []struct{ name, record, want string }{
		{"nothing of a prompt", `{"name":"api", "dir":"/src/api","later":[1]}`, `{"name":"api", "dir":"/src/api","later":[1]}`},
		{"no JSON", `{"name":`, `{"name":`},
		{"no object", `[1]`, `[1]`},
		{"name of a prompt", `{"dir":"/src/api","later":{"a":1},"name":"fix it","named_by":"prompt"}`,
			`{"dir":"/src/api","later":{"a":1},"name":"api","named_by":"folder"}` + "\n"},
		{"fields of a prompt", `{"exit":{"screen":"> fix it","status":1},"former_names":["fix it"],"interruption":{"step":"fix it","tasks_done":1},` +
			`"name":"api","phase_what":"fix it","progress":{"failed":{"at":"x","text":"fix it"},"open_turn":{"at":"x","step":"fix it"},"tasks":[{"text":"fix it"}],"turns":2}}`,
			`{"exit":{"status":1},"interruption":{"tasks_done":1},"name":"api","progress":{"failed":{"at":"x"},"open_turn":{"at":"x"},"turns":2}}` + "\n"},
		{"news, with a screen and a loop", `{"name":"api","news":[{"body":"> fix it","view":"{\"Loop\":{\"task\":\"fix it\"}}"}]}`, `{"name":"api"}` + "\n"},
		{"fields of other types", `{"exit":null,"progress":7}`, `{"exit":null,"progress":7}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, string(WithoutPrompts([]byte(tt.record)))) })
	}
}
