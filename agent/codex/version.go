package codex

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
	"ccbot/port/refusal"
)

// Oldest is the oldest version that ccbot can drive: 0.169.0.
const Oldest = 169

// versionTimeout bounds the run for the version or the login, which takes some 10 ms.
const versionTimeout = 10 * time.Second

var version = lazyregexp.New(`(?m)^codex-cli ((\d+)\.(\d+)\.\S+)`)

// Version returns the version of a program. The error is a refusal if it is not Codex, is older
// than Oldest, or does not tell its version.
func Version(ctx context.Context, program string) (string, error) {
	printed, err := run(ctx, []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH")}, program, "--version") // it needs no secret
	m := version.FindStringSubmatch(printed)
	var reason string
	switch {
	case m == nil && err != nil:
		reason = refusal.UnfitSilent
	case m == nil:
		reason, err = refusal.UnfitOther, fmt.Errorf("it is not Codex: %q", clip.Runes(printed, 200))
	default:
		major, _ := strconv.Atoi(m[2])
		minor, _ := strconv.Atoi(m[3])
		if major > 0 || minor >= Oldest {
			return m[1], nil
		}
		reason, err = refusal.UnfitOld, fmt.Errorf("%q is older than 0.%d.0", m[1], Oldest)
	}
	return "", unfit(reason, program, "CODEX_COMMAND", fmt.Errorf("read the version of %s: %w", program, err))
}

// NoLogin returns why a program is not logged in, in its own words; empty: it is. The program reads
// its settings first.
func NoLogin(ctx context.Context, program string, env []string) string {
	printed, err := run(ctx, env, program, "login", "status")
	if err == nil {
		return ""
	}
	return cmp.Or(printed[strings.LastIndex(printed, "\n")+1:], err.Error()) // warnings are above it
}

func run(ctx context.Context, env []string, program string, args ...string) (printed string, err error) {
	ctx, done := context.WithTimeout(ctx, versionTimeout)
	defer done()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.WaitDelay = env, versionTimeout/2 // its children may keep the output open
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// product is Codex' name for people.
const product = "Codex"

func unfit(reason, command, setting string, err error) error {
	return &refusal.Error{Code: refusal.AgentUnfit, Agent: product, Reason: reason, Command: command, Setting: setting, Err: err}
}
