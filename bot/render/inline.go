package render

import (
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

func (m *markdown) inlines(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil && m.room >= 0; c = c.NextSibling() {
		if depth > maxDepth {
			m.write(string(c.Text(m.source))) //nolint:staticcheck // the only way to the raw text of any subtree
			continue
		}
		m.inline(c, depth+1)
	}
}

func (m *markdown) inline(n ast.Node, depth int) {
	children := func() { m.inlines(n, depth) }
	switch n := n.(type) {
	case *ast.Text:
		m.textNode(n)
	case *ast.String:
		m.write(string(n.Value))
	case *ast.CodeSpan:
		m.codeText(m.spanBody(n), "")
	case *ast.Emphasis:
		style := italic
		if n.Level >= 2 {
			style = bold
		}
		m.as(entity{Type: style}, children)
	case *east.Strikethrough:
		m.as(entity{Type: strike}, children)
	case *ast.Link:
		m.link(string(n.Destination), children)
	case *ast.AutoLink:
		m.autoLink(n)
	case *ast.Image:
		m.link(string(n.Destination), func() { m.write("🖼 "); children() })
	case *ast.RawHTML:
		tag := string(n.Segments.Value(m.source))
		if isBreak(tag) {
			tag = "\n"
		}
		m.write(tag)
	case *formula:
		m.codeText(n.body, "math")
	case *east.TaskCheckBox:
		m.write(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
	default:
		children()
	}
}

func (m *markdown) textNode(n *ast.Text) {
	raw := string(n.Segment.Value(m.source))
	if !n.IsRaw() {
		raw = unescape(raw)
	}
	m.write(raw)
	if n.SoftLineBreak() || n.HardLineBreak() {
		m.write("\n")
	}
}

// isBreak reports whether a tag only breaks a line; any other is shown as written.
func isBreak(tag string) bool {
	return len(tag) <= len("<br />") && strings.EqualFold(strings.NewReplacer(" ", "", "/", "").Replace(tag), "<br>")
}

// spanBody is the code of a code span.
func (m *markdown) spanBody(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(m.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ") // CommonMark: a line end in a code span is a space
}

// codeText keeps its backticks inside a quotation: code may not be part of a quote, and without any
// mark a name would drown in the sentence.
func (m *markdown) codeText(body, lang string) {
	if m.quotes > 0 {
		m.write("`" + body + "`")
		return
	}
	m.startLine()
	m.as(entity{Type: code, Language: lang}, func() { m.write(body) })
}

func (m *markdown) autoLink(n *ast.AutoLink) {
	target := string(n.URL(m.source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(target, "mailto:") {
		target = "mailto:" + target
	}
	label := func() { m.write(string(n.Label(m.source))) }
	if !opens(target) {
		label()
		return
	}
	m.as(entity{Type: link, URL: target}, label)
}

// link marks the label. A target Telegram does not open (a path in the repository, a script) is
// written after it.
func (m *markdown) link(target string, label func()) {
	target = unescape(target)
	from := m.text.Len()
	if opens(target) {
		m.as(entity{Type: link, URL: target}, label)
	} else {
		label()
	}
	shown := m.text.String()[from:]
	switch {
	case blank(shown):
		m.write(target)
	case !opens(target) && target != "" && !strings.Contains(shown, target):
		m.write(" (" + target + ")")
	}
}

// opens reports whether a tap on the target is safe and has an effect. tg: is not: it mentions
// people and leads into bots.
func opens(target string) bool {
	u, err := url.Parse(target)
	if err != nil || strings.ContainsAny(target, " \n\t") {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Hostname() != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// unescape resolves backslash escapes and character references; goldmark leaves both to the
// renderer. In one pass, because \&amp; is the text &amp;.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(punctuation, s[i+1]) >= 0:
			i++
		case s[i] == '&':
			if name := reference(s[i:]); name != "" {
				b.WriteString(clean(html.UnescapeString(name)))
				i += len(name) - 1
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// reference returns the character reference at the start of s, or "". The longest name in HTML has
// 33 characters.
func reference(s string) string {
	if i := strings.IndexByte(s[:min(len(s), 40)], ';'); i > 1 && html.UnescapeString(s[:i+1]) != s[:i+1] {
		return s[:i+1]
	}
	return ""
}
