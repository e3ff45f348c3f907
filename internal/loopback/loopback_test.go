package loopback

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.168.0.1": false, "localhost.example": false, "127.0.0.1.example": false, "[::1]": false,
	} {
		assert.Equal(t, want, IsHost(host), host)
	}
}
