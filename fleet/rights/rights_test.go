package rights_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/rights"
)

func TestIsInbox(t *testing.T) {
	for subject, want := range map[string]bool{
		"_INBOX_h1.x": true, "_INBOX_h1.x.y": true, "_INBOX_h1.": false, "_INBOX_h1": false, "_INBOX_h12.x": false, "_INBOX_h2.x": false,
		"cc.f.v1.cmd.h1": false, "": false, "_INBOX_h1.>": false, "_INBOX_h1.*": false, "_INBOX_h1.x y": false, "$JS.API.STREAM.DELETE.X": false,
	} {
		assert.Equal(t, want, rights.IsInbox("h1", subject), subject)
	}
}

func TestP9_KeysAreNotShown(t *testing.T) {
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	secret, err := keys.Secret()
	require.NoError(t, err)
	again, err := rights.ParseKeys(secret)
	require.NoError(t, err)
	assert.Equal(t, keys.Fleet(), again.Fleet())
	assert.Equal(t, keys.Fleet(), fmt.Sprintf("%v", keys))
	assert.Equal(t, keys.Fleet(), fmt.Sprintf("%#v", keys))
	trust, err := keys.Trust()
	require.NoError(t, err)
	for _, seed := range strings.Split(string(secret), `"`) {
		if strings.HasPrefix(seed, "S") && len(seed) > 50 {
			assert.NotContains(t, trust.Operator+trust.System, seed)
		}
	}
	_, err = rights.ParseKeys([]byte(`{"operator":"x"}`))
	require.Error(t, err)
	_, err = keys.HostJWT("h1", "X", time.Now())
	require.Error(t, err)
}
