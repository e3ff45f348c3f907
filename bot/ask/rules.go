package ask

import (
	"encoding/json"
	"slices"
	"strings"

	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
	"ccbot/bot/tool"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// granted is one thing that "for this session" would allow.
type granted struct {
	what string
	note i18n.Key // what it means, where that is not said by itself
	same string   // tool whose very command the rule names, which the message shows already
}

// grantedBy are those of a request. A rule is read from what the tap would send.
func grantedBy(q Request) []granted {
	if q.IsQuestion() || q.IsPlan() {
		return nil
	}
	var all []granted
	for _, rule := range decisions.SessionRules(q.Suggestions) {
		var sent struct {
			Rules []struct {
				Tool    string `json:"toolName"`
				Content string `json:"ruleContent"`
			} `json:"rules"`
			Directories []string `json:"directories"`
		}
		if json.Unmarshal(rule.Raw, &sent) != nil || len(sent.Rules)+len(sent.Directories) != len(rule.Shown) {
			for _, s := range rule.Shown {
				all = append(all, granted{what: s})
			}
			continue
		}
		for _, r := range sent.Rules {
			if r.Content == "" {
				all = append(all, granted{what: r.Tool, note: i18n.AskEveryUse})
				continue
			}
			g := granted{what: r.Tool + "(" + r.Content + ")"}
			if isCommand(q, r.Tool, r.Content) {
				g.same = r.Tool
			}
			all = append(all, g)
		}
		for _, dir := range sent.Directories {
			all = append(all, granted{what: dir, note: i18n.AskDirectory})
		}
	}
	return all
}

// isCommand says that a rule allows the command of the request and no other one.
func isCommand(q Request, tool, content string) bool {
	if q.Tool != "Bash" || tool != q.Tool || strings.Contains(content, "*") {
		return false
	}
	list, plain := exactjson.Members(q.Input)
	return plain && slices.ContainsFunc(list, func(f exactjson.Member) bool {
		command, ok := exactjson.Text(f.Value)
		return f.Key == "command" && ok && command == content
	})
}

// rules lists what "for this session" would allow.
func (v Viewer) rules(q Request, head i18n.Key) []render.Text {
	all := grantedBy(q)
	if len(all) == 0 {
		return nil
	}
	blocks := []render.Text{render.Plain(v.Words.Say(head))}
	for i, g := range all {
		if i == maxRules {
			more := v.Words.Say(i18n.AskMoreRules, i18n.Args{"Count": len(all) - i})
			return append(blocks, render.Italic(more))
		}
		blocks = append(blocks, v.rule(g))
	}
	return blocks
}

// rule is one of the list. One of several lines stands in a block of its own: its line breaks are to be seen.
func (v Viewer) rule(g granted) render.Text {
	switch {
	case g.same != "":
		return render.Join(render.Plain("• "), render.Code(tool.OneLined(g.same)), render.Plain(" ("+v.Words.Say(i18n.AskThisCommand)+")"))
	case strings.ContainsAny(g.what, "\n\t"):
		what, _ := tool.Clip(glyph.Signs(g.what), maxRule)
		return render.Join(render.Plain("•\n"), render.Pre(what, ""), render.Plain(v.meaning(g)))
	}
	what, _ := tool.Clip(tool.OneLined(tool.Paths{Home: v.Home}.Short(g.what)), maxRule)
	return render.Join(render.Plain("• "), render.Code(what), render.Plain(v.meaning(g)))
}

// allRules lists all of it, as it is.
func (v Viewer) allRules(q Request) []render.Text {
	all := grantedBy(q)
	if len(all) == 0 {
		return nil
	}
	blocks := []render.Text{render.Plain(v.Words.Say(i18n.AskSessionRules))}
	for _, g := range all {
		blocks = append(blocks, render.Join(render.Pre(glyph.Signs(g.what), ""), render.Plain(v.meaning(g))))
	}
	return blocks
}

func (v Viewer) meaning(g granted) string {
	if g.note == "" {
		return ""
	}
	return " (" + v.Words.Say(g.note) + ")"
}

// grantedWhats are the things alone, to be judged; a command that the message shows anyway is judged there.
func grantedWhats(q Request) []string {
	var all []string
	for _, g := range grantedBy(q) {
		if g.same != "" {
			all = append(all, g.same)
			continue
		}
		all = append(all, g.what)
	}
	return all
}
