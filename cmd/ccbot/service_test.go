package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/join"
	"ccbot/fleet/member"
)

// installs runs ccbot service install, and returns its output and the unit that it writes.
func (o *operator) installs(more ...string) (said, unit string) {
	o.t.Helper()
	cmd := exec.Command(o.ccbot, "service", "install")
	cmd.Env = append(o.environ(), more...)
	out, err := cmd.CombinedOutput()
	require.NoError(o.t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(o.home, ".config", "systemd", "user", "ccbot.service"))
	require.NoError(o.t, err)
	return string(out), string(data)
}

// TestServiceFindsSettings: ccbot.env may name another state folder, in which there is no
// ccbot.env.
func TestServiceFindsSettings(t *testing.T) {
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

// TestServiceLacksShellVariables: install names it, without the values.
func TestServiceLacksShellVariables(t *testing.T) {
	d := newOperator(t)
	d.writes("TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\n")
	said, _ := d.installs("ALLOWED_USERS=1,271828", "KILL_GRACE=29s")
	assert.Contains(t, said, "of this shell: ALLOWED_USERS, KILL_GRACE\n")
	assert.NotContains(t, said, "271828")
	assert.NotContains(t, said, "29s")
}

// TestServiceGetsAgentVariables: install names the variables of agents that this shell sets, and
// writes them into ccbot.env if asked, never into the unit.
func TestServiceGetsAgentVariables(t *testing.T) {
	d := newOperator(t)
	settings := "TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\n"
	d.writes(settings)
	shell := []string{"ANTHROPIC_API_KEY=sk-sesame", "AWS_REGION=eu-1", "AGENT_ENV_NOTE=a $b 'c", "HTTPS_PROXY=http://u:sesame@h:1", "NO_PROXY=127.0.0.1"}
	said, unit := d.installs(shell...)
	assert.Contains(t, said, "of this shell: AGENT_ENV_NOTE, ANTHROPIC_API_KEY, AWS_REGION, HTTPS_PROXY, NO_PROXY\n"+
		"to give them to the service: ccbot service install --write-settings, or write them into "+d.file)

	cmd := exec.Command(d.ccbot, "service", "install", "--write-settings")
	cmd.Env = append(d.environ(), shell...)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "write these settings into it by hand", "no quotes hold this note")

	shell[2] = "AGENT_ENV_NOTE=a $b #c"
	cmd = exec.Command(d.ccbot, "service", "install", "--write-settings")
	cmd.Env = append(d.environ(), shell...)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "written: "+d.file)
	data, err := os.ReadFile(d.file)
	require.NoError(t, err)
	assert.Equal(t, settings+"NO_PROXY=127.0.0.1\nHTTPS_PROXY=http://u:sesame@h:1\nAWS_REGION=eu-1\nANTHROPIC_API_KEY=sk-sesame\nAGENT_ENV_NOTE='a $b #c'\n", string(data))
	assert.NotContains(t, string(out), "sesame")
	assert.NotContains(t, unit, "sesame")
	again, unit := d.installs(shell...)
	assert.NotContains(t, again, "of this shell")
	assert.NotContains(t, unit, "sesame")
}

// TestP9_ServicePathHasNoForeignFolder of its PATH, and is not installed if git could be
// another user's.
func TestP9_ServicePathHasNoForeignFolder(t *testing.T) {
	d := newOperator(t)
	d.writes("TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\n")
	open := filepath.Join(d.home, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777)) //nolint:gosec // others may put programs there
	path := "PATH=" + os.Getenv("PATH") + ":" + open
	said, unit := d.installs(path)
	assert.NotContains(t, unit, open)
	assert.Contains(t, said, `not in the PATH of the service: "`+open+`": others may write `+open+"\n")

	for _, name := range []string{"git", "codex"} {
		if name == "codex" && runtime.GOOS != "linux" {
			continue
		}
		require.NoError(t, os.Symlink("/bin/true", filepath.Join(open, name)))
		cmd := exec.Command(d.ccbot, "service", "install", "--force")
		cmd.Env = append(d.environ(), "PATH="+open+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%v", err)
		assert.Contains(t, string(out), "another user could put another program in the place of "+filepath.Join(open, name)+": others may write "+open)
		require.NoError(t, os.Remove(filepath.Join(open, name)))
	}
	require.NoError(t, os.Symlink("/bin/true", filepath.Join(open, "git")))

	cmd := exec.Command(d.ccbot, "service", "install", "--force")
	cmd.Dir, cmd.Env = d.home, append(d.environ(), "PATH=open:"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%v", err)
	assert.Contains(t, string(out), "git is in a folder of PATH that is not absolute")

	for _, name := range []string{"ccbot", "ccbot-hook"} {
		require.NoError(t, os.Link(filepath.Join(filepath.Dir(d.ccbot), name), filepath.Join(open, name)))
	}
	cmd = exec.Command(filepath.Join(open, "ccbot"), "service", "install", "--force")
	cmd.Env = d.environ()
	out, err = cmd.CombinedOutput()
	assert.Equal(t, 2, cmd.ProcessState.ExitCode(), "%v", err)
	assert.Contains(t, string(out), "another user could put another program in the place of "+open+"/ccbot: others may write "+open)
	assert.Contains(t, string(out), "or install ccbot elsewhere")
}

// TestServiceOfHostNeedsNoToken: a machine that has joined a chat runs `ccbot host run`; with a
// token it runs its own bot.
func TestServiceOfHostNeedsNoToken(t *testing.T) {
	d := newOperator(t)
	fleet := filepath.Join(d.home, ".ccbot", "fleet")
	require.NoError(t, os.MkdirAll(filepath.Dir(fleet), 0o700))
	keys, err := member.Keys(fleet)
	require.NoError(t, err)
	require.NoError(t, member.Joined(fleet, join.Admission{ID: "h1", Name: "B"}, keys))
	_, unit := d.installs()
	assert.Contains(t, unit, "\nExecStart=\""+d.ccbot+"\" host run\n")
	assert.Contains(t, unit, "\nType=exec\n")

	d.writes("TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=1\nTELEGRAM_API_URL=" + d.api.URL() + "\n")
	_, unit = d.installs()
	assert.Contains(t, unit, "\nExecStart=\""+d.ccbot+"\" run\n")
}
