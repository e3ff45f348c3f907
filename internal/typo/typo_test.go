package typo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	words := []string{"kill", "list", "new", "status"}
	for word, want := range map[string]string{"kil": "kill", "killl": "kill", "klil": "kill", "Kill": "kill", "lisr": "list", "ne": "new", "enw": "new",
		"statsu": "status", "stats": "status", "kill": "", "ki": "", "llik": "", "lint": "list", "k": "", "": "", "statuses": "", "x": ""} {
		assert.Equal(t, want, Of(word, words), word)
	}
}
