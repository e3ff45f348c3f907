package demoagent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"ccbot/try/demoagent/brain"
)

// Open asks the questions before the session, then begins it.
func (a *agent) Open() {
	if unknown := a.settings.unknownEvents(); len(unknown) > 0 && !a.hooks.off {
		a.startup = append(a.startup, func() {
			a.openDialog(warningMenu(unknown), func(out *outcome) { a.answered(!out.escaped && out.option != 3) })
		})
	}
	if a.env.get("DEMOAGENT_TRUST") != "" && !a.trusted() {
		a.startup = append(a.startup, func() {
			a.openDialog(trustMenu(a.cwd), func(out *outcome) {
				yes := out.option == 2
				if yes {
					a.trust()
				}
				a.answered(yes)
			})
		})
	}
	a.answered(true)
}

// answered continues with the next dialog before the session, or with the session.
func (a *agent) answered(on bool) {
	switch {
	case !on:
		a.brain.Quit(1, "other")
	case len(a.startup) > 0:
		next := a.startup[0]
		a.startup = a.startup[1:]
		next()
	default:
		a.begin()
	}
}

// begin starts the session proper: only now are there a SessionStart hook and a presence file.
func (a *agent) begin() {
	a.live = true
	more := map[string]any{"source": a.source, "model": model}
	if a.source == "resume" || a.source == "fork" {
		more["context_tokens"], more["seconds_since_last_response"] = 1000, 1
	}
	payload := a.payload("SessionStart", more)
	a.brain.Async(func() { a.hooks.run(a.brain.Context(), "SessionStart", a.source, payload) }, func() {
		a.opened = true
		if t := a.brain.Turn(); t != nil && a.state(t).onOpened != nil {
			a.state(t).onOpened()
		}
	})
	a.brain.After(early, func() {
		a.ready = true
		if a.options.prompt != "" {
			a.submit(brain.Prompt{Kind: brain.Words, Text: a.options.prompt, Plain: a.options.prompt})
		}
	})
	a.runStatusLine()
}

// globalState returns .claude.json, which has the trusted folders; the other fields are kept.
func (a *agent) globalState() map[string]any {
	state := map[string]any{}
	if data, err := os.ReadFile(a.env.globalConfig()); err == nil {
		_ = json.Unmarshal(data, &state) // a broken file trusts nothing
	}
	return state
}

func (a *agent) trusted() bool {
	projects, _ := a.globalState()["projects"].(map[string]any)
	project, _ := projects[a.cwd].(map[string]any)
	return project["hasTrustDialogAccepted"] == true
}

func (a *agent) trust() {
	state := a.globalState()
	projects, ok := state["projects"].(map[string]any)
	if !ok {
		projects = map[string]any{}
		state["projects"] = projects
	}
	project, ok := projects[a.cwd].(map[string]any)
	if !ok {
		project = map[string]any{}
		projects[a.cwd] = project
	}
	project["hasTrustDialogAccepted"] = true
	if err := replaceJSON(a.env.globalConfig(), state); err != nil {
		a.note(err)
	}
}

// replaceJSON renames a finished file into place: other sessions read it at the same time.
func replaceJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.tmp.%d", path, os.Getpid())
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
