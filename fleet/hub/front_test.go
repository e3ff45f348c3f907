package hub

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestP9_ClientsAskIntoInboxesOnly: a line that the server could read in another way ends the
// connection.
func TestP9_ClientsAskIntoInboxesOnly(t *testing.T) {
	for _, tt := range []struct {
		name, sent, passed string
	}{
		{"messages", "PUB a 2\r\nhi\r\nHPUB a 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n", "all"},
		{"an inbox", "PUB a _INBOX_h.x 2\r\nhi\r\nHPUB a _INBOX.x 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", "all"},
		{"subscriptions", "SUB a  1\r\nUNSUB 1 \r\nPONG\r\n", "all"},
		{"a payload like a line", "PUB a 9\r\nPUB a b 0\r\n", "all"},
		{"the server's subject", "PING\r\nPUB a $JS.API.STREAM.DELETE.x 0\r\n\r\n", "PING\r\n"},
		{"with headers", "HPUB a $JS.x 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", ""},
		{"two blanks", "PUB a  $JS.x 0\r\n\r\n", ""},
		{"a blank first", "PUB  _INBOX.x $JS.x 0\r\n\r\n", ""},
		{"a tab", "PUB a\t$JS.x 0\r\n\r\n", ""},
		{"a carriage return", "PUB a\r$JS.x 0\r\n\r\n", ""},
		{"no carriage return", "PING\nPUB a 0\r\n", ""},
		{"lower case", "pub a $JS.x 0\r\n\r\n", ""},
		{"a blank before", " PUB a $JS.x 0\r\n\r\n", ""},
		{"a size with a sign", "PUB a +1\r\nx\r\n", ""},
		{"a huge size", "PUB a 99999999999999999999\r\nx\r\n", ""},
		{"a size beyond the limit", "PUB a 307201\r\nx\r\n", ""},
		{"a payload without an end", "PUB a 1\r\nxPUB a $JS.x 0\r\n\r\n", "PUB a 1\r\nx"},
		{"a message of a server", "MSG a 1 0\r\n\r\n", ""},
		{"another server", "RMSG a b 0\r\n\r\n", ""},
		{"a long line", "SUB " + strings.Repeat("a", maxLine) + " 1\r\n", ""},
		{"no login", "CONNECT x\r\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var to bytes.Buffer
			_ = forward(&to, strings.NewReader(tt.sent), func([]byte) error { return errProtocol })
			if tt.passed == "all" {
				tt.passed = tt.sent
			}
			assert.Equal(t, tt.passed, to.String())
		})
	}
}
