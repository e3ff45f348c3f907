package newtext

import (
	"strings"

	"ccbot/bot/chat"
	"ccbot/internal/lazyregexp"
)

// agentFlag chooses the agent of a session. Phones make one dash of two.
var agentFlag = lazyregexp.New(`(?:^|[\s\p{Z}])(?:--|[—–])agent[\s\p{Z}=]+(\S+)`)

// Agent separates the name of the agent from the other words.
func Agent(args string) (agent, rest string) {
	m := agentFlag.FindStringSubmatchIndex(args)
	if m == nil {
		return "", args
	}
	return strings.ToLower(args[m[2]:m[3]]), strings.TrimSpace(args[:m[0]] + args[m[1]:])
}

// beginOfPath matches the text before a path, and its first letter.
var beginOfPath = lazyregexp.New(`(^|[\s\p{Z}])[` + chat.Quotes + `]?[/~.]`)

// beginOfMachine matches the text before a path on another machine, and the machine's name.
var beginOfMachine = lazyregexp.New(`(^|[\s\p{Z}])[` + chat.Quotes + `]?([\w-]+):`)

// NameAndPath separates the name of a new session from the path, which begins with /, ~ or ., or
// with a machine and a colon, and extends to the end. Quotes around either go: people type them
// around blanks, and a path needs none here.
func NameAndPath(args string, isMachine func(name string) bool) (name, path string) {
	name = args
	found, at := beginOfPath.FindStringIndex(args), 0
	if found != nil {
		at = found[1] - 1
	}
	if m := beginOfMachine.FindStringSubmatchIndex(args); m != nil && (found == nil || m[0] < found[0]) && isMachine(args[m[4]:m[5]]) {
		found, at = m[:2], m[4]
	}
	if found != nil {
		name, path = args[:at], strings.TrimSpace(args[at:])
		if strings.ContainsAny(args[found[0]:at], chat.Quotes) {
			path = strings.TrimRight(path, chat.Quotes)
		}
	}
	return chat.NameOf(name), path
}
