package session

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textsOf returns the places of a type's texts in JSON: "former_names", "exit.screen". A text with
// a type of its own is a code.
func textsOf(of reflect.Type) (places []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[string]():
		return []string{""}
	case structOf(of) == nil:
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for _, place := range textsOf(f.Type) {
			places = append(places, strings.TrimSuffix(name+"."+place, "."))
		}
	}
	return places
}

// ofPrograms are the texts of a record that have no word of a person: ids, codes, and programs with
// what they are called with.
var ofPrograms = []string{"agent_name", "attach", "progress.goes_on.attach", "binding.agent.boot", "binding.agent_server.boot", "binding.argv_digest", "binding.command", "binding.exe", "binding.pane", "binding.server.socket",
	"binding.window", "bound.boot", "requested_moment.boot", "ended_moment.boot", "since_moment.boot", "descendants.of.boot", "descendants.process.boot", "cleanup.failures.kind", "cleanup.processes.boot",
	"closed_reason", "cursors.form", "earlier.until.form", "exe", "git_now.head", "git_start.head", "hook_digest", "host", "launch.command", "launch.flags", "launch.permission_mode", "news.kind", "origin", "phase",
	"progress.last_message", "progress.model", "progress.permission_mode", "progress.requested_model", "progress.tasks.id", "progress.tasks.status", "prompts", "second_writers.boot",
	"usage.model", "mode_request.agent.boot", "mode_request.mode", "mode_request.model", "mode_request.passed"}

// namedPlaces returns the groups of the section "Words of people".
func namedPlaces(page string) (groups [][]string) {
	_, section, _ := strings.Cut(page, "\n## Words of people\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if places, _, found := strings.Cut(line, ":"); found && strings.HasPrefix(line, "- `") {
			var group []string
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(places, -1) {
				group = append(group, m[1])
			}
			groups = append(groups, group)
		}
	}
	return groups
}

// unnamed returns the faults of the section "Words of people" of a page for a type: a text that is
// neither named there nor a program's, or both, and a place that no text has.
func unnamed(of reflect.Type, page string, programs []string) (faults []string) {
	named, texts := slices.Concat(namedPlaces(page)...), textsOf(of)
	for _, place := range texts {
		if slices.Contains(named, place) == slices.Contains(programs, place) {
			faults = append(faults, place+" of a record is a text: name it in \"Words of people\" of docs/session-schema.md, or in ofPrograms if no word of a person can reach it")
		}
	}
	for _, place := range slices.Concat(named, programs) {
		if !strings.Contains(place, " ") && !slices.Contains(texts, place) {
			faults = append(faults, place+" is no text of a record any more: take it out")
		}
	}
	return faults
}

// TestP9_WordsOfPeopleAreNamed finds a text of the record that the page does not name. The test of
// the whole looks whether the words of a person are elsewhere.
func TestP9_WordsOfPeopleAreNamed(t *testing.T) {
	page, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	for _, fault := range unnamed(reflect.TypeFor[Record](), string(page), ofPrograms) {
		t.Error(fault)
	}
	type note struct {
		Text string `json:"text"`
	}
	type record struct {
		Notes []note `json:"notes"`
	}
	const small = "\n## Words of people\n\n- `name`: a name\n\n"
	assert.Contains(t, strings.Join(unnamed(reflect.TypeFor[record](), small, nil), "\n"), "notes.text of a record is a text")
	assert.Contains(t, strings.Join(unnamed(reflect.TypeFor[record](), small, nil), "\n"), "name is no text")
}

// TestP9_BackupOmitsWhatThePageSays compares the fields that a backup omits with the groups that
// the page names.
func TestP9_BackupOmitsWhatThePageSays(t *testing.T) {
	page, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	require.Contains(t, string(page), "it omits `former_names` and the last two groups")
	groups := namedPlaces(string(page))
	require.Greater(t, len(groups), 2)
	omitted := append(slices.Concat(groups[len(groups)-2:]...), "former_names")
	covers := func(field, place string) bool { return place == field || strings.HasPrefix(place, field+".") }
	for _, place := range omitted {
		assert.True(t, slices.ContainsFunc(promptFields, func(f string) bool { return covers(f, place) }), "%s may repeat a prompt, and a backup has it: add it to promptFields", place)
	}
	for _, field := range promptFields {
		assert.True(t, slices.ContainsFunc(omitted, func(p string) bool { return covers(field, p) }), "a backup omits %s: name it in the last two groups of \"Words of people\"", field)
	}
}
