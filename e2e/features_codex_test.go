//go:build linux

package e2e

// codexFeatures are the rows for Codex.
func codexFeatures() []feature {
	return []feature{
		{group: "tools", name: "a command of the sandbox", always: true, steps: []act{{say: "run echo of-the-sandbox", hears: "of-the-sandbox"}}},
		{group: "turns", name: "a turn, stopped", always: true, steps: []act{{say: "slow 600", shows: "slow word slow word"}, {say: "/stop", hears: "work is interrupted"}}},
	}
}

// walkedByOthers names the tests that walk through a feature of the list already; notWalked has why nothing does.
var walkedByOthers = map[string][][2]string{}
var notWalked = map[string][][2]string{}
