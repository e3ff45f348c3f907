package claude

import "ccbot/port"

// abilities are the abilities of Claude Code: the modes and models in the order of their buttons.
// The modes auto and bypass run tools without asking, so they are never chosen from the chat. The
// models are as in its list.
var abilities = port.Abilities{Modes: []port.Mode{port.ModeManual, port.ModeAcceptEdits, port.ModePlan},
	Models: []string{"Opus", "Sonnet", "Haiku", "Fable"}, Compact: true, Bash: true}
