package repotest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists the packages from top to bottom. A package may import only packages of lower layers.
// The packages of a folder are in its layer unless they are listed here.
var layers = [][]string{
	{"e2e", "internal/repotest"}, // tests of the whole
	{"cmd/ccbot", "cmd/ccbot-codex", "cmd/ccbot-hook", "cmd/ccbot-hub", "cmd/ccbot-try"},
	{"bot/chat/chattest"}, // the chat among fakes
	{"cmd/ccbot/doctor", "cmd/ccbot/importer", "cmd/ccbot/running", "cmd/ccbot/setup"},
	{"cmd/ccbot/engine"},
	{"cmd/ccbot/offline"},
	{"cmd/ccbot/config", "cmd/ccbot/metrics", "cmd/ccbot/reply", "cmd/ccbot/service", "cmd/ccbot/servicemanager", "cmd/ccbot/show", "cmd/ccbot/socket", "cmd/ccbot/telegram", "cmd/ccbot/voice"},
	{"cmd/ccbot/statefolder"},
	{"cmd/ccbot/upgrade"},
	{"cmd/ccbot/environment", "cmd/ccbot/exit", "cmd/ccbot/terminal"},
	{"bot"},
	{"bot/answer", "bot/ask", "bot/browse", "bot/budget", "bot/changes", "bot/dialog", "bot/files", "bot/groups", "bot/health", "bot/history", "bot/hosts", "bot/idle", "bot/limit", "bot/longtext", "bot/loops", "bot/menu", "bot/modes", "bot/moves", "bot/prompt", "bot/questions", "bot/report", "bot/schedules", "bot/screenshot", "bot/sessions", "bot/settings", "bot/several", "bot/shell", "bot/status", "bot/topics", "bot/turn", "bot/usage", "bot/waiting", "bot/why", "bot/writers"}, // features
	{"bot/people"},
	{"bot/attachment", "bot/attention", "bot/inform", "bot/newtext", "bot/planned", "bot/quotation", "bot/textlist"},
	{"bot/chat", "fleet"},
	{"fleet/center", "fleet/member"},
	{"fleet/rpc"},
	{"fleet/channel", "fleet/wire"},
	{"fleet/courier", "fleet/hub", "fleet/join"},
	{"fleet/link"},
	{"fleet/rights", "fleet/seal"},
	{"fleet/life"},
	{"fleet/beat"},
	{"bot/offer"},
	{"bot/card", "bot/conversation", "bot/machine"},
	{"bot/inbox", "bot/outbox", "bot/render"},
	{"host", "loop/template"},
	{"archive", "loop", "recovery", "schedule"},
	{"host/outgoing", "host/received", "lifecycle"},
	{"lifecycle/dialog"},
	{"lifecycle/typing"},
	{"lifecycle/ending", "lifecycle/view"},
	{"internal/ledger", "lifecycle/evidence", "lifecycle/outcome", "lifecycle/modekeys"},
	{"agent/claude", "agent/codex"},
	{"agent/codex/appserver", "agent/codex/codexui", "agent/codex/rollout", "agent/codex/writerlock"},
	{"agent/agenttest", "agent/claude/claudesettings", "agent/toy", "hooks", "tmux"},
	{"try"}, // stand-ins of Telegram and of Claude Code
	{"try/demoagent/brain"},
	{"try/demoagent/script", "try/demoagent/terminal"},
	{"agent/claude/transcript"},
	{"agent/jsonl", "internal/control", "internal/prompts", "internal/session"}, // a record is kept in the port's types
	{"agent/claude/claudeask", "agent/claude/claudeflags", "agent/claude/claudekeys", "agent/claude/claudeui", "agent/claude/presence", "agent/claude/slashcommand", "agent/codex/greeting", "internal/process"},
	{"agent"},
	{"agent/history", "agent/witness"},
	{"bot/alias", "port"},
	{"agent/claude/prices", "i18n", "internal"},
	{"internal/suspect", "internal/systemfont", "internal/timespan", "internal/watch"},
	{"internal/guard"},
	{"internal/address", "internal/clip", "internal/disk", "internal/lazyregexp", "internal/logkey", "internal/membudget", "internal/ownfile", "internal/pause", "internal/procstat", "internal/sysfault", "internal/wording"},
}

// sideways are the imports between packages of one layer, each with its reason; an unused one fails
// the test.
var sideways = map[[2]string]string{
	{"bot/card", "bot/outbox"}:                   "a card is sent as a named post, and edited",
	{"bot/card", "bot/render"}:                   "a card's text is a rendered one",
	{"bot/outbox", "bot/render"}:                 "a message's text is a rendered one",
	{"bot/chat", "bot/conversation"}:             "who may read a message, and whose session it is",
	{"internal/naming", "internal/glyph"}:        "what cannot be seen is no word of a name",
	{"internal/control", "internal/hookwire"}:    "the socket speaks in its lines",
	{"internal/control", "internal/process"}:     "a peer is known by the processes above it",
	{"internal/capture", "internal/cellpicture"}: "a capture is read as the cells of a picture",
	{"internal/facts", "internal/spool"}:         "a file of facts is an item of a folder",
}

// only lists packages that may import no other package of the module.
var only = map[string][]string{
	"cmd/ccbot-hook":         {"internal/hookwire"},                        // it starts at every prompt: small, and nothing that can wait
	"cmd/ccbot-codex":        {"agent/codex/greeting", "internal/jsonrpc"}, // its children have a terminal, and need nothing else of ccbot
	"i18n":                   nil,
	"internal/hookwire":      {"internal/procstat"}, // one reader of /proc for the table and the hook
	"internal/procstat":      nil,
	"try/botapi":             nil, // a stand-in that shares code with what it tests proves nothing
	"try/demoagent":          {"try/demoagent/brain", "try/demoagent/script", "try/demoagent/terminal"},
	"try/demoagent/brain":    {"try/demoagent/script", "try/demoagent/terminal"},
	"try/demoagent/script":   nil,
	"try/demoagent/terminal": nil,
}

// users are the only packages that may import one: the chat knows its machine by
// ports, and no stand-in is a part of ccbot.
var users = map[string][]string{
	"fleet/hub": {"cmd/ccbot-hub"}, // the server of NATS is in no other program

	"host":          {"cmd/ccbot", "cmd/ccbot/engine", "cmd/ccbot/offline", "cmd/ccbot/running"},
	"host/outgoing": {"host"},
	"host/received": {"cmd/ccbot", "cmd/ccbot/engine", "host"},

	"agent/codex":         {"cmd/ccbot/offline"}, // with the tag failpoints
	"agent/toy":           {"cmd/ccbot/offline"}, // with the tag failpoints
	"try/botapi":          {"cmd/ccbot-try"},
	"try/demoagent":       {"cmd/ccbot-try"},
	"try/demoagent/brain": {"try/demoagent"},
	"try/privatetmux":     {"cmd/ccbot-try"},
}

// machinery are the packages of the standard library that act on the agent's machine.
var machinery = []string{"os", "os/exec", "path/filepath", "syscall"}

// chatTools are the packages besides the chat, the ports and the texts that the chat may import.
// The others are the agent's machine, or know it.
var chatTools = []string{
	"internal/address", "internal/apianswer", "internal/capture", "internal/cellpicture",
	"internal/clip", "internal/cuttext", "internal/disk", "internal/each",
	"internal/facts", "internal/glyph", "internal/guard", "internal/health", "internal/keepjson",
	"internal/lazyregexp", "internal/logkey", "internal/naming", "internal/pause", "internal/spool",
	"internal/sysfault", "internal/timespan", "internal/typo",
}

// diskPackages are the packages of the chat that keep files, and name their folder.
var diskPackages = []string{"bot/inbox", "bot/outbox"}

// layerOf returns the layer of a package, -1 if it has none.
func layerOf(pkg string) int {
	for parsed := pkg; parsed != "."; parsed = path.Dir(parsed) {
		if i := slices.IndexFunc(layers, func(pkgs []string) bool { return slices.Contains(pkgs, parsed) }); i >= 0 {
			return i
		}
	}
	return -1
}

// objection returns the fault of an import, "" if there is none. Tests and their support may also
// import their own layer.
func objection(from, to string, test bool) string {
	allowed, limited := only[from]
	may, kept := users[to]
	up, down := layerOf(from), layerOf(to)
	switch {
	case down < 0:
		return "has no layer in this file"
	case test && isSupport(to): // from outside its own package
		return ""
	case test || isSupport(from):
		if down < up {
			return "points up"
		}
		return ""
	case limited && !slices.Contains(allowed, to):
		return "is not in its short list"
	case kept && !slices.Contains(may, from):
		return "is not for it"
	case isSupport(to):
		return "is for tests only"
	case down < up:
		return "points up"
	case down == up && from != to && sideways[[2]string{from, to}] == "" && !(isPort(from) && isPort(to)):
		return "points sideways"
	}
	return ""
}

// TestArchitecture compares every import of the tree with the layers.
func TestArchitecture(t *testing.T) {
	importing := func(file, to string) map[string]string {
		return map[string]string{file: "package x\n\nimport \"ccbot/" + to + "\"\n"}
	}
	holds(t, importsLeadDown,
		wrong{importing("lifecycle/x.go", "bot"), "lifecycle/x.go imports bot: it points up"},
		wrong{importing("bot/inbox/x.go", "bot"), "points up"},
		wrong{importing("hooks/x_test.go", "bot"), "points up"},
		wrong{importing("hooks/x.go", "tmux"), "points sideways"},
		wrong{importing("i18n/x.go", "internal/session"), "is not in its short list"},
		wrong{importing("cmd/ccbot-hook/x.go", "internal/spool"), "is not in its short list"},
		wrong{importing("try/demoagent/x.go", "agent/claude/transcript"), "is not in its short list"},
		wrong{importing("lifecycle/x.go", "tmux/tmuxtest"), "is for tests only"},
		wrong{importing("bot/x.go", "host"), "is not for it"},
		wrong{importing("bot/x.go", "helpers"), "has no layer"},
		wrong{importing("helpers/x.go", "bot"), "helpers/x.go: its package has no layer"},
		wrong{importing("x.go", "bot"), "x.go: its package has no layer"},
		wrong{importing("bot/x.go", "port"), "bot/card does not import bot/outbox any more"})
}

func importsLeadDown(t *tree) (faults []string) {
	used := make(map[[2]string]bool)
	for _, s := range t.sources {
		if layerOf(s.pkg) < 0 {
			faults = append(faults, s.path+": its package has no layer; give it one in layers (internal/repotest/layers_test.go)")
		}
		for _, to := range s.imports {
			if why := objection(s.pkg, to, s.test || strings.HasPrefix(s.pkg, "e2e/")); why != "" {
				faults = append(faults, s.path+" imports "+to+": it "+why+" (see internal/repotest/layers_test.go)")
			}
			used[[2]string{s.pkg, to}] = true
		}
	}
	for arrow := range sideways {
		if !used[arrow] {
			faults = append(faults, arrow[0]+" does not import "+arrow[1]+" any more: take it out of sideways")
		}
	}
	return faults
}

// Each objection allows what is not one.
func TestAllowedImports(t *testing.T) {
	for _, allowed := range []struct {
		from, to string
		test     bool
	}{
		{"bot", "lifecycle", false}, {"cmd/ccbot", "internal/process", false}, {"bot", "bot/inbox", false}, {"internal/control", "internal/hookwire", false},
		{"cmd/ccbot-hook", "internal/hookwire", false}, {"lifecycle", "tmux/tmuxtest", true}, {"bot/ask", "bot/chat/chattest", true}, {"hooks", "tmux", true},
		{"bot", "port/folders", false}, {"lifecycle", "try/demoagent", true},
	} {
		if why := objection(allowed.from, allowed.to, allowed.test); why != "" {
			t.Errorf("%s imports %s: it %s", allowed.from, allowed.to, why)
		}
	}
}

// notImported makes a rule of the imports that some packages must not have. why returns the reason,
// or "".
func notImported(t *tree, from func(source) bool, why func(to string) string) (faults []string) {
	for _, s := range t.sources {
		if !from(s) {
			continue
		}
		for _, to := range slices.Sorted(maps.Values(importsOf(s.file))) {
			if reason := why(to); reason != "" {
				faults = append(faults, s.path+" imports "+strings.TrimPrefix(to, module)+": "+reason)
			}
		}
	}
	return faults
}

// TestP4_EngineOpensNoFileOfTheChat: an engine may be on a machine that has none.
func TestP4_EngineOpensNoFileOfTheChat(t *testing.T) {
	holds(t, func(t *tree) []string {
		return notImported(t, func(s source) bool {
			return !s.test && (s.pkg == enginePackage || s.pkg == "internal/prompts" || strings.HasPrefix(s.pkg, "lifecycle"))
		}, func(to string) string {
			if strings.HasPrefix(to, module+"bot") {
				return "an engine may be on a machine without the files of the chat"
			}
			return ""
		})
	}, wrong{map[string]string{"lifecycle/x.go": "package lifecycle\n\nimport _ \"ccbot/bot/inbox\"\n"}, "lifecycle/x.go imports bot/inbox"})
}

// TestOnlyHubContainsServer: the server of NATS is larger than half of ccbot. Tests may import it.
func TestOnlyHubContainsServer(t *testing.T) {
	holds(t, func(t *tree) []string {
		return notImported(t, func(s source) bool { return !s.test && s.pkg != "fleet/hub" }, func(to string) string {
			if strings.HasPrefix(to, "github.com/nats-io/nats-server/") {
				return "only fleet/hub has the server of NATS, because it is larger than half of ccbot"
			}
			return ""
		})
	}, wrong{map[string]string{"fleet/link/x.go": "package link\n\nimport _ \"github.com/nats-io/nats-server/v2/server\"\n"}, "fleet/link/x.go imports github.com/nats-io/nats-server"})
}

// TestOnlyProgramsKnowClaude: the rest of the product reaches Claude Code through package agent.
func TestOnlyProgramsKnowClaude(t *testing.T) {
	holds(t, func(t *tree) []string {
		return notImported(t, func(s source) bool {
			return !s.test && !isSupport(s.pkg) && !isStandIn(s.pkg) && !isIn(s.pkg, "cmd") && !isIn(s.pkg, "agent/claude")
		}, func(to string) string {
			if isIn(to, module+"agent/claude") {
				return "use package agent, so that another agent works as well"
			}
			return ""
		})
	}, wrong{map[string]string{"lifecycle/x.go": "package lifecycle\n\nimport _ \"ccbot/agent/claude/presence\"\n"}, "lifecycle/x.go imports agent/claude/presence"})
}

// enginePackage connects the parts that run sessions, in the bot and in `ccbot host run`.
const enginePackage = "cmd/ccbot/engine"

// chatImports are the packages through which the engine still depends on types and constants of the
// chat, with what it must find elsewhere.
var chatImports = map[string]string{
	"cmd/ccbot/config":  "the names of choices, which belong to the settings",
	"cmd/ccbot/offline": "the sentences for a terminal, which the engine does not use",
	"cmd/ccbot/socket":  "the limits of a file",
}

// TestEngineImportsNoChat also finds what the engine imports indirectly: sessions would depend on a
// chat that may be on another machine.
func TestEngineImportsNoChat(t *testing.T) {
	engine := func(to string) map[string]string {
		return map[string]string{enginePackage + "/x.go": "package engine\n\nimport _ \"ccbot/" + to + "\"\n", "loop/x.go": "package loop\n\nimport _ \"ccbot/bot/card\"\n"}
	}
	holds(t, engineImportsNoChat, wrong{engine("bot/chat"), enginePackage + " imports bot/chat"}, wrong{engine("loop"), "loop imports bot/card"},
		wrong{engine("port"), "cmd/ccbot/socket imports no chat any more"})
}

func engineImportsNoChat(t *tree) (faults []string) {
	imports := make(map[string][]string)
	for _, s := range t.sources {
		if !s.test {
			imports[s.pkg] = append(imports[s.pkg], s.imports...)
		}
	}
	through, seen := make(map[string]bool), map[string]bool{enginePackage: true}
	for queue := []string{enginePackage}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, to := range imports[from] {
			switch {
			case isChat(to) && chatImports[from] != "":
				through[from] = true
			case isChat(to):
				faults = append(faults, from+" imports "+to+": the engine would depend on the chat, which may be on another machine; use a port")
			case !seen[to]:
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for pkg := range chatImports {
		if !through[pkg] {
			faults = append(faults, pkg+" imports no chat any more: take it out of chatImports")
		}
	}
	return faults
}

// TestArchitectureOfTheChat: the chat knows the agents' machine by ports, and reaches no disk,
// process or tmux there.
func TestArchitectureOfTheChat(t *testing.T) {
	holds(t, chatUsesPorts,
		wrong{map[string]string{"bot/x.go": "package bot\n\nimport _ \"ccbot/internal/process\"\n"}, "bot/x.go imports internal/process: use a port"},
		wrong{map[string]string{"bot/ask/x.go": "package ask\n\nimport _ \"os/exec\"\n"}, "bot/ask/x.go imports os/exec: use a port"},
		wrong{map[string]string{"bot/inbox/x.go": "package inbox\n\nimport _ \"syscall\"\n"}, "bot/inbox/x.go imports syscall: use a port"},
		wrong{map[string]string{"bot/x.go": "package bot\n"}, "the chat does not import internal/typo any more"})
}

func chatUsesPorts(t *tree) (faults []string) {
	used := make(map[string]bool)
	for _, s := range t.product() {
		if !isChat(s.pkg) {
			continue
		}
		for _, to := range s.imports {
			used[to] = true
			if !isChat(to) && !isPort(to) && to != "i18n" && !slices.Contains(chatTools, to) {
				faults = append(faults, s.path+" imports "+to+": use a port, or add a tool that touches no machine to chatTools")
			}
		}
		for _, spec := range s.file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value) // parse has checked it
			keeps := slices.Contains(diskPackages, s.pkg) && (name == "os" || name == "path/filepath")
			if slices.Contains(machinery, name) && !keeps {
				faults = append(faults, s.path+" imports "+name+": use a port")
			}
		}
	}
	for _, tool := range chatTools {
		if !used[tool] {
			faults = append(faults, "the chat does not import "+tool+" any more: take it out of chatTools")
		}
	}
	return faults
}

// engine are the folders of the engine. A coding agent is known only in its own folder of agent.
var engine = []string{"archive", "internal/process", "internal/session", "lifecycle", "recovery", "tmux"}

// agentKnowledge matches the name of Claude Code, its versions and variables, and words of its own.
var agentKnowledge = regexp.MustCompile(`(?i)claude|\b2\.1\.\d|anthropic_|permission prompt|input needed|/compact\b|AskUserQuestion|ExitPlanMode`)

// agentKeys are names in files that stay: keys of JSON.
var agentKeys = regexp.MustCompile(`claude(_[a-z]+)+`)

// TestNoWordOfClaudeInEngine: the engine runs any coding agent.
func TestNoWordOfClaudeInEngine(t *testing.T) {
	holds(t, engineNamesNoAgent,
		wrong{map[string]string{"lifecycle/view/x.go": "package view\n\n// As Claude Code does.\n"}, "lifecycle/view/x.go:3 names Claude Code"},
		wrong{map[string]string{"tmux/x.go": "package tmux\n\nconst x = \"AskUserQuestion\"\n"}, "tmux/x.go:3"})
}

func engineNamesNoAgent(t *tree) (faults []string) {
	for _, s := range t.product() {
		if !slices.ContainsFunc(engine, func(dir string) bool { return isIn(s.pkg, dir) }) {
			continue
		}
		for i, line := range strings.Split(s.lines, "\n") {
			if agentKnowledge.MatchString(agentKeys.ReplaceAllString(line, "")) {
				faults = append(faults, s.path+":"+strconv.Itoa(i+1)+" names Claude Code or something of its own: the engine runs any agent, so say it in agent/claude")
			}
		}
	}
	return faults
}

// TestPackagesStatePromises wants a package comment, in doc.go where a package has more than one
// file.
func TestPackagesStatePromises(t *testing.T) {
	holds(t, packagesStatePromises, wrong{map[string]string{"tmux/a.go": "package tmux\n", "tmux/b.go": "// Package tmux is here.\npackage tmux\n"}, "tmux has no doc.go"})
}

func packagesStatePromises(t *tree) (faults []string) {
	files, documented := make(map[string]int), make(map[string]bool)
	for _, s := range t.sources {
		if s.test {
			continue
		}
		files[s.pkg]++
		if s.file.Doc.Text() != "" {
			documented[s.pkg] = true
			documented[s.pkg+"/doc.go"] = documented[s.pkg+"/doc.go"] || path.Base(s.path) == "doc.go"
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		if !documented[pkg+"/doc.go"] && !(files[pkg] == 1 && documented[pkg]) {
			faults = append(faults, pkg+" has no doc.go with a package comment: say there what the package promises")
		}
	}
	return faults
}
