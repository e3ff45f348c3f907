package main

import (
	"os"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/running"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/member"
)

// TestJoinOfMemberAsks: the other chat would lose the machine and its sessions without a word.
func TestJoinOfMemberAsks(t *testing.T) {
	state := t.TempDir()
	env := []string{"HOME=" + state, "CCBOT_DIR=" + state, "PATH=" + os.Getenv("PATH")}
	folder := running.FleetFolder(state)
	keys, err := join.NewHostKeys()
	require.NoError(t, err)
	require.NoError(t, member.Joined(folder, join.Admission{ChatName: "attic", Name: "B"}, keys))
	account, err := nkeys.CreateAccount()
	require.NoError(t, err)
	public, err := account.PublicKey()
	require.NoError(t, err)
	code, err := join.Code{Hub: link.Hub{Address: "127.0.0.1:1"}, Chat: keys.Seal.Public(), Account: public, Until: time.Now().Add(time.Minute)}.Text()
	require.NoError(t, err)
	got, _, errs := ccbot(env, "join", code)
	assert.Equal(t, exit.Failure, got)
	assert.Contains(t, errs, "This machine belongs to the chat of attic as B, which loses it with its sessions. Join the other chat? [y/N]")
	assert.Contains(t, errs, "nothing was done: answer y, or give --yes")
	_, _, errs = ccbot(env, "join", "--yes", code)
	assert.NotContains(t, errs, "[y/N]")
	a, is, err := member.Membership(folder)
	require.NoError(t, err)
	assert.Equal(t, []any{true, "B"}, []any{is, a.Name}, "no hub was reached")
}
