package ask

import (
	"strings"

	"ccbot/bot/render"
	"ccbot/bot/tool"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// All is everything a request says, as it came and not as it looks best: every field in full, with
// signs in the place of what cannot be seen (⟨U+202E⟩, ⟨200×␠⟩), and what "for this session" would
// send. Each part fits a message. What is too big for that ends with a sentence, and then only the
// desk can allow it.
func (v Viewer) All(c Card) []render.Text {
	parts := tool.Beginning(v.everything(bounded(c, maxAll).Request), 2*maxAll).Split(render.Limit)
	if tooBig(c.Request) {
		parts = append(parts[:min(len(parts), maxAll/render.Limit)], render.Italic(v.Words.Say(i18n.AskTooBig)))
	}
	return parts
}

// maxAll is the most that [Show all] sends, in UTF-16 units: nobody reads twenty messages to allow one thing.
const maxAll = 20 * render.Limit

// maxInput is from where on an input is too big without being laid out.
const maxInput = 128 << 10

// tooBig says that [Show all] cannot show all. It is the same in every language: the sentences are left out.
func tooBig(q Request) bool {
	return len(q.Input) > maxInput || Viewer{}.everything(q).Length() > maxAll
}

func (v Viewer) everything(q Request) render.Text {
	blocks := []render.Text{render.Bold(v.Words.Say(i18n.AskAll)), named("tool", q.Tool)}
	list, plain := exactjson.Members(q.Input)
	if !plain {
		blocks = append(blocks, named("input", tool.Pretty(q.Input)))
		list = nil
	}
	for _, f := range list {
		s, ok := exactjson.Text(f.Value)
		if !ok {
			s = tool.Pretty(f.Value)
		}
		blocks = append(blocks, named(f.Key, s))
	}
	for _, more := range [][2]string{{"cwd", q.Cwd}, {"permission_mode", q.Mode}, {"agent_type", q.Subagent}, {"agent_id", q.SubagentID}} {
		if more[1] != "" {
			blocks = append(blocks, named(more[0], more[1]))
		}
	}
	blocks = append(blocks, v.allRules(q)...)
	return tool.Lines(blocks)
}

// named is one field: its name, then its value as a block.
func named(key, value string) render.Text {
	head := render.Bold(strings.ReplaceAll(glyph.Signs(key), "\n", "⏎"))
	if value = glyph.Signs(value); strings.TrimSpace(value) == "" {
		value = tool.Quoted(value)
	}
	return render.Join(head, render.Plain("\n"), render.Pre(value, ""))
}
