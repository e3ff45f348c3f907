package repotest

import (
	"encoding/json"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccbot/cmd/ccbot/exit"
)

var (
	link    = regexp.MustCompile(`\]\(([^):]*?)(?:#([^)]*))?\)`)
	image   = regexp.MustCompile(`<img src="([^":]*)" alt="[^"]+"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are the names of a page's headings in links.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// TestLinksOfDocuments follows each relative link: there is a file, and a heading where the link
// names one. Each page can be reached.
func TestLinksOfDocuments(t *testing.T) {
	page := func(text string) map[string]string {
		return map[string]string{"README.md": text, "docs/manual.md": "# Manual\n\n## First steps\n\n[back](../README.md)\n"}
	}
	holds(t, linksLead,
		wrong{page("[a](docs/gone.md)"), "README.md: docs/gone.md is not there"},
		wrong{page("[a](docs/manual.md#last-steps)"), "README.md: docs/manual.md has no heading last-steps"},
		wrong{page("x"), "docs/manual.md: no page leads to it"},
		wrong{page(`<img src="docs/gone.png" alt="a session">`), "README.md: docs/gone.png is not there"},
		wrong{page(`<img src="docs/manual.md">`), "README.md: a picture has no words"})
}

func linksLead(t *tree) (faults []string) {
	linked := make(map[string]bool)
	for name, text := range t.pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := name
			if m[1] != "" {
				to = path.Join(path.Dir(name), m[1])
			}
			linked[to] = true
			if !t.has(to) {
				faults = append(faults, name+": "+to+" is not there; mend the link")
			} else if m[2] != "" && !anchors(t.pages[to])[m[2]] {
				faults = append(faults, name+": "+to+" has no heading "+m[2]+"; mend the link")
			}
		}
		shown := image.FindAllStringSubmatch(text, -1)
		if len(shown) != strings.Count(text, "<img") {
			faults = append(faults, name+": a picture has no words for those who do not see it; write its alt")
		}
		for _, m := range shown {
			if to := path.Join(path.Dir(name), m[1]); !t.has(to) {
				faults = append(faults, name+": "+to+" is not there; mend the picture")
			}
		}
	}
	for name := range t.pages {
		if !linked[name] && name != "README.md" {
			faults = append(faults, name+": no page leads to it; link it where a reader looks for it")
		}
	}
	return faults
}

// onPages makes a fault of each match on each page.
func onPages(t *tree, pattern *regexp.Regexp, fault func(page string, m []string) string) (faults []string) {
	for name, text := range t.pages {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if fault := fault(name, m); fault != "" {
				faults = append(faults, name+": "+fault)
			}
		}
	}
	return faults
}

var tokenInAddress = regexp.MustCompile(`(?i)/bot<|/bot\$|/bot[0-9]+:|/bot[A-Z_]*TOKEN`)

// TestP9_PagesShowNoTokenInAddress: a browser and a shell's history keep each address.
func TestP9_PagesShowNoTokenInAddress(t *testing.T) {
	holds(t, func(t *tree) []string {
		return onPages(t, tokenInAddress, func(_ string, m []string) string {
			return m[0] + " has the token in an address, which a browser and a shell keep; give it in a header or a file"
		})
	}, wrong{map[string]string{"README.md": "curl https://api.telegram.org/bot$TOKEN/getMe"}, "README.md: /bot$"})
}

// TestDocumentsHaveEachExitCode compares the exit codes in docs/cli.md with the program's.
func TestDocumentsHaveEachExitCode(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, code := range exit.Meanings {
			if !regexp.MustCompile(`(?s)Exit codes.*?\b` + code[0] + `\b`).MatchString(t.pages["docs/cli.md"]) {
				faults = append(faults, "docs/cli.md: the list of exit codes has no "+code[0]+": "+code[1])
			}
		}
		return faults
	}, wrong{map[string]string{"docs/cli.md": "Exit codes: 0, 1, 2, 3"}, "has no 130"})
}

var (
	testOnPage = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	pathOnPage = regexp.MustCompile("`(?:\\./)?([a-z0-9]+)(/[A-Za-z0-9_./*-]*[A-Za-z0-9])[` ]")
)

// TestDocumentsNameTestsThatAreThere looks for each test that a page has in code type, and for
// those of the trials of faults.
func TestDocumentsNameTestsThatAreThere(t *testing.T) {
	holds(t, func(t *tree) []string {
		names, tests := make(map[string]bool), t.tests()
		for name := range tests {
			names[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
		faults := onPages(t, testOnPage, func(_ string, m []string) string {
			if names[m[1]] {
				return ""
			}
			return "there is no test " + m[1] + "; name another one, or none"
		})
		for line := range strings.Lines(t.text(trials)) {
			cells := strings.Split(strings.TrimSpace(line), " | ")
			if last := cells[len(cells)-1]; len(cells) == 3 && !strings.HasPrefix(line, "#") && !strings.HasPrefix(last, "- ") {
				for name := range strings.SplitSeq(last, ", ") {
					if tests[name] == nil {
						faults = append(faults, trials+": there is no test "+name+"; name another one, or `- ` and the reason")
					}
				}
			}
		}
		return faults
	}, wrong{map[string]string{"docs/a.md": "see `TestP1_Gone`"}, "docs/a.md: there is no test TestP1_Gone"},
		wrong{map[string]string{trials: "disk | full | e2e.TestGone\n"}, trials + ": there is no test e2e.TestGone"})
}

const trials = "tools/faults/trials.txt"

// TestDocumentsNamePathsThatAreThere looks for each file of the sources that a page has in code
// type, such as `lifecycle/typing/decide.go`. Other paths are of CCBOT_DIR or of other programs.
func TestDocumentsNamePathsThatAreThere(t *testing.T) {
	holds(t, func(t *tree) []string {
		return onPages(t, pathOnPage, func(_ string, m []string) string {
			if info, err := fs.Stat(t, m[1]); err != nil || !info.IsDir() || m[1] == "bin" {
				return ""
			}
			if found, err := fs.Glob(t, m[1]+m[2]); err == nil && len(found) > 0 {
				return ""
			}
			return m[1] + m[2] + " is not there; name where it is now"
		})
	}, wrong{map[string]string{"docs/a.md": "see `loop/gone.go`", "loop/x.go": "package loop\n"}, "docs/a.md: loop/gone.go is not there"})
}

const architecture = "docs/dev/architecture.md"

// TestArchitecturePageNamesWhatIsThere looks for each folder and file that the page has in code
// type, such as `bot/outbox`, and for each name of a package, such as `process.Table.End`.
func TestArchitecturePageNamesWhatIsThere(t *testing.T) {
	holds(t, architecturePageIsTrue,
		wrong{map[string]string{architecture: "see `bot/gone`"}, "bot/gone is not there"},
		wrong{map[string]string{architecture: "see `process.Table.End`", "internal/process/x.go": "package process\n\ntype Table struct{}\n"}, "process.Table.End is not there"})
}

func architecturePageIsTrue(t *tree) (faults []string) {
	declared := make(map[string]bool)
	for _, s := range t.sources {
		ast.Inspect(s.file, func(n ast.Node) bool {
			var names []*ast.Ident
			switch n := n.(type) {
			case *ast.FuncDecl:
				names = []*ast.Ident{n.Name}
			case *ast.TypeSpec:
				names = []*ast.Ident{n.Name}
			case *ast.ValueSpec:
				names = n.Names
			}
			for _, name := range names {
				declared[s.file.Name.Name+"."+name.Name] = true
			}
			return true
		})
	}
	code := func(of string) [][]string {
		return regexp.MustCompile("`("+of+")`").FindAllStringSubmatch(t.pages[architecture], -1)
	}
	for _, m := range code(`[a-z0-9]+(?:/[a-z0-9_]+)*(?:\.go)?`) {
		if !t.has(m[1]) {
			faults = append(faults, architecture+": "+m[1]+" is not there; name where it is now")
		}
	}
	for _, m := range code(`([a-z0-9]+\.)(?:[A-Z]\w*\.)?([A-Z]\w*)`) {
		if !declared[m[2]+m[3]] {
			faults = append(faults, architecture+": "+m[1]+" is not there; name what it is now")
		}
	}
	return faults
}

var packageOnPage = regexp.MustCompile("`([a-z0-9/]+)`")

// TestArchitecturePageHasLayers compares the order of the layers on the page with the one that
// TestArchitecture checks.
func TestArchitecturePageHasLayers(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		section, _, _ := strings.Cut(t.section(architecture, "## The layers"), "Features do not import each other")
		last, before := -1, ""
		for _, m := range packageOnPage.FindAllStringSubmatch(section, -1) {
			layer := layerOf(m[1])
			if layer < last {
				faults = append(faults, architecture+": "+m[1]+" stands below "+before+", and is in a higher layer (internal/repotest/layers_test.go)")
			}
			last, before = layer, m[1]
		}
		if last < 0 {
			faults = append(faults, architecture+": the section The layers has none")
		}
		return faults
	}, wrong{map[string]string{architecture: "\n## The layers\n\n`tmux`, then `bot`.\n"}, "bot stands below tmux"}, wrong{map[string]string{architecture: ""}, "has none"})
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	buttonRef = regexp.MustCompile(`\[(\p{Lu}[^\][]{1,40})\](?:[^(:[]|$)`)
	quoteRef  = regexp.MustCompile(`"([A-Za-z][^"]*)"`)
	blank     = regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}`)
	comment   = regexp.MustCompile(`<!--.*?-->`)
)

const english = "i18n/locales/en.json"

// prose is a page in one line, without code and comments.
func prose(page string) string {
	return strings.Join(strings.Fields(comment.ReplaceAllString(codeBlock.ReplaceAllString(page, ""), "")), " ")
}

// TestPagesNameButtonsThatAreThere looks for each button that a page has in brackets among the
// English texts.
func TestPagesNameButtonsThatAreThere(t *testing.T) {
	holds(t, buttonsAreThere, wrong{map[string]string{"docs/a.md": "Tap [Undo all].", english: `{"stop": "Stop", "many": {"one": "Undo all"}}`}, "docs/a.md: there is no button [Undo all]"})
}

func buttonsAreThere(t *tree) (faults []string) {
	var texts map[string]any
	if err := json.Unmarshal([]byte(t.text(english)), &texts); err != nil {
		return []string{english + ": " + err.Error()}
	}
	var labels []string
	for _, text := range texts {
		if label, plain := text.(string); plain && len(label) < 60 {
			labels = append(labels, blank.ReplaceAllString(regexp.QuoteMeta(label), ".*"))
		}
	}
	known := regexp.MustCompile("^(" + strings.Join(labels, "|") + ")$")
	for name, page := range t.pages {
		for _, m := range buttonRef.FindAllStringSubmatch(prose(page), -1) {
			label, cut := strings.CutSuffix(m[1], " …")
			if !known.MatchString(label) && !(cut && slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, label) })) {
				faults = append(faults, name+": there is no button ["+m[1]+"] in "+english)
			}
		}
	}
	return faults
}

// TestPagesQuoteTextsOfChat looks for each text that a page quotes among the English texts; "…"
// stands for any part of it.
func TestPagesQuoteTextsOfChat(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, name := range []string{"docs/doctor.md", "docs/manual.md", "docs/security.md", "docs/PROMISES.md"} {
			for _, m := range quoteRef.FindAllStringSubmatch(prose(t.pages[name]), -1) {
				if words := "(?i)" + strings.ReplaceAll(regexp.QuoteMeta(m[1]), " … ", ".*"); !regexp.MustCompile(words).MatchString(t.text(english)) {
					faults = append(faults, name+": the chat has no text "+strconv.Quote(m[1])+"; quote the one of "+english)
				}
			}
		}
		return faults
	}, wrong{map[string]string{"docs/manual.md": `It says "cannot be undone".`, english: `{"a": "is gone"}`}, `docs/manual.md: the chat has no text "cannot be undone"`})
}

var metricName = regexp.MustCompile(`\bccbot_[a-z_]+[a-z]\b`)

// TestPageHasEachMetric compares the names of metrics in docs/configuration.md and in
// docs/operations.md with the names in the program.
func TestPageHasEachMetric(t *testing.T) {
	metrics := map[string]string{"cmd/ccbot/metrics/x.go": "package metrics\n\nconst turns = \"ccbot_turns\"\n"}
	metrics["docs/configuration.md"] = "\n## Metrics\n\n`ccbot_turn`\n"
	metrics["docs/operations.md"] = "`ccbot_errors`"
	holds(t, pageHasEachMetric, wrong{metrics, "ccbot_turns: "}, wrong{metrics, "ccbot_turn: "}, wrong{metrics, "ccbot_errors"})
}

func pageHasEachMetric(t *tree) (faults []string) {
	var want []string
	for _, s := range t.sources {
		for _, d := range s.file.Decls {
			for _, text := range literals(d) {
				if !s.test && s.pkg == "cmd/ccbot/metrics" && metricName.MatchString(text) {
					want = append(want, metricName.FindString(text))
				}
			}
		}
	}
	faults = differences(want, metricName.FindAllString(t.section("docs/configuration.md", "## Metrics"), -1),
		"docs/configuration.md has no row of this metric; add one", "docs/configuration.md has this metric, and the program has not")
	for _, one := range metricName.FindAllString(t.pages["docs/operations.md"], -1) {
		if !slices.Contains(want, strings.TrimSuffix(one, "_bucket")) {
			faults = append(faults, "docs/operations.md names the metric "+one+", which the program does not have")
		}
	}
	return faults
}
