package ask

import (
	"math"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

const (
	// maxAll is the most that [Show all] sends, in UTF-16 units: nobody reads more to allow one thing.
	maxAll = 20 * render.Limit
	// maxInput is from where on an input is too big without being laid out.
	maxInput = 128 << 10
)

// All is everything a request says, as it came and not as it looks best: every field in full, with
// signs in the place of what cannot be seen (⟨U+202E⟩, ⟨200×␠⟩), and what "for this session"
// would send. Each part fits a message.
func (v Viewer) All(c Card) []render.Text { return v.everything(c.Request).Split(render.Limit) }

func (v Viewer) everything(q Request) render.Text {
	blocks := []render.Text{render.Bold(v.Words.Say(i18n.AskAll)), named("tool", q.Tool)}
	list, plain := exactjson.Members(q.Input)
	if !plain {
		list = []exactjson.Member{{Key: "input", Value: q.Input}}
	}
	for _, f := range list {
		s, isText := exactjson.Text(f.Value)
		if !isText {
			s = compact(f.Value)
		}
		blocks = append(blocks, named(f.Key, s))
	}
	around := [][2]string{{"cwd", q.Cwd}, {"permission_mode", q.Mode}, {"agent_type", q.Subagent},
		{"agent_id", q.SubagentID}}
	for _, f := range around {
		if f[1] != "" {
			blocks = append(blocks, named(f[0], f[1]))
		}
	}
	return chat.Lines(append(blocks, Viewer{Words: v.Words}.rules(q, math.MaxInt, math.MaxInt)...)...)
}

// named is one field: its name, then its value as a block.
func named(key, value string) render.Text {
	if strings.TrimSpace(glyph.Signs(value)) == "" {
		value = quoted(value)
	}
	return render.Join(render.Bold(oneLined(key)), render.Plain("\n"), pre(value, ""))
}
