package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host/received"
	"ccbot/internal/addresstest"
	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// marked is in everything that the person of these tests writes; markedPrompt is in what is typed
// into an agent.
const (
	marked       = "zq7"
	markedPrompt = "zq7prompt"
	markedName   = "zq7name"
)

// writer writes marked words wherever a person can.
type writer struct {
	*outputs
	dir  string // marked
	term terminal
	cli  strings.Builder // standard error of the verbs
}

// TestP9_WordsOfPeopleStayWhereNamed leads a bot through a day in which all words of the person
// have a marker: each command of the chat and each verb, names, folders, prompts, captions and
// files. The marker is in no line of the log and in no metric. In records, backups, names of
// windows and environments of agents it is only where docs/session-schema.md names the place, and
// no prompt is in a backup.
func TestP9_WordsOfPeopleStayWhereNamed(t *testing.T) {
	t.Parallel()
	addr := addresstest.Free(t)
	script := filepath.Join(t.TempDir(), "whisper.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"say $(cat \"$2\")\"\necho "+markedPrompt+" >&2\nexit 1\n"), 0o700))
	w := newWorld(t, "METRICS_ADDR="+addr, "VOICE_COMMAND="+script+" --file", withCards)
	p := &writer{outputs: w.outputs(), dir: filepath.Join(filepath.Dir(w.dir), "zq7dir")}
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	p.start()
	w.person.Start()
	w.open(markedName, p.dir)
	p.prompts()
	p.attachments()
	p.commands()
	p.verbs()
	p.refusedFolders()
	named := namedPlaces(t)
	p.windows(named)
	p.environments(named)
	p.note("metrics", get(t, "http://"+addr+"/metrics"))
	p.doctor("ccbot doctor --json")
	w.kill9()
	p.doctor("TELEGRAM_API_URL=http://127.0.0.1:1 ccbot doctor --json")
	w.powerOff() // so that the next start has records to change, and makes a backup
	p.start("LOG_FORMAT=json")
	w.hear(w.say("/resume"), "Which session")
	p.records(named)
	p.note("metrics after a crash", get(t, "http://"+addr+"/metrics"))
	p.verb("recover")
	w.stop()
	p.backups(named)
	for i, b := range p.logs {
		p.note(fmt.Sprintf("log of run %d", i), b.log.String())
	}
	for line := range strings.Lines(p.cli.String()) {
		if strings.HasPrefix(line, "time=") {
			p.note("log of a verb", line)
		}
	}
	for where, what := range p.all {
		if where == "metrics" || where == "metrics after a crash" || strings.HasPrefix(where, "log of ") {
			for line := range strings.Lines(what) {
				assert.NotContains(t, line, marked, where)
			}
		}
	}
}

// prompts has agents work, ask and be refused.
func (p *writer) prompts() {
	w := p.w
	w.t.Helper()
	w.hear(w.say("say "+markedPrompt+" one"), markedPrompt+" one")
	asked := w.offered(w.say("bash echo "+markedPrompt), "Deny")
	w.tap(asked, "Deny")
	w.hear(asked.ID, "I did not do it")
	w.say("!echo " + markedPrompt)
	w.hear(w.say("say "+markedPrompt+" two"), markedPrompt+" two")
	require.NoError(w.t, w.person.Edit(w.chat(), w.say("slow 1 "+markedPrompt), "say "+markedPrompt+" edited"))
	w.say("//" + marked)
	w.say("/" + marked + " x")
	w.hear(w.say("say "+markedPrompt+" three"), markedPrompt+" three")
	w.hear(w.say("/new "+w.dir), "is ready")
	w.hear(w.say("say "+markedPrompt+" in a session without a name"), markedPrompt+" in a session")
	w.until("a prompt has made its name", func() bool {
		return slices.ContainsFunc(w.records(), func(r session.Record) bool { return r.NamedBy == "prompt" })
	})
}

// attachments sends what can be sent besides text, and lets the folder refuse it.
func (p *writer) attachments() {
	w := p.w
	w.t.Helper()
	w.say("/list " + markedName)
	w.hear(w.say("/resume "+markedName), markedName)
	w.person.SendFile(w.chat(), "zq7file.txt", "text/plain", []byte(marked), "say "+markedPrompt+" of a file")
	w.hear(0, markedPrompt+" of a file")
	w.person.SendVoice(w.chat(), 3, []byte(markedPrompt))
	_, err := w.person.SendAlbum(w.chat(), botapi.Item{Data: picture(w.t, 1), Photo: true, Caption: "say " + markedPrompt + " of an album"},
		botapi.Item{Data: picture(w.t, 2), Photo: true})
	require.NoError(w.t, err)
	w.person.SendHugeFile(w.chat(), "zq7huge.zip", 30<<20, markedPrompt)
	w.person.SendContact(w.chat(), marked, "1")
	w.person.Forward(w.chat(), marked, "say "+markedPrompt+" forwarded", nil)
	w.hear(w.say("say "+markedPrompt+" after files"), markedPrompt+" after files")
}

// refusedFolders has a folder that cannot be used: gone, a file, not to be read, with a link in the
// place of the folder for files.
func (p *writer) refusedFolders() {
	w := p.w
	w.t.Helper()
	sent := filepath.Join(p.dir, received.Folder)
	require.NoError(w.t, os.Rename(sent, sent+"-before"))
	require.NoError(w.t, os.Symlink(w.t.TempDir(), sent))
	w.person.SendFile(w.chat(), "zq7file.txt", "text/plain", []byte(marked), markedPrompt)
	require.NoError(w.t, os.Remove(sent))
	require.NoError(w.t, os.WriteFile(sent, nil, 0o600))
	w.person.SendFile(w.chat(), "zq7file.txt", "text/plain", []byte(marked), markedPrompt)
	w.say("/get zq7gone")
	w.say("/changes")
	require.NoError(w.t, os.Rename(p.dir, p.dir+"-moved"))
	w.say("/get zq7gone")
	w.say("/new zq7more " + p.dir)
	w.say("/changes " + markedName)
	require.NoError(w.t, os.WriteFile(p.dir, nil, 0o600))
	w.hear(w.say("/new zq7more "+p.dir), "directory")
	require.NoError(w.t, os.Remove(p.dir))
	require.NoError(w.t, os.Rename(p.dir+"-moved", p.dir))
}

// commands sends each command of the chat with marked arguments of each shape, and then something
// that shows that all of them were handled.
func (p *writer) commands() {
	w := p.w
	w.t.Helper()
	names := make(map[string]bool)
	for _, c := range w.api.Calls() {
		if c.Method == "setMyCommands" {
			var all []struct{ Command string }
			require.NoError(w.t, json.Unmarshal([]byte(c.Params["commands"]), &all))
			for _, one := range all {
				names[one.Command] = true
			}
		}
	}
	require.Greater(w.t, len(names), 20, "the commands of the menu")
	for _, name := range append(slices.Sorted(maps.Keys(names)), "start") {
		w.say("/" + name + " zq7none /" + marked)
		w.say("/" + name + " " + markedName)
	}
	for _, text := range []string{"/new n ~/zq7x y", "/new n ~zq7x", "/new n /dev/null/" + marked, "/new n machine:/" + marked, "/new n ../" + marked, "/get ./" + marked,
		"/get /" + marked, "/get " + p.dir, "/resume zq7none /" + marked, "/changes " + markedName + " zq7file", "/rename zq7other/.."} {
		w.say(text)
	}
	last := w.say("/why zq7last")
	w.until("all are answered", func() bool { return w.heardAfter(last, "zq7last") })
}

// verbs calls each verb of the command line with marked arguments.
func (p *writer) verbs() {
	w := p.w
	w.t.Helper()
	p.term = w.newTerminal()
	call := func(line string) {
		_, _, errs := p.term.call(line).end()
		p.cli.WriteString(errs)
	}
	out, err := exec.Command(filepath.Join(binaries, "ccbot"), "describe-commands").Output()
	require.NoError(w.t, err)
	var root struct {
		Commands []struct {
			Use      string
			Commands []struct{ Use string }
		}
	}
	require.NoError(w.t, json.Unmarshal(out, &root))
	require.Greater(w.t, len(root.Commands), 20)
	for _, c := range root.Commands {
		verb, _, _ := strings.Cut(c.Use, " ")
		call("ccbot " + verb + " zq7none zq7other </dev/null")
		for _, below := range c.Commands {
			under, _, _ := strings.Cut(below.Use, " ")
			call("ccbot " + verb + " " + under + " zq7none </dev/null")
		}
	}
	for _, line := range []string{"new zq7cli " + p.dir + " --prompt 'say " + markedPrompt + " of a verb'", "new zq7cli /" + marked, "send-prompt zq7cli 'say " + markedPrompt + " too' --wait",
		"send-prompt zq7none " + markedPrompt, "history zq7cli " + marked, "status zq7cli", "why zq7cli", "changes zq7cli zq7file", "changes zq7cli",
		"archive zq7cli --yes", "resume zq7cli", "done zq7cli --yes", "resume zq7none", "forget zq7none --yes", "send /" + marked, "import /" + marked,
		"recover --restore zq7", "recover --restore-purged zq7", "attach zq7none", "list --all --json", "usage"} {
		call("ccbot " + line + " </dev/null")
	}
}

// doctor keeps the faults as a coding agent gets them, which have no prompt and no token.
func (p *writer) doctor(line string) {
	p.w.t.Helper()
	_, out, _ := p.term.call(line).end()
	require.Contains(p.w.t, out, `"checks"`)
	assert.NotContains(p.w.t, out, markedPrompt)
	assert.NotContains(p.w.t, out, p.w.api.Token())
}

// namedPlaces returns the places with words of people that docs/session-schema.md names.
func namedPlaces(t *testing.T) (named map[string]bool) {
	t.Helper()
	doc, err := os.ReadFile("../docs/session-schema.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(doc), "\n## Words of people\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	named = make(map[string]bool)
	for line := range strings.Lines(section) {
		if places, _, found := strings.Cut(line, ":"); found && strings.HasPrefix(line, "- `") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(places, -1) {
				named[m[1]] = true
			}
		}
	}
	return named
}

func (p *writer) windows(named map[string]bool) {
	if strings.Contains(strings.Join(p.w.windows(), "\n"), marked) {
		assert.True(p.w.t, named["name of the window"])
	}
}

// environments checks the variables of all processes below the bot's tmux server.
func (p *writer) environments(named map[string]bool) {
	w := p.w
	p.processes()
	for where, what := range p.all {
		if !strings.HasPrefix(where, "environment of ") {
			continue
		}
		for pair := range strings.SplitSeq(what, "\x00") {
			if name, value, _ := strings.Cut(pair, "="); strings.Contains(value, marked) {
				assert.True(w.t, named["variable "+name], "variable %s", name)
			}
		}
	}
}

// records checks the fields of all records.
func (p *writer) records(named map[string]bool) {
	w := p.w
	files, err := filepath.Glob(filepath.Join(w.state, "sessions", "*.json"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w.t, err)
		for field, text := range fieldsWithMarker(w.t, data) {
			assert.True(w.t, named[field], "field %s of a record: %q", field, text)
		}
	}
}

// backups checks all backups: a field must be named, and no prompt is in it.
func (p *writer) backups(named map[string]bool) {
	w := p.w
	files, err := filepath.Glob(filepath.Join(w.state, "backups", "*.tar.gz"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files)
	kept := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w.t, err)
		unzipped, err := gzip.NewReader(bytes.NewReader(data))
		require.NoError(w.t, err)
		for in := tar.NewReader(unzipped); ; kept++ {
			_, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(w.t, err)
			record, err := io.ReadAll(in)
			require.NoError(w.t, err)
			assert.NotContains(w.t, string(record), markedPrompt, "a prompt in a backup")
			for field, text := range fieldsWithMarker(w.t, record) {
				assert.True(w.t, named[field], "field %s of a backup: %q", field, text)
			}
		}
	}
	assert.NotZero(w.t, kept)
}

// fieldsWithMarker are the fields of a JSON object whose text is marked, by their paths without
// numbers.
func fieldsWithMarker(t *testing.T, object []byte) map[string]string {
	t.Helper()
	found := make(map[string]string)
	var look func(path string, value any)
	look = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, one := range v {
				look(strings.TrimPrefix(path+"."+name, "."), one)
			}
		case []any:
			for _, one := range v {
				look(path, one)
			}
		case string:
			if strings.Contains(v, marked) {
				found[path] = v
			}
		}
	}
	var all any
	require.NoError(t, json.Unmarshal(object, &all))
	look("", all)
	return found
}
