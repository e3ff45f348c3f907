package doctor

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// provider is a way in which Claude Code reaches a model without its own login.
type provider struct {
	variable string
	// needs are variables that Claude Code needs then: one of each list.
	needs [][]string
	// file is below the home folder, and takes the place of the last list.
	file string
}

// providers are all ways that Claude Code documents (code.claude.com/docs/en/authentication). Only
// the names of variables are compared; values are not read.
var providers = []provider{
	{variable: "ANTHROPIC_API_KEY"},
	{variable: "ANTHROPIC_AUTH_TOKEN"},
	{variable: "CLAUDE_CODE_OAUTH_TOKEN"},
	{variable: "CLAUDE_CODE_USE_BEDROCK", file: ".aws/credentials",
		needs: [][]string{{"AWS_REGION", "AWS_DEFAULT_REGION"}, {"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"}}},
	{variable: "CLAUDE_CODE_USE_VERTEX",
		needs: [][]string{{"CLOUD_ML_REGION"}, {"ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"}}},
	{variable: "CLAUDE_CODE_USE_FOUNDRY", needs: [][]string{{"ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"}}},
}

// lacks returns the variables that the provider needs and names do not have: "A or B" for a list.
func (p provider) lacks(names []string, home string) (missing []string) {
	for i, list := range p.needs {
		has := slices.ContainsFunc(list, func(name string) bool { return slices.Contains(names, name) })
		if !has && i == len(p.needs)-1 && p.file != "" {
			_, err := os.Stat(filepath.Join(home, p.file))
			has = err == nil
		}
		if !has {
			missing = append(missing, strings.Join(list, " or "))
		}
	}
	return missing
}

// chosen returns the provider that the variables choose.
func chosen(names []string) (provider, bool) {
	i := slices.IndexFunc(providers, func(p provider) bool { return slices.Contains(names, p.variable) })
	if i < 0 {
		return provider{}, false
	}
	return providers[i], true
}

// login looks for the login of the agents: by the variables that the running bot passes to them,
// or, if no bot answers, by those that this shell and ccbot.env set.
func login(w *World) Finding {
	here := slices.Sorted(maps.Keys(w.Agents))
	names, whose := here, "this shell and ccbot.env set"
	if w.running != nil {
		names, whose = w.running.AgentVariables, "the running bot passes to its agents"
	}
	file := filepath.Join(w.ClaudeDir, ".credentials.json")
	if p, is := chosen(names); is {
		if missing := p.lacks(names, w.Home); len(missing) > 0 {
			return found("claude_provider", "put it into "+w.File+", and restart the bot", "%s is set, and %s is missing", p.variable, strings.Join(missing, ", "))
		}
		return good("login", "by %s, which %s", p.variable, whose)
	}
	if _, err := os.Stat(file); err == nil {
		return good("login", "%s is there", file)
	}
	if p, is := chosen(here); is { // and not in the running bot
		return found("claude_no_login", "put it into "+w.File+", and restart the bot", "this shell sets %s, and the running bot does not have it", p.variable)
	}
	if runtime.GOOS == "darwin" {
		return Finding{ID: "login", Status: Unknown, Summary: "a login in the keychain is not looked for"}
	}
	return found("claude_no_login", "run claude once, and /login in it", "there is no %s, and none of the variables that %s is a key", file, whose)
}
