package codex

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/witness"
	"ccbot/port/refusal"
)

var (
	_ agent.Starter   = Starter{}
	_ witness.Witness = Witness{}
	_ witness.Served  = Witness{}
)

var id = uuid.MustParse("01a218bf-1ff2-7662-b877-89551f85d5f7")

func TestArgv(t *testing.T) {
	s := Starter{Pane: "/opt/ccbot-codex"}
	flags := []string{"-m", "a"}
	for _, tt := range []struct {
		name  string
		mode  string
		start agent.Start
		want  []string
	}{
		{"new", agent.ModeAsk, agent.Start{Conversation: id}, []string{"--"}},
		{"resume", agent.ModeAsk, agent.Start{Conversation: id, Resumes: true}, []string{"resume", id.String(), "--"}},
		{"copy", agent.ModeAsk, agent.Start{CopyOf: id}, []string{"fork", id.String(), "--"}},
		{"bypass", agent.ModeBypass, agent.Start{}, []string{"--", bypass}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := append(append([]string{"/opt/ccbot-codex", "--codex", "/bin/codex", "--conversation", tt.start.Conversation.String()}, tt.want...), flags...)
			assert.Equal(t, want, s.Argv("/bin/codex", agent.Launch{Flags: flags, PermissionMode: tt.mode}, tt.start))
		})
	}
}

// A launch that was recorded with more permissions does not keep them.
func TestRelaunchKeepsOnlyModel(t *testing.T) {
	recorded := &agent.Launch{Command: "other", Flags: []string{"--yolo", "--model=b"}, PermissionMode: agent.ModeBypass}
	sh := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.WriteFile(sh, []byte("#!/bin/sh\necho codex-cli 0.169.0\n"), 0o700))
	starter := Starter{Pane: sh, Home: "/h"}
	l, program, err := starter.Relaunch(recorded, agent.Launch{Command: sh, Flags: []string{"-m", "a"}, PermissionMode: agent.ModeAsk}, agent.Seen{})
	require.NoError(t, err)
	assert.NotEmpty(t, program)
	assert.Equal(t, agent.Launch{Command: sh, Flags: []string{"-m", "a", "--model", "b"}, PermissionMode: agent.ModeAsk}, l)
	assert.Equal(t, "b", modelOf(l.Flags))
	assert.False(t, Starter{}.Bypasses(l, "on-request"))
	assert.True(t, Starter{}.Bypasses(*recorded, ""))
	assert.True(t, Starter{}.Bypasses(l, "never"))

	_, _, err = starter.Relaunch(nil, agent.Launch{Command: "no-such-codex"}, agent.Seen{})
	var refused *refusal.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, refusal.NotInstalled, refused.Code)
	assert.Equal(t, "CODEX_COMMAND", refused.Setting)
}

// The command may name a program that ccbot cannot drive. Each cause has its own sentence.
func TestUnfitCommandIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ script, reason string }{
		"fits":                 {"echo codex-cli 0.169.0", ""},
		"newer":                {"echo codex-cli 0.170.0-alpha.1", ""},
		"major":                {"echo codex-cli 1.0.0", ""},
		"old":                  {"echo codex-cli 0.168.9", refusal.UnfitOld},
		"Claude Code":          {"echo '2.1.328 (Claude Code)'", refusal.UnfitOther},
		"prints nothing":       {"", refusal.UnfitOther},
		"fails":                {"exit 3", refusal.UnfitSilent},
		"does not answer":      {"exec sleep 600", refusal.UnfitSilent},
		"its child stays open": {"sleep 1 & echo codex-cli 0.169.0", ""},
	} {
		// It is written before any of them runs: a process that is forked meanwhile holds it open for writing, and it could not be run.
		command := filepath.Join(t.TempDir(), "codex")
		require.NoError(t, os.WriteFile(command, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.Contains(tt.script, "600") {
				cancel()
			}
			_, err := Version(ctx, command)
			if tt.reason == "" {
				require.NoError(t, err)
				return
			}
			var refused *refusal.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, []string{string(refusal.AgentUnfit), tt.reason, command, "CODEX_COMMAND"},
				[]string{string(refused.Code), refused.Reason, refused.Command, refused.Setting})
		})
	}
}

// What ccbot itself lacks is refused before the version is looked at.
func TestIncompleteCcbotIsRefused(t *testing.T) {
	pane := filepath.Join(t.TempDir(), "ccbot-codex")
	for _, tt := range []struct {
		starter Starter
		want    refusal.Error
	}{
		{Starter{Pane: pane, Home: "/h"}, refusal.Error{Reason: refusal.UnfitPart, Command: pane}},
		{Starter{Pane: "/bin/sh", Home: "h"}, refusal.Error{Reason: refusal.UnfitFolder, Setting: "CODEX_HOME"}},
	} {
		_, _, err := tt.starter.Relaunch(nil, agent.Launch{Command: "/bin/false"}, agent.Seen{})
		refused := refusal.In(err)
		assert.NotNil(t, refused.Err)
		refused.Err = nil
		tt.want.Code, tt.want.Agent = refusal.AgentUnfit, "Codex"
		assert.Equal(t, tt.want, *refused)
	}
}

// A program may be a script whose interpreter is only on the PATH.
func TestVersionOfScript(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/bin/sh", filepath.Join(dir, "interpreter")))
	program := filepath.Join(dir, "codex")
	require.NoError(t, os.WriteFile(program, []byte("#!/usr/bin/env interpreter\necho codex-cli 0.169.0\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	version, err := Version(t.Context(), program)
	require.NoError(t, err)
	assert.Equal(t, "0.169.0", version)
}

// The launcher that npm installs may stay between ccbot-codex and its server, which is then no
// child of it.
func TestLauncherOfNpmIsNotStarted(t *testing.T) {
	target, known := targets[runtime.GOARCH]
	if !known {
		return
	}
	for label, folder := range map[string]string{"hoisted": target.pkg, "nested": "codex/node_modules/@openai/" + target.pkg, "in it": "codex"} {
		t.Run(label, func(t *testing.T) {
			openai := filepath.Join(t.TempDir(), "node_modules", "@openai")
			write := func(path, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
			}
			launcher := filepath.Join(openai, "codex", "bin", "codex.js")
			write(launcher, "#!/bin/sh\necho codex-cli 0.169.0\n")
			command := filepath.Join(openai, "codex-link")
			require.NoError(t, os.Symlink(launcher, command))
			starter := Starter{Pane: launcher, Home: "/h"}
			_, program, err := starter.Relaunch(nil, agent.Launch{Command: command}, agent.Seen{})
			require.NoError(t, err)
			assert.Equal(t, command, program, "the launcher itself, if what it starts is not found")

			native := filepath.Join(openai, folder, "vendor", target.triple, "bin", "codex")
			write(native, "#!/bin/sh\necho codex-cli 0.169.0\n")
			_, program, err = starter.Relaunch(nil, agent.Launch{Command: command}, agent.Seen{})
			require.NoError(t, err)
			assert.Equal(t, native, program)
		})
	}
}

func TestP1_CommandLineIsNoWriter(t *testing.T) {
	for _, args := range [][]string{{"codex", "resume", id.String()}, {"codex", "resume", id.String(), "--remote", "unix:///s"},
		{"codex", "app-server", "--listen", "unix:///s"}} {
		assert.Empty(t, Witness{}.Conversations(args), args)
	}
	argv := Starter{Pane: "/opt/ccbot-codex"}.Argv("/bin/codex", agent.Launch{}, agent.Start{Conversation: id})
	assert.Equal(t, []uuid.UUID{id}, Witness{}.Conversations(argv), "the window that ccbot has opened for it")
}

func TestServerHasSocket(t *testing.T) {
	for line, want := range map[string]bool{"unix:///run/s": true, "unix://": false, "ws://127.0.0.1:1": false} {
		assert.Equal(t, want, Witness{}.IsServer([]string{"codex", "app-server", "--listen", line}), line)
	}
	assert.False(t, Witness{}.IsServer([]string{"codex", "--remote", "unix:///run/s"}))
	assert.True(t, Witness{}.PrintsOnce([]string{"codex", "exec", "x"}))
	assert.Equal(t, []string{"codex", "ccbot-codex", "cx"}, Witness{Command: "/opt/cx"}.Names())
}
