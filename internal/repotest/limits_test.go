package repotest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// constantInPage matches the comment that names the constant of the number before it, as in
// "15 minutes<!--bot/prompt.MaxAge-->".
var constantInPage = regexp.MustCompile(`<!--([a-z0-9-]+(?:/[a-z0-9-]+)*\.[A-Za-z]\w*)-->`)

// TestPagesHaveLimitsOfProgram compares each number of a page that names its constant with the
// constant.
func TestPagesHaveLimitsOfProgram(t *testing.T) {
	loop := func(page string) map[string]string {
		return map[string]string{"docs/a.md": page, "loop/x.go": "package loop\n\nimport \"ccbot/port\"\n\nconst maxCuts = 5\n\nvar orphanGrace = 2 * port.Minute\n\nconst most = 20 << 20\n\nconst oldest = \"2.1.128\"\n",
			"port/x.go": "package port\n\nconst Minute = time.Minute\n"}
	}
	holds(t, pagesHaveLimits,
		wrong{loop("after four<!--loop.maxCuts--> ends"), `docs/a.md: "four" is not loop.maxCuts, which is 5`},
		wrong{loop("within three\nminutes<!--loop.orphanGrace-->"), `"three minutes" is not loop.orphanGrace, which is 2m0s`},
		wrong{loop("at most 21 MB<!--loop.most-->"), `"21 MB" is not loop.most, which is 20 MiB`},
		wrong{loop("at most 20 KiB<!--loop.most-->"), `"20 KiB" is not loop.most`},
		wrong{loop("since 2.1.129<!--loop.oldest-->"), `"2.1.129" is not loop.oldest, which is 2.1.128`},
		wrong{loop("five<!--loop.gone-->"), "the program has no loop.gone"},
		wrong{loop("several<!--loop.maxCuts--> ends"), `"several" is not loop.maxCuts`})
	for text, value := range map[string]any{"in half a second": 500 * time.Millisecond, "every hour": time.Hour, "(an hour": time.Hour, "newest 1,000": 1000, "a week": 7 * 24 * time.Hour,
		"of forty": 40, "52 MB": 50 << 20, "2 GiB": 2 << 30, "40 days": 40 * 24 * time.Hour, "is 2.1.128": "2.1.128", "ten minutes": 10 * time.Minute} {
		if _, said := isSaid(text, value); !said {
			t.Errorf("%q says %v", text, value)
		}
	}
}

func pagesHaveLimits(t *tree) (faults []string) {
	values := constantsOf(t)
	for _, name := range slices.Sorted(maps.Keys(t.pages)) {
		page := t.pages[name]
		for _, m := range constantInPage.FindAllStringSubmatchIndex(page, -1) {
			constant := page[m[2]:m[3]]
			value := values.value(constant)
			if value == nil {
				faults = append(faults, name+": the program has no "+constant+", or not as a number or text; name the constant that the number is")
				continue
			}
			if words, said := isSaid(page[:m[0]], value); !said {
				faults = append(faults, fmt.Sprintf("%s: %q is not %s, which is %s; write that, right before the comment", name, words, constant, shown(value)))
			}
		}
	}
	return faults
}

// shown is a value as a page may say it.
func shown(value any) string {
	if n, ok := value.(int); ok && n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprint(value)
}

// units are the words behind a number, in nanoseconds or bytes.
var units = map[string]float64{
	"ms": 1e6, "s": 1e9, "second": 1e9, "minute": 60e9, "hour": 3600e9, "day": 24 * 3600e9, "week": 7 * 24 * 3600e9,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "byte": 1,
}

var numberWords = map[string]float64{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}

// isSaid reports whether a text ends with a value, and returns the words of its end. An hour alone
// is one. A size in MB may leave out what is less than one.
func isSaid(text string, value any) (words string, said bool) {
	fields := strings.Fields(text[max(0, len(text)-80):])
	var last []string
	for _, f := range fields[max(0, len(fields)-3):] {
		last = append(last, strings.TrimLeft(f, "(|`*\""))
	}
	last = append(make([]string, 3), last...)
	end := last[len(last)-1]
	unit, isUnit := units[strings.ToLower(strings.TrimSuffix(end, "s"))]
	if !isUnit {
		unit, isUnit = units[end]
	}
	if words, ok := value.(string); ok {
		return end, end == words
	}
	if !isUnit {
		n, ok := numberOf(end)
		return end, ok && fmt.Sprint(value) == strconv.FormatFloat(n, 'f', -1, 64)
	}
	n, ok := numberOf(last[len(last)-2])
	if words = last[len(last)-2] + " " + end; !ok {
		n = 1
	}
	if last[len(last)-3] == "half" {
		n, words = n/2, "half "+words
	}
	switch v := value.(type) {
	case time.Duration:
		return words, float64(v) == n*unit
	case int:
		whole := float64(v) / unit
		return words, whole == n || strings.HasSuffix(end, "B") && !strings.HasSuffix(end, "iB") && math.Floor(whole) == n
	}
	return words, false
}

func numberOf(word string) (float64, bool) {
	if n, ok := numberWords[strings.ToLower(word)]; ok {
		return n, true
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(word, ",", ""), 64)
	return n, err == nil
}

// constants are the constants and variables of the program by package and name.
type constants map[string]constant

// constant is one, as its source has it.
type constant struct {
	expr    ast.Expr
	pkg     string
	imports map[string]string
}

func constantsOf(t *tree) constants {
	all := make(constants)
	for _, s := range t.sources {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || s.test {
				continue
			}
			for _, spec := range g.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
					for i, name := range v.Names {
						all[s.pkg+"."+name.Name] = constant{v.Values[i], s.pkg, importsOf(s.file)}
					}
				}
			}
		}
	}
	return all
}

// value returns a duration, a whole number or a text; nil: it is none of them.
func (all constants) value(name string) any {
	c, ok := all[name]
	if !ok {
		return nil
	}
	return all.eval(c, c.expr)
}

var durations = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

func (all constants) eval(c constant, e ast.Expr) any {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return all.eval(c, e.X)
	case *ast.BasicLit:
		if n, err := strconv.ParseInt(e.Value, 0, 64); err == nil && e.Kind == token.INT {
			return int(n)
		}
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		return all.value(c.pkg + "." + e.Name)
	case *ast.SelectorExpr:
		of, ok := e.X.(*ast.Ident)
		if d, known := durations[e.Sel.Name]; ok && known && of.Name == "time" {
			return d
		}
		if ok {
			return all.value(strings.TrimPrefix(c.imports[of.Name], module) + "." + e.Sel.Name)
		}
	case *ast.BinaryExpr:
		return binary(e.Op, all.eval(c, e.X), all.eval(c, e.Y))
	}
	return nil
}

func binary(op token.Token, x, y any) any {
	d, isTime := y.(time.Duration)
	if of, ok := x.(time.Duration); ok {
		if n, ok := y.(int); ok && op == token.MUL {
			return of * time.Duration(n)
		}
		if isTime && op == token.ADD {
			return of + d
		}
		return nil
	}
	n, ok := x.(int)
	m, isInt := y.(int)
	switch {
	case ok && isTime && op == token.MUL:
		return time.Duration(n) * d
	case !ok || !isInt:
		return nil
	case op == token.MUL:
		return n * m
	case op == token.ADD:
		return n + m
	case op == token.SUB:
		return n - m
	case op == token.SHL:
		return n << m
	}
	return nil
}

// sizesInTexts are the sizes in texts of the chat, each with its constant. They are in the texts
// because a language writes them in its own letters.
var sizesInTexts = []struct{ text, size, said, constant string }{
	{"file_too_big", `20 (MiB|МиБ)`, "20 MiB", "cmd/ccbot/telegram.cloudLimit"},
	{"file_too_big", `2 (GiB|ГиБ)`, "2 GiB", "cmd/ccbot/telegram.ownLimit"},
}

var sizeInText = regexp.MustCompile(`\d\s*([kMGT]i?B|[КМГ]и?Б)`)

// TestTextsHaveLimitsOfProgram compares the sizes in the texts of each language with the constants.
// Any other size is a blank, which the program fills.
func TestTextsHaveLimitsOfProgram(t *testing.T) {
	telegram := "package telegram\n\nconst cloudLimit = 20 << 20\n\nconst ownLimit = 2 << 30\n"
	holds(t, textsHaveLimits,
		wrong{map[string]string{english: `{"file_too_big": "At most 21 MiB, or 2 GiB."}`, "cmd/ccbot/telegram/x.go": telegram}, "file_too_big does not say 20 (MiB|МиБ)"},
		wrong{map[string]string{english: `{"a": "At most 5 MiB."}`, "cmd/ccbot/telegram/x.go": telegram}, "a has a size"},
		wrong{map[string]string{english: `{}`, "cmd/ccbot/telegram/x.go": "package telegram\n\nconst cloudLimit = 21 << 20\n"}, "cmd/ccbot/telegram.cloudLimit is 21 MiB"})
}

func textsHaveLimits(t *tree) (faults []string) {
	values := constantsOf(t)
	for _, l := range sizesInTexts {
		if value := values.value(l.constant); value == nil {
			faults = append(faults, "the program has no "+l.constant+": change sizesInTexts")
		} else if _, said := isSaid(l.said, value); !said {
			faults = append(faults, l.constant+" is "+shown(value)+", and "+l.text+" says "+l.size+": change both")
		}
	}
	names, err := fs.Glob(t, path.Join(path.Dir(english), "*.json"))
	if err != nil || len(names) == 0 {
		return append(faults, "there are no texts in "+path.Dir(english))
	}
	for _, name := range names {
		var texts map[string]any // a text, or its plural forms
		if err := json.Unmarshal([]byte(t.text(name)), &texts); err != nil {
			faults = append(faults, name+": "+err.Error())
		}
		for _, l := range sizesInTexts {
			text, _ := texts[l.text].(string)
			rest := regexp.MustCompile(l.size).ReplaceAllString(text, "")
			if rest == text {
				faults = append(faults, name+": "+l.text+" does not say "+l.size+", which is "+l.constant)
			}
			texts[l.text] = rest
		}
		for key, text := range texts {
			if sizeInText.MatchString(fmt.Sprint(text)) {
				faults = append(faults, name+": "+key+" has a size; make it a blank that the program fills, or name its constant in sizesInTexts")
			}
		}
	}
	return faults
}
