package claudeask

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"ccbot/internal/each"
	"ccbot/internal/exactjson"
	"ccbot/port/talk"
)

// maxInput is the size above which only the beginning of an input is read.
const maxInput = 128 << 10

// layout lists the blocks of a tool's fields; other fields follow as named values.
type layout struct {
	title  talk.AskTitle
	fields []field
}

type field struct {
	key  string
	kind talk.BlockKind
}

var layouts = map[string]layout{
	toolBash:       {talk.TitleCommand, []field{{"command", talk.BlockCommand}, {"description", talk.BlockNote}}},
	toolEdit:       {talk.TitleEdit, []field{{"file_path", talk.BlockFile}}},
	"NotebookEdit": {talk.TitleEdit, []field{{"notebook_path", talk.BlockFile}, {"new_source", talk.BlockText}}},
	"Write":        {talk.TitleWrite, []field{{"file_path", talk.BlockFile}, {"content", talk.BlockText}}},
	"Read":         {talk.TitleRead, []field{{"file_path", talk.BlockFile}}},
	"Glob":         {talk.TitleSearch, []field{{"pattern", talk.BlockCode}, {"path", talk.BlockFile}}},
	"Grep":         {talk.TitleSearch, []field{{"pattern", talk.BlockCode}, {"path", talk.BlockFile}}},
	"WebFetch":     {talk.TitleFetch, []field{{"url", talk.BlockURL}, {"prompt", talk.BlockNote}}},
	"WebSearch":    {talk.TitleWebSearch, []field{{"query", talk.BlockCode}}},
	toolPlan:       {talk.TitlePlan, []field{{"plan", talk.BlockMarkdown}, {"planFilePath", talk.BlockFile}}},
}

// Of returns a request of Claude Code without its formats.
func Of(q talk.Request) talk.Ask {
	a := talk.Ask{Kind: talk.KindOf(q.Tool), Tool: q.Tool}
	input := q.Input
	if len(input) > maxInput {
		input = beginnings(input)
	} else {
		a.Whole, a.Details = !odd(input, 0), details(q)
	}
	if a.Kind == talk.AskQuestion {
		a.Pages, a.Blocks = pagesOf(input)
	}
	if a.Pages == nil {
		a.Title, a.Blocks = blocksOf(q.Tool, input)
	} else {
		a.Title = talk.TitleQuestion
	}
	a.Choices = choicesOf(q, a)
	return a
}

func choicesOf(q talk.Request, a talk.Ask) (all []talk.Choice) {
	switch {
	case a.Kind == talk.AskPlan:
		all = []talk.Choice{{ID: talk.ChoiceApprove}, {ID: talk.ChoiceApproveEdits}}
	case len(a.Pages) > 0:
		all = []talk.Choice{{ID: talk.ChoiceAnswer}}
	case a.Kind == talk.AskPermission:
		all = []talk.Choice{{ID: talk.ChoiceAllow}}
		if grants := grantsOf(q); len(grants) > 0 {
			all = append(all, talk.Choice{ID: talk.ChoiceAllowSession, Grants: grants})
		}
		if offersEdits(q.Suggestions) {
			all = append(all, talk.Choice{ID: talk.ChoiceAllowEdits})
		}
	}
	return append(all, talk.Choice{ID: talk.ChoiceDeny}, talk.Choice{ID: talk.ChoiceStop})
}

func blocksOf(tool string, input json.RawMessage) (title talk.AskTitle, blocks []talk.Block) {
	list, _ := exactjson.Members(input)
	l := layouts[tool]
	for _, f := range l.fields {
		list = take(list, f.key, func(raw json.RawMessage) bool {
			text, isText := exactjson.Text(raw)
			if !isText || !fits(f.kind, text) {
				return false
			}
			blocks = append(blocks, talk.Block{Kind: f.kind, Text: text})
			return true
		})
	}
	if diff, rest, ok := diffOf(list); ok && tool == toolEdit {
		blocks, list = append(blocks, diff), rest
	}
	return cmp.Or(l.title, talk.TitleTool), append(blocks, each.As(list, fieldBlock)...)
}

// fits reports whether a text can be a block of a kind without a part that cannot be seen.
func fits(kind talk.BlockKind, s string) bool {
	if slices.Contains([]talk.BlockKind{talk.BlockFile, talk.BlockURL, talk.BlockCode}, kind) {
		return oneLine(s)
	}
	return strings.TrimSpace(s) != ""
}

// longLine bounds a text inside a line.
const longLine = 200

// oneLine reports whether s can be a text inside a line. A blank at an end would be invisible.
func oneLine(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\r\n") &&
		utf8.RuneCountInString(s) <= longLine
}

// diffOf returns the diff of an edit's old_string and new_string, and the fields that it does not
// contain. It returns false if they are not the types of Edit, or are equal.
func diffOf(list []exactjson.Member) (diff talk.Block, rest []exactjson.Member, ok bool) {
	diff.Kind = talk.BlockDiff
	rest = take(take(list, "old_string", textTo(&diff.Before)), "new_string", textTo(&diff.Text))
	if len(list)-len(rest) != 2 || diff.Before == diff.Text {
		return talk.Block{}, list, false
	}
	return diff, take(rest, "replace_all", isFalse), true
}

// fieldBlock returns the block of a field without an entry in layouts. A value that looks like
// another one is quoted.
func fieldBlock(f exactjson.Member) talk.Block {
	s, isText := exactjson.Text(f.Value)
	switch {
	case !isText:
		s = compact(f.Value)
	case strings.TrimSpace(s) == "", strings.TrimSpace(s) != s && !strings.Contains(s, "\n"), strings.HasPrefix(s, `"`):
		s = quoted(s) // also a text that looks quoted
	}
	return talk.Block{Kind: talk.BlockField, Name: f.Key, Text: s}
}

// details returns the fields of a request, with the names of Claude Code.
func details(q talk.Request) []talk.Detail {
	all := []talk.Detail{detail("tool", q.Tool)}
	list, plain := exactjson.Members(q.Input)
	if !plain {
		list = []exactjson.Member{{Key: "input", Value: q.Input}}
	}
	for _, f := range list {
		s, isText := exactjson.Text(f.Value)
		if !isText {
			s = compact(f.Value)
		}
		all = append(all, detail(f.Key, s))
	}
	around := [][2]string{{"cwd", q.Cwd}, {"permission_mode", q.Mode}, {"agent_type", q.Subagent},
		{"agent_id", q.SubagentID}}
	for _, f := range around {
		if f[1] != "" {
			all = append(all, detail(f[0], f[1]))
		}
	}
	return all
}

func detail(name, text string) talk.Detail {
	if strings.Trim(text, "\"\\") == "" { // also a text that looks quoted
		text = quoted(text)
	}
	return talk.Detail{Name: name, Text: text}
}
