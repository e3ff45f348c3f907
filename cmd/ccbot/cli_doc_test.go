package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/importer"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/session"
	"ccbot/port"
)

// printed are the values that the verbs print as JSON.
var printed = map[string]any{
	"list --json": []show.Session{}, "status NAME --json": show.Details{}, "why NAME --json": show.Fate{}, "recover --json": show.Account{},
	"hooks status --json": hooksReport{}, "service status --json": service.State{}, "doctor --json": doctor.Report{}, "resume NAME --json": running.Resumed{}, "forget NAME --json": forgottenSession{}, "new --json": running.Started{}, "send-prompt NAME TEXT --wait --json": running.Queued{},
	"loop status NAME --json": show.Loop{}, "schedule add NAME WHEN TEXT --json": port.Schedule{}, "archive NAME --json": running.Ended{}, "history NAME --json": []show.Entry{}, "history NAME WORD --json": []show.Hit{},
	"changes NAME --json": show.Changes{}, "changes NAME FILE --json": show.Patch{}, "usage --json": show.Usage{}, "config --json": []config.Setting{}, "import DIR --json": importer.Report{},
}

// TestCLIDocHasAllJSON compares the fields of each example in docs/cli.md with the program's.
func TestCLIDocHasAllJSON(t *testing.T) {
	data, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	documented := make(map[string]string)
	for _, found := range regexp.MustCompile("(?s)\n`ccbot ([^`]*--json)`[^\n]*:\n\n```json\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		documented[found[1]] = found[2]
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(printed)), slices.Collect(maps.Keys(documented)))
	for verb, value := range printed {
		want, got := make(map[string]bool), make(map[string]bool)
		fieldsOf(reflect.TypeOf(value), "", want)
		examples := []string{documented[verb]}
		if verb == "status NAME --json" { // it has all fields of the list
			examples = append(examples, documented["list --json"])
		}
		for _, text := range examples {
			var example any
			require.NoError(t, json.Unmarshal([]byte(text), &example), verb)
			keysOf(example, "", got)
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)), verb)
	}
}

// fieldsOf collects the paths of all fields that a type may have in JSON.
func fieldsOf(of reflect.Type, path string, all map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		fieldsOf(of.Elem(), path, all)
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() || of == reflect.TypeFor[uuid.UUID]() {
			return
		}
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				fieldsOf(f.Type, path, all)
			case name == "-" || !f.IsExported():
			default:
				all[path+"."+name] = true
				fieldsOf(f.Type, path+"."+name, all)
			}
		}
	}
}

// keysOf collects the paths of all keys in an example.
func keysOf(example any, path string, all map[string]bool) {
	switch v := example.(type) {
	case []any:
		for _, one := range v {
			keysOf(one, path, all)
		}
	case map[string]any:
		for key, one := range v {
			if strings.HasSuffix(path, ".states") || strings.HasSuffix(path, ".refusal") {
				return // its keys are states; each refusal has its own
			}
			all[path+"."+key] = true
			keysOf(one, path+"."+key, all)
		}
	}
}

// TestVerbsHaveHelp: its --help has an example, and the document names it with all its flags.
func TestVerbsHaveHelp(t *testing.T) {
	data, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, one := range cmd.Commands() {
			look(one)
			path := strings.TrimSpace(strings.TrimPrefix(one.CommandPath(), "ccbot"))
			if one.Hidden || one.Name() == "help" || one.Name() == "completion" && one.HasParent() && one.Parent().Name() != "ccbot" {
				continue
			}
			assert.NotEmpty(t, one.Example, "ccbot %s --help has no example", path)
			assert.Contains(t, string(data), "`ccbot "+path, "docs/cli.md names the verb")
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(one.Flags().FlagUsages(), -1) {
				assert.Contains(t, string(data), flag, "docs/cli.md names the flag of %s", path)
			}
			one.Flags().VisitAll(func(f *pflag.Flag) {
				value, _ := pflag.UnquoteUsage(f)
				assert.NotContains(t, value, " ", "the name of the value of --%s of %s", f.Name, path)
			})
		}
	}
	look(commands(nil, nil, nil))
}

// TestUsageHasNumberOfArguments compares the arguments in the usage line of each verb, those in
// brackets being optional, with those that the verb accepts, and keeps the help within 100 columns.
func TestUsageHasNumberOfArguments(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, one := range cmd.Commands() {
			look(one)
			if one.Hidden || one.HasSubCommands() || one.Name() == "help" {
				continue
			}
			for line := range strings.Lines(one.Long) {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 101, "the help of %s: %s", one.CommandPath(), line)
			}
			if one.Name() == "try" {
				continue // ccbot-try looks at them
			}
			words := strings.Fields(one.Use)[1:]
			needed := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "[") })
			for n := range len(words) + 2 {
				args := slices.Repeat([]string{"bash"}, n) // a shell, for completion
				assert.Equal(t, n >= len(needed) && n <= len(words), one.Args == nil || one.Args(one, args) == nil, "ccbot %s with %d arguments", one.Use, n)
			}
		}
	}
	look(commands(nil, nil, nil))
}

// TestHelpIsTheSameBothWays compares `ccbot help VERB` with `ccbot VERB --help`. ccbot-try, which
// the tests of this package do not build, prints the help of try
// (e2e.TestHelpOfTryIsTheSameBothWays).
func TestHelpIsTheSameBothWays(t *testing.T) {
	said := func(args ...string) string {
		var out, errs bytes.Buffer
		assert.Zero(t, run(args, []string{"HOME=" + t.TempDir()}, &out, &errs), args)
		assert.Empty(t, errs.String(), args)
		return out.String()
	}
	verbs := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, one := range cmd.Commands() {
			look(one)
			if one.Name() == "try" {
				continue
			}
			verbs++
			path := strings.Fields(one.CommandPath())[1:]
			want := said(append(path, "--help")...)
			assert.Contains(t, want, "Usage:\n  ccbot "+strings.Join(path, " "))
			assert.NotContains(t, want, "(default )")
			assert.Equal(t, want, said(append([]string{"help"}, path...)...), "ccbot help %s", strings.Join(path, " "))
		}
	}
	look(commands(nil, nil, nil))
	assert.Greater(t, verbs, 30)
}

// TestMissingArgumentNamesCommand: the message of each verb without its arguments shows the whole
// command.
func TestMissingArgumentNamesCommand(t *testing.T) {
	verbs := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, one := range cmd.Commands() {
			look(one)
			if one.Args == nil || one.Hidden {
				continue
			}
			if err := one.Args(one, nil); err != nil {
				verbs++
				assert.ErrorContains(t, err, one.CommandPath()+" ")
			}
		}
	}
	look(commands(nil, nil, nil))
	assert.Greater(t, verbs, 15)
}

// TestCompletionHasNames: each verb with the name of a session completes it, also below another
// verb.
func TestCompletionHasNames(t *testing.T) {
	state := stateWith(t, one(1, "api", func(r *session.Record) { r.State = session.Running }), one(2, "web"))
	named := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, one := range cmd.Commands() {
			look(one)
			if !strings.Contains(one.Use, " NAME|") {
				continue
			}
			named++
			args := append([]string{"__complete"}, strings.Fields(one.CommandPath())[1:]...)
			_, out, _ := ccbot([]string{"HOME=" + state, "CCBOT_DIR=" + state}, append(args, "")...)
			ended := slices.Contains([]string{"ccbot resume", "ccbot forget"}, one.CommandPath())
			assert.Equal(t, !ended, strings.Contains(out, "api\t"), one.CommandPath())
			if ended {
				assert.Contains(t, out, "web\t", one.CommandPath())
			}
		}
	}
	look(commands(nil, nil, nil))
	assert.Greater(t, named, 15)
}

var (
	ccbotCall = regexp.MustCompile("`ccbot ([a-z][^`\n]*)`")
	longFlag  = regexp.MustCompile(`--[a-z][a-z-]*`)
)

// TestPagesNameVerbsThatAreThere looks for each verb that a page calls in code type, and for its
// flags.
func TestPagesNameVerbsThatAreThere(t *testing.T) {
	var names []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/dev/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		names = append(names, found...)
	}
	calls := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range ccbotCall.FindAllStringSubmatch(string(data), -1) {
			words := strings.Fields(m[1])
			root := commands(nil, nil, nil)
			cmd, _, err := root.Find(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }))
			if !assert.True(t, err == nil && cmd != root, "%s has %q", name, m[1]) || cmd.Name() == "try" {
				continue
			}
			calls++
			for _, flag := range longFlag.FindAllString(m[1], -1) {
				known := cmd.Flags().Lookup(flag[2:]) != nil || cmd.InheritedFlags().Lookup(flag[2:]) != nil || flag == "--help"
				assert.True(t, known, "%s has %s in %q", name, flag, m[1])
			}
		}
	}
	assert.Greater(t, calls, 100)
}
