package codex

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/port/refusal"
)

// Oldest is the oldest version that ccbot can drive: 0.169.0.
const Oldest = 169

// versionTimeout bounds the run for the version, which takes some 10 ms.
const versionTimeout = 10 * time.Second

var version = lazyregexp.New(`^codex-cli (\d+)\.(\d+)\.(\S+)`)

// checkVersion returns a refusal if a program is not Codex, or is older than Oldest.
func checkVersion(program string) error {
	ctx, done := context.WithTimeout(context.Background(), versionTimeout)
	defer done()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH")} // it needs no secret
	out, err := cmd.Output()
	if err != nil {
		return unfit(refusal.UnfitOld, fmt.Errorf("read the version of %s: %w", program, err))
	}
	return supports(strings.TrimSpace(string(out)))
}

func supports(printed string) error {
	m := version.FindStringSubmatch(printed)
	if m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major > 0 || minor >= Oldest {
			return nil
		}
	}
	return unfit(refusal.UnfitOld, fmt.Errorf("%q is older than 0.%d.0", printed, Oldest))
}

func unfit(reason string, err error) error {
	return &refusal.Error{Code: refusal.AgentUnfit, Agent: "Codex", Reason: reason, Err: err}
}
