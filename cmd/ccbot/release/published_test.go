package release

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPublished(t *testing.T) {
	sum := strings.Repeat("a1", 32)
	archive := sum + "  ccbot-v1.5.0-linux-amd64.tar.gz\n"
	for _, tt := range []struct {
		name, sums, want string
	}{
		{"a release", sum + "  ccbot-v1.5.0-darwin-amd64.tar.gz\n" + archive + sum + "  ccbot-v1.5.0-linux-amd64.deb\n", "v1.5.0"},
		{"two releases", archive + sum + "  ccbot-v1.6.0-linux-amd64.tar.gz\n", ""},
		{"another platform", sum + "  ccbot-v1.5.0-linux-arm64.tar.gz\n", ""},
		{"a page", "<html>not found</html>", ""},
		{"a name with escapes", sum + "  ccbot-\x1b[31m-linux-amd64.tar.gz\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/files/SHA256SUMS" {
					_, _ = w.Write([]byte(tt.sums))
					return
				}
				http.NotFound(w, r)
			}))
			defer server.Close()
			version, address, err := Published(t.Context(), server.Client(), server.URL+"/files/", "linux/amd64")
			assert.Equal(t, tt.want, version)
			if tt.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, server.URL+"/files/ccbot-v1.5.0-linux-amd64.tar.gz", address)
		})
	}
	for _, address := range []string{"", "http://example.com/files", "ftp://example.com", "file:///tmp", "http://localhost.example.com"} {
		_, _, err := Published(t.Context(), http.DefaultClient, address, "linux/amd64")
		assert.ErrorContains(t, err, "CCBOT_RELEASE_URL", address)
	}
}
