package template

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
)

var now = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

const whole = `# a comment
task = """
make the tests pass
and nothing else"""
check = "make test"
stop-word = "DONE"
todo = true
worktree = true

[bounds]
turns = 20
tokens = 500_000
cost = 5.5
minutes = 120
until = "08:00"
no-cost = true

[phases]
plan = "Plan it."
implement = "Write it."
fix = "Correct it."
done = "Commit it."
`

// put writes a template below a folder.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// repoTemplates is where a repository has its templates.
func repoTemplates(repo string) string { return filepath.Join(repo, ".ccbot", "loops") }

func TestTemplateHasEverything(t *testing.T) {
	own, repo := t.TempDir(), t.TempDir()
	put(t, own, "night.toml", whole)
	all := Source{own}.Templates(repo, now)
	require.Len(t, all, 1)
	assert.Empty(t, all[0].Fault)
	assert.Equal(t, whole, all[0].Text)
	assert.Equal(t, port.LoopSource{Name: "night", Digest: all[0].Digest}, all[0].LoopSource)
	assert.True(t, all[0].Known)
	want := port.LoopRequest{Task: "make the tests pass\nand nothing else", Check: "make test", LoopTerms: port.LoopTerms{StopWord: "DONE", ToDo: true},
		Bounds:   port.LoopBounds{Turns: 20, Tokens: 500_000, Cost: 5.5, Minutes: 120, Until: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC), NoCost: true},
		Phases:   port.LoopPhases{Plan: "Plan it.", Implement: "Write it.", Fix: "Correct it.", Done: "Commit it."},
		Template: &all[0].LoopSource, Worktree: true}
	assert.Equal(t, want, all[0].Wanted)
}

// TestRepositoryTemplateIsNotKnown until a loop began from it, and never replaces a person's own.
func TestRepositoryTemplateIsNotKnown(t *testing.T) {
	own, repo := t.TempDir(), t.TempDir()
	put(t, own, "night.toml", whole)
	put(t, repoTemplates(repo), "night.toml", strings.Replace(whole, "make test", "curl evil", 1))
	put(t, repoTemplates(repo), "fix.toml", whole)
	put(t, repoTemplates(repo), "notes.txt", "no template")
	all := Source{own}.Templates(repo, now)
	require.Len(t, all, 2)
	assert.Equal(t, []string{"fix", "night"}, []string{all[0].Name, all[1].Name})
	assert.Equal(t, []string{repo, ""}, []string{all[0].Repo, all[1].Repo})
	assert.Equal(t, "make test", all[1].Wanted.Check)
	assert.False(t, all[0].Known)

	fix := all[0].LoopSource
	other := fix
	other.Digest = "an earlier text"
	for name, tt := range map[string]struct {
		loops []*port.LoopSource // the newest last
		want  bool
	}{
		"no loop":             {nil, false},
		"one without":         {[]*port.LoopSource{nil}, false},
		"the same text":       {[]*port.LoopSource{&other, &fix, nil}, true},
		"the text was before": {[]*port.LoopSource{&fix, &other}, false},
		"another repository":  {[]*port.LoopSource{{Name: "fix", Repo: "/other", Digest: fix.Digest}}, false},
	} {
		var loops []port.Loop
		for _, of := range tt.loops {
			loops = append(loops, port.Loop{Template: of})
		}
		assert.Equal(t, tt.want, WithKnown(all, loops)[0].Known, name)
	}
}

// TestP9_HostileTemplateIsRefused: a repository's file may have anything in it.
func TestP9_HostileTemplateIsRefused(t *testing.T) {
	const rest = "\n[bounds]\nturns = 3\n"
	for text, want := range map[string]string{
		"task = 'x'\ncheck = 'true'\n":                                                        "at least one bound",
		"task = 'x'\ncheck = 'true'\n[bounds]\nturns = 0\n":                                   "at least one bound",
		"task = 'x'\ncheck = 'true'\n[bounds]\nturns = -1\ncost = 1\n":                        "below zero",
		"task = 'x'\ncheck = 'true'\n[bounds]\ncost = nan\n":                                  "no number",
		"task = 'x'\ncheck = 'true'\n[bounds]\ncost = inf\n":                                  "no number",
		"task = 'x'\ncheck = 'true'\n[bounds]\nturns = 3\nminutes = 9223372036854775807\n":    "too high",
		"task = 'x'\ncheck = 'true'\n[bounds]\nuntil = 'soon'\n":                              "08:00",
		"task = 'x'\ncheck = 'true'\nfeature = 'main'" + rest:                                 `unknown key "feature"`,
		"task = 'x'\ncheck = 'true'\n[bounds]\nturns = 3\nhours = 9\n":                        `unknown key "bounds.hours"`,
		"task = 'x'\ntask = 'y'\ncheck = 'true'" + rest:                                       "line 2",
		"task = 3\ncheck = 'true'" + rest:                                                     "line 1",
		"not toml":                                                                            "line 1",
		"check = 'true'" + rest:                                                               "task",
		"task = '/clear'\ncheck = 'true'" + rest:                                              "command",
		"task = 'x'" + rest:                                                                   "check",
		"task = 'x'\ncheck = 'true' # \x1b[2K" + rest:                                         "control character, U+001B",
		"task = 'x'\ncheck = 'true' # \rx" + rest:                                             "control character",
		"task = 'x'\ncheck = \"true\\u001b\"" + rest:                                          "control character",
		"task = 'x'\ncheck = \"true \xff\"" + rest:                                            "UTF-8",
		"task = 'x'\ncheck = 'true'" + rest + strings.Repeat("# a long comment\n", 200):       "too long",
		"task = 'x'\ncheck = 'true'" + rest + "# " + strings.Repeat("\u202e", 1000):           "too long",
		"task = 'x'\ncheck = 'true'" + rest + strings.Repeat("#", maxBytes):                   "too long",
		"task = 'x'\ncheck = 'true'" + rest + "[phases]\nplan = '/clear'\n":                   "command",
		"task = 'x'\ncheck = 'true'" + rest + "[phases]\ncheck = 'x'\n":                       "phases.check",
		"task = 'x'\ncheck = 'true'" + rest + "[phases]\nplan = \"\\u0007\"\n":                "control character",
		"task = 'x'\ncheck = 'true'\nstop-word = ' a'" + rest:                                 "stop word",
		"task = 'x'\ncheck = 'true'\n[[bounds]]\nturns = 3\n":                                 "line",
		"task = 'x'\ncheck = 'true'\n[bounds]\nturns = 99999999999999999999999999999999999\n": "line",
	} {
		repo := t.TempDir()
		put(t, repoTemplates(repo), "fix.toml", text)
		all := Source{t.TempDir()}.Templates(repo, now)
		require.Len(t, all, 1)
		assert.Contains(t, all[0].Fault, want, "%.60q", text)
		assert.Zero(t, all[0].Wanted, "%.60q", text)
	}
}

// TestTemplateOfWindowsIsRead: its editors end lines with CRLF and begin a file with a mark.
func TestTemplateOfWindowsIsRead(t *testing.T) {
	repo := t.TempDir()
	put(t, repoTemplates(repo), "fix.toml", "\ufefftask = \"\"\"\r\none\r\ntwo\"\"\"\r\ncheck = 'true'\r\n[bounds]\r\nturns = 3\r\n")
	all := Source{t.TempDir()}.Templates(repo, now)
	require.Len(t, all, 1)
	require.Empty(t, all[0].Fault)
	assert.Equal(t, "one\ntwo", all[0].Wanted.Task)
	assert.NotContains(t, all[0].Text, "\r")
}

// TestP9_KeyHasOneSpelling: a second spelling of a key would replace what a person reads under the
// first one.
func TestP9_KeyHasOneSpelling(t *testing.T) {
	const head = "task = 'x'\ncheck = 'make test'\n"
	for text, key := range map[string]string{
		head + "Check = 'curl evil'\n[bounds]\nturns = 3\n":              "Check",
		"Check = 'curl evil'\n" + head + "[bounds]\nturns = 3\n":         "Check",
		head + "\"chec\\u212a\" = 'curl evil'\n[bounds]\nturns = 3\n":    "chec\u212a",
		head + "STOP-WORD = 'x'\n[bounds]\nturns = 3\n":                  "STOP-WORD",
		head + "[bounds]\nturns = 3\nTurns = 300\n":                      "bounds.Turns",
		head + "[bounds]\nturns = 3\n[Bounds]\nturns = 300\n":            "Bounds",
		head + "bounds = { turns = 3, Turns = 300 }\n":                   "bounds.Turns",
		head + "bounds.turns = 3\nbounds.Turns = 300\n":                  "bounds.Turns",
		head + "[bounds]\nturns = 3\n[phases]\nplan = 'x'\nPlan = 'y'\n": "phases.Plan",
		head + "[bounds]\nturns = 3\n[phases.x]\n":                       "phases.x",
	} {
		repo := t.TempDir()
		put(t, repoTemplates(repo), "fix.toml", text)
		all := Source{t.TempDir()}.Templates(repo, now)
		require.Len(t, all, 1)
		assert.Equal(t, fmt.Sprintf("it has the unknown key %q", key), all[0].Fault, "%q", text)
		assert.Zero(t, all[0].Wanted, "%q", text)
	}
}

// TestP9_LimitIsOfShownForm: the card has the text with marks around Hebrew and Arabic words, and
// the check a second time.
func TestP9_LimitIsOfShownForm(t *testing.T) {
	const rest = "task = 'x'\ncheck = 'true'\n[bounds]\nturns = 3\n# "
	for name, text := range map[string]string{
		"Hebrew words":            rest + strings.Repeat("א ", 1000) + "א",
		"Arabic words":            rest + strings.Repeat("ب/", 1000) + "ب",
		"a long check":            "task = 'x'\ncheck = '" + strings.Repeat("x", 1600) + "'\n[bounds]\nturns = 3\n",
		"a check with many signs": "task = 'x'\ncheck = \"" + strings.Repeat(`\u200b`, 400) + "\"\n[bounds]\nturns = 3\n",
	} {
		repo := t.TempDir()
		put(t, repoTemplates(repo), "fix.toml", text)
		all := Source{t.TempDir()}.Templates(repo, now)
		require.Len(t, all, 1)
		assert.Equal(t, errTooLong.Error(), all[0].Fault, name)
		assert.Zero(t, all[0].Wanted, name)
	}
}

// TestP9_ForgedRepositoryIsNotKnown: the agent can write a .git file that names another repository.
// The folder counts as its own repository, and its template is shown.
func TestP9_ForgedRepositoryIsNotKnown(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: /src/trusted/.git/worktrees/w\n"), 0o600))
	put(t, repoTemplates(dir), "fix.toml", whole)
	all := Source{t.TempDir()}.Templates(dir, now)
	require.Len(t, all, 1)
	assert.Equal(t, dir, all[0].Repo)
	trusted := all[0].LoopSource
	trusted.Repo = "/src/trusted"
	assert.False(t, WithKnown(all, []port.Loop{{Template: &trusted}})[0].Known)
}

// TestP9_TemplateFollowsNoLink: links, pipes and folders are no templates, and neither is what a
// linked folder has.
func TestP9_TemplateFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "fix.toml", whole)
	link := func(to, at string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.Symlink(to, at))
	}
	for name, make := range map[string]func(repo string){
		"file": func(repo string) {
			link(filepath.Join(outside, "fix.toml"), filepath.Join(repoTemplates(repo), "fix.toml"))
		},
		"loops": func(repo string) { link(outside, repoTemplates(repo)) },
		".ccbot": func(repo string) {
			put(t, filepath.Join(outside, "loops"), "fix.toml", whole)
			link(outside, filepath.Join(repo, ".ccbot"))
		},
		"pipe": func(repo string) {
			put(t, repoTemplates(repo), "x", "")
			require.NoError(t, syscall.Mkfifo(filepath.Join(repoTemplates(repo), "fix.toml"), 0o600))
		},
		"a folder": func(repo string) { put(t, filepath.Join(repoTemplates(repo), "fix.toml"), "x", "") },
	} {
		repo := t.TempDir()
		make(repo)
		for _, one := range (Source{t.TempDir()}).Templates(repo, now) {
			assert.NotEmpty(t, one.Fault, name)
			assert.Empty(t, one.Text, name)
		}
	}
}

// TestTemplateNamesAreBounded: many files, and names that a reader may misread.
func TestTemplateNamesAreBounded(t *testing.T) {
	repo := t.TempDir()
	for _, name := range []string{".toml", "-x.toml", "a b.toml", "a\nb.toml", "\u202eb.toml", strings.Repeat("a", 60) + ".toml", "a.TOML"} {
		put(t, repoTemplates(repo), name, whole)
	}
	assert.Empty(t, Source{t.TempDir()}.Templates(repo, now))
	for i := range 3 * maxTemplates {
		put(t, repoTemplates(repo), strings.Repeat("a", i%26+1)+string(rune('a'+i/26))+".toml", whole)
	}
	assert.Len(t, Source{t.TempDir()}.Templates(repo, now), maxTemplates)
}

// TestTemplatesAreOfWorkTree: a session below the top folder has the repository's templates.
func TestTemplatesAreOfWorkTree(t *testing.T) {
	repo := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(repo, ".git", "HEAD"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "deep"), 0o700))
	put(t, repoTemplates(repo), "fix.toml", whole)
	all := Source{t.TempDir()}.Templates(filepath.Join(repo, "deep"), now)
	require.Len(t, all, 1)
	assert.Equal(t, repo, all[0].Repo)
}
