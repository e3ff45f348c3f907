package claude

import "ccbot/port"

// abilities are the abilities of Claude Code.
var abilities = port.Abilities{Modes: port.Modes, Models: port.Models, Compact: true, Bash: true}
