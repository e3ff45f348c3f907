package doctor

import (
	"context"
	"os/exec"
	"strings"

	"ccbot/cmd/ccbot/offline"
	"ccbot/port/refusal"
)

// codexAgent checks whether a session of Codex can be started. A machine need not have Codex.
func codexAgent(ctx context.Context, w *World) []Finding {
	if w.wrong != nil {
		return []Finding{unseen("codex", errNoSettings)}
	}
	seen, err := offline.InspectCodex(ctx, w.Config, w.environ)
	switch e := refusal.In(err); {
	case e.Reason == refusal.UnfitUnknown:
		return []Finding{skipped("codex", "ccbot runs Codex only on Linux")}
	case e.Code == refusal.NotInstalled && w.Codex == "codex":
		why := "Codex is not installed"
		if _, missing := exec.LookPath(w.ClaudeCommand()); missing == nil {
			why += ": each session uses Claude Code"
		}
		return []Finding{skipped("codex", why)}
	case e.Code == refusal.NotInstalled:
		return []Finding{found("codex_missing", "install Codex, or set CODEX_COMMAND to its path", "there is no program %s", e.Command)}
	case e.Reason == refusal.UnfitPart:
		return []Finding{found("codex_part_missing", "", "Codex is installed, and %s is missing", e.Command)}
	case e.Reason == refusal.UnfitFolder:
		return []Finding{found("codex_unfit", "set CODEX_HOME to an absolute path", "%v", err)}
	case err != nil:
		return []Finding{found("codex_unfit", "", "%v", err)}
	}
	login := good("codex", "it is logged in")
	switch {
	case strings.Contains(seen.NoLogin, "Not logged in"):
		login = found("codex_no_login", "run codex login, unless its config.toml names another provider", "Codex is not logged in")
	case seen.NoLogin != "":
		login = found("codex_settings", "correct config.toml in "+w.CodexDir, "Codex does not tell its login: %s", seen.NoLogin)
	}
	return []Finding{good("codex", "%s, run by ccbot-codex", seen.Version), login}
}

// withoutClaude returns the finding about a missing Claude Code, which is a failure only if no
// session can start.
func (w *World) withoutClaude(ctx context.Context, command string) Finding {
	_, unfit := offline.InspectCodex(ctx, w.Config, w.environ)
	if instead := offline.InsteadOfClaude(w.Config); unfit == nil && instead != "" {
		return skipped("claude", "Claude Code is not installed: each session uses "+instead)
	}
	f := found("claude_missing", offline.InstallAgent, "there is no program %s", command)
	if unfit == nil {
		f.Status = Warn
	}
	return f
}
