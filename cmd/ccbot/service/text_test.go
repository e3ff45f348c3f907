package service

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
)

// away runs sessions for a chat on another machine.
var away = Program{Binary: plain.Binary, Path: plain.Path, Home: plain.Home, Host: true}

var plain = Program{Binary: "/home/me/bin/ccbot", Path: "/home/me/.local/bin:/usr/local/bin:/usr/bin:/bin", Home: "/home/me"}

// odd has what the two kinds of file give a meaning.
var odd = Program{Binary: "/home/a b/$HOME/100%/<é>/ccbot", Path: `/a b:/c%h$d:/"q"`, StateDir: "/home/it's/&state", Home: "/home/it's"}

// TestTexts compares with testdata; CCBOT_GOLDEN=1 writes it.
func TestTexts(t *testing.T) {
	for name, text := range map[string]string{"plain.service": Unit(plain), "odd.service": Unit(odd), "plain.plist": Plist(plain), "odd.plist": Plist(odd), "host.service": Unit(away), "host.plist": Plist(away)} {
		file := filepath.Join("testdata", name)
		if os.Getenv("CCBOT_GOLDEN") == "1" {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), text, name)
		assert.True(t, untouched(text), name)
		assert.False(t, untouched(strings.Replace(text, "PATH", "path", 1)), name)
		assert.False(t, untouched(text+" "), name)
	}
	assert.False(t, untouched("[Service]\n"))
	assert.False(t, untouched(""))
}

// TestDocumentHasTheUnit: docs/service.md shows what is written, with %h and such as they are.
func TestDocumentHasTheUnit(t *testing.T) {
	page, err := os.ReadFile("../../../docs/service.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), "\n```\n"+Unit(plain)+"```\n")
}

// TestUnitIsTakenBySystemd asks systemd's own checker; it wants a program that is there.
func TestUnitIsTakenBySystemd(t *testing.T) {
	longtest.Mark(t, "needs systemd-analyze")
	programtest.Require(t, "systemd-analyze")
	verify := func(text string) (string, error) {
		dir := t.TempDir()
		file := filepath.Join(dir, "ccbot.service")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		cmd := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "--man=no", "--recursive-errors=no", "verify", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	spaced := filepath.Join(t.TempDir(), "a b $HOME 100% ccbot")
	require.NoError(t, os.WriteFile(spaced, []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // it is a program
	for _, p := range []Program{{Binary: "/bin/true", Path: plain.Path}, {Binary: "/bin/true", Path: plain.Path, Host: true}, {Binary: spaced, Path: odd.Path, StateDir: odd.StateDir}} {
		out, err := verify(Unit(p))
		assert.NoError(t, err, out)
		assert.Empty(t, out)
	}
	out, err := verify(strings.Replace(Unit(Program{Binary: "/bin/true"}), "WatchdogSec=", "WatchDogSec=", 1))
	assert.Error(t, err, "the checker sees a mistake: %s", out)
}

func TestPlistIsXML(t *testing.T) {
	decoder := xml.NewDecoder(strings.NewReader(Plist(odd)))
	var texts []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, string(data))
		}
	}
	for _, want := range []string{odd.Binary, odd.Path, odd.StateDir} {
		assert.Contains(t, texts, want)
	}
}

func TestFullPath(t *testing.T) {
	assert.Equal(t, "/home/me/.local/bin:/usr/bin:/opt/x:/usr/local/bin:/bin", FullPath("/home/me/.local/bin", "/usr/bin:.:/opt/x::rel:/usr/bin"))
	assert.Equal(t, "/usr/local/bin:/usr/bin:/bin", FullPath("", ""))
}

// TestFilesNameStateFolder reads back the CCBOT_DIR that a file has.
func TestFilesNameStateFolder(t *testing.T) {
	for _, dir := range []string{"", odd.StateDir, `/a"b\c%d`} {
		p := plain
		p.StateDir = dir
		assert.Equal(t, dir, systemd{}.stateDir(Unit(p)))
		assert.Equal(t, dir, launchd{}.stateDir(Plist(p)))
	}
}

// TestPackageUnit compares the unit of a package with the one that Install writes: only the
// signature and PATH differ.
func TestPackageUnit(t *testing.T) {
	installed := Unit(Program{Binary: "/usr/bin/ccbot", Path: "/home/me/.local/bin:/usr/local/bin:/usr/bin:/bin"})
	_, installed, _ = strings.Cut(installed, "\n")
	assert.Equal(t, strings.Replace(installed, "/home/me/", "%h/", 1), PackageUnit("/usr/bin/ccbot"))
}
