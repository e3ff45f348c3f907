package tool

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/exactjson"
	"ccbot/internal/glyph"
)

// Sheet is what a message says of a request's input. The body is the same in every language:
// whether it fits is a question of the request alone.
type Sheet struct {
	Title i18n.Key
	Args  i18n.Args
	Above render.Text // what stands between the title and the body
	Body  render.Text
	Notes []Note // short sentences under the body
	Lossy bool   // the body does not show all there is
}

// Note is a short sentence.
type Note struct {
	Key  i18n.Key
	Args i18n.Args
}

// look is how the fields of a known tool are shown; those that it does not name follow as "key: value".
type look struct {
	title  i18n.Key
	fields map[string]way
	order  []string
}

// way shows one field. It is false when the value is not of the type it knows.
type way func(p Paths, raw json.RawMessage) (render.Text, bool)

// Paths shortens paths: the home directory is shown as ~, unless it is empty.
type Paths struct{ Home string }

// Short is a path below the home directory with ~ in its place.
func (p Paths) Short(path string) string {
	rest, ok := strings.CutPrefix(path, p.Home)
	if p.Home == "" || p.Home == "/" || !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return "~" + rest
}

func asPath(p Paths, raw json.RawMessage) (render.Text, bool) {
	s, ok := exactjson.Text(raw)
	return code(p.Short(s)), ok && oneLine(s)
}

func asCode(_ Paths, raw json.RawMessage) (render.Text, bool) {
	s, ok := exactjson.Text(raw)
	return code(s), ok && oneLine(s)
}

func asQuote(_ Paths, raw json.RawMessage) (render.Text, bool) {
	s, ok := exactjson.Text(raw)
	return render.Quote(glyph.Signs(s)), ok && strings.TrimSpace(s) != ""
}

func asPre(lang string) way {
	return func(_ Paths, raw json.RawMessage) (render.Text, bool) {
		s, ok := exactjson.Text(raw)
		return Pre(strings.TrimRight(s, "\n"), lang), ok && strings.TrimSpace(s) != ""
	}
}

func looks(title i18n.Key, list ...any) look {
	l := look{title: title, fields: make(map[string]way)}
	for i := 0; i+1 < len(list); i += 2 {
		key := list[i].(string)
		l.order = append(l.order, key)
		l.fields[key] = list[i+1].(way)
	}
	return l
}

// lookOf is how a tool is shown.
func lookOf(tool string) look {
	path, inline := way(asPath), way(asCode)
	switch tool {
	case "Bash":
		return looks(i18n.AskBash, "command", asPre("bash"), "description", way(asQuote))
	case "Edit", "MultiEdit":
		return looks(i18n.AskEdit, "file_path", path)
	case "NotebookEdit":
		return looks(i18n.AskEdit, "notebook_path", path, "new_source", asPre(""))
	case "Write":
		return looks(i18n.AskWrite, "file_path", path, "content", asPre(""))
	case "Read":
		return looks(i18n.AskRead, "file_path", path)
	case "Glob", "Grep":
		return looks(i18n.AskSearch, "pattern", inline, "path", path)
	case "WebFetch":
		return looks(i18n.AskFetch, "url", inline, "prompt", way(asQuote))
	case "WebSearch":
		return looks(i18n.AskWebSearch, "query", inline)
	}
	return look{title: i18n.AskTool}
}

// SheetOf is what a message says of the input of a tool; home is shown as ~.
func SheetOf(tool string, input json.RawMessage, p Paths) Sheet {
	list, _ := exactjson.Members(input)
	if server, name, ok := mcp(tool); ok {
		return Sheet{Title: i18n.AskMCP, Args: i18n.Args{"Tool": name, "Server": server}, Body: inputBody(input, list)}
	}
	l := lookOf(tool)
	if l.fields == nil {
		return Sheet{Title: l.title, Args: i18n.Args{"Tool": tool}, Body: inputBody(input, list)}
	}
	s := Sheet{Title: l.title}
	var blocks []render.Text
	rest := list
	for _, key := range l.order {
		rest = Take(rest, key, func(raw json.RawMessage) bool {
			t, ok := l.fields[key](p, raw)
			if ok {
				blocks = append(blocks, t)
			}
			return ok
		})
	}
	if diff, left, ok := diffs(rest); ok && l.title == i18n.AskEdit {
		blocks, rest = append(blocks, Pre(diff, "diff")), left
	}
	rest = s.remark(tool, list, rest)
	for _, f := range rest {
		blocks = append(blocks, Line(f))
	}
	s.Body = Lines(blocks)
	return s
}

// remark says in words what some fields mean.
func (s *Sheet) remark(tool string, list, rest []exactjson.Member) []exactjson.Member {
	flag := func(of, key string, word i18n.Key) {
		if tool == of {
			rest = Take(rest, key, func(raw json.RawMessage) bool {
				if IsTrue(raw) {
					s.Notes = append(s.Notes, Note{Key: word})
				}
				return IsTrue(raw) || string(raw) == "false"
			})
		}
	}
	flag("Bash", "run_in_background", i18n.AskBackground)
	flag("Edit", "replace_all", i18n.AskReplaceAll)
	for _, f := range list {
		if content, ok := exactjson.Text(f.Value); ok && tool == "Write" && f.Key == "content" && content != "" {
			n := strings.Count(strings.TrimSuffix(content, "\n"), "\n") + 1
			s.Notes = append(s.Notes, Note{i18n.AskLines, i18n.Args{"Count": n}})
		}
	}
	return rest
}

// Take gives the field to use and leaves it out if use took it.
func Take(list []exactjson.Member, key string, use func(json.RawMessage) bool) []exactjson.Member {
	for i, f := range list {
		if f.Key == key && use(f.Value) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// mcp splits "mcp__server__tool".
func mcp(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// inputBody is the whole input as JSON.
func inputBody(input json.RawMessage, list []exactjson.Member) render.Text {
	if len(list) == 0 {
		return render.Text{}
	}
	return Pre(Pretty(input), "json")
}

// Line is a field that has no look of its own.
func Line(f exactjson.Member) render.Text {
	key := render.Plain(OneLined(f.Key) + ": ")
	s, isText := exactjson.Text(f.Value)
	switch {
	case !isText:
		s = Pretty(f.Value)
	case s == "" || strings.TrimSpace(s) != s && !strings.Contains(s, "\n"):
		s = Quoted(s)
	}
	if oneLine(s) {
		return render.Join(key, code(s))
	}
	lang := ""
	if !isText {
		lang = "json"
	}
	return render.Join(key, render.Plain("\n"), Pre(s, lang))
}

// longLine is how long code inside a line may be.
const longLine = 200

// oneLine says that s can stand as code inside a line, with no blank at an end that nobody would see.
func oneLine(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\r\n") && utf8.RuneCountInString(s) <= longLine
}

// code is foreign text in its own formatting, which it cannot leave; what is invisible in it has signs.
func code(s string) render.Text { return render.Code(glyph.Signs(s)) }

// Pre is code as a block.
func Pre(s, lang string) render.Text { return render.Pre(glyph.Signs(s), lang) }

// Lines are texts below each other.
func Lines(blocks []render.Text) render.Text {
	var parts []render.Text
	for i, b := range blocks {
		if i > 0 {
			parts = append(parts, render.Plain("\n"))
		}
		parts = append(parts, b)
	}
	return render.Join(parts...)
}

// OneLined keeps a name from taking more than its line; what is invisible in it has signs.
func OneLined(s string) string {
	return strings.Join(strings.FieldsFunc(render.Plain(glyph.Signs(s)).Text, func(r rune) bool { return r == '\n' }), " ")
}
