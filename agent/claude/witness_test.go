package claude

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestP2_NoCommandHasNoName(t *testing.T) {
	assert.Equal(t, []string{"claude", "claude.exe"}, Witness{}.Names())
	assert.Equal(t, []string{"claude", "claude.exe", "cc"}, Witness{Command: "/opt/cc"}.Names())
}
