package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installs runs ccbot service install, and gives what it says and the unit that it writes.
func (d *operator) installs(more ...string) (said, unit string) {
	d.t.Helper()
	cmd := exec.Command(d.ccbot, "service", "install")
	cmd.Env = append(d.environ(), more...)
	out, err := cmd.CombinedOutput()
	require.NoError(d.t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(d.home, ".config", "systemd", "user", "ccbot.service"))
	require.NoError(d.t, err)
	return string(out), string(data)
}

// TestTheServiceFindsItsSettings: ccbot.env may name another state folder, in which there is no ccbot.env.
func TestTheServiceFindsItsSettings(t *testing.T) {
	d := newOperator(t)
	d.writes("TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\nCCBOT_DIR=~/elsewhere\n")
	said, unit := d.installs()
	assert.NotContains(t, unit, "CCBOT_DIR")
	assert.NotContains(t, said, "these settings")

	own := filepath.Join(d.home, "own")
	require.NoError(t, os.Mkdir(own, 0o700))
	require.NoError(t, os.Rename(d.file, filepath.Join(own, "ccbot.env")))
	_, unit = d.installs("CCBOT_DIR=~/own")
	assert.Contains(t, unit, "CCBOT_DIR="+own+"\"\n")
}

// TestTheServiceLacksWhatTheShellHas: install names it, without the values.
func TestTheServiceLacksWhatTheShellHas(t *testing.T) {
	d := newOperator(t)
	d.writes("TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\n")
	said, _ := d.installs("ALLOWED_USERS=1,271828", "KILL_GRACE=29s")
	assert.Contains(t, said, "as ccbot.env has them: ALLOWED_USERS, KILL_GRACE\n")
	assert.NotContains(t, said, "271828")
	assert.NotContains(t, said, "29s")
}
