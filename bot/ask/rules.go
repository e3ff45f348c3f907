package ask

import (
	"strings"

	"ccbot/bot/port/decisions"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
)

// granted is one thing that "for this session" would allow.
type granted struct {
	what string
	note i18n.Key // what it means, where that is not said by itself
}

// grantedBy are those of a request. A rule that allows exactly the command of the request, which
// the message shows anyway, is not written again.
func grantedBy(q Request) (all []granted) {
	if q.IsQuestion() || q.IsPlan() {
		return nil
	}
	input, _ := exactjson.Object(q.Input)
	command, _ := exactjson.Text(input["command"])
	own := q.Tool == "Bash" && !strings.Contains(command, "*")
	for _, rule := range decisions.SessionRules(q.Suggestions) {
		for _, r := range rule.Rules {
			switch {
			case r.Content == "":
				all = append(all, granted{r.Tool, i18n.AskEveryUse})
			case own && r.Tool == q.Tool && r.Content == command:
				all = append(all, granted{r.Tool, i18n.AskThisCommand})
			default:
				all = append(all, granted{what: r.Tool + "(" + r.Content + ")"})
			}
		}
		for _, dir := range rule.Directories {
			all = append(all, granted{dir, i18n.AskDirectory})
		}
	}
	return all
}

// rules lists what "for this session" would allow: at most so many things, each at most so long.
func (v Viewer) rules(q Request, most, length int) (list []render.Text) {
	for i, g := range grantedBy(q) {
		if i == 0 {
			list = append(list, render.Plain(v.Words.Say(i18n.AskSessionRules)))
		}
		if i == most {
			more := len(grantedBy(q)) - most
			return append(list, render.Italic(v.Words.Say(i18n.AskMoreRules, i18n.Args{"Count": more})))
		}
		what, _ := inUnits(oneLined(v.short(g.what)), length)
		text := what
		if g.note != "" {
			text = v.Words.Say(i18n.Noted, i18n.Args{"What": what, "Note": v.Words.Say(g.note)})
		}
		rest := render.Plain(strings.TrimPrefix(text, what))
		list = append(list, render.Join(render.Plain("• "), render.Code(what), rest))
	}
	return list
}
