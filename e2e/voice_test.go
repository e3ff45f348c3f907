package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
)

// recipes are the scripts of docs/voice.md as people copy them.
func recipes(t *testing.T) (server, commandLine string) {
	t.Helper()
	page, err := os.ReadFile("../docs/voice.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, found, 2)
	return found[0][1], found[1][1]
}

// whisperServer has the interface of whisper.cpp's server: it takes a recording as the form field
// "file" and returns the text, as plain text on request.
func whisperServer(t *testing.T) (address string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /inference", func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil || r.FormValue("response_format") != "text" {
			http.Error(w, `{"error":"no 'file' field in the request"}`, http.StatusBadRequest)
			return
		}
		defer file.Close()
		said, _ := io.ReadAll(file)
		fmt.Fprintf(w, " say %s\n", said)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func script(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	writeProgram(t, path, []byte(text))
	return path
}

// TestP4_VoiceMessageIsTypedOnce says something to both recipes of docs/voice.md,
// with ccbot killed while a person reads what was written down.
func TestP4_VoiceMessageIsTypedOnce(t *testing.T) {
	longtest.Mark(t, "needs curl")
	t.Parallel()
	programtest.Require(t, "curl")
	viaServer, viaCommand := recipes(t)
	dir := t.TempDir()
	server := script(t, dir, "server", strings.ReplaceAll(viaServer, "http://127.0.0.1:8178", whisperServer(t)))
	script(t, dir, "ffmpeg", "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -i ] && in=$2; shift; done\ncat \"$in\" > \"$1\"\n")
	script(t, dir, "whisper-cli", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho \" say $(cat \"$1\")\"\n")
	command := script(t, dir, "command", strings.Replace(viaCommand, "set -e", "set -e\nPATH="+dir+":$PATH", 1))

	catalog := i18n.Load(glyph.Name)
	words := catalog.For("en")
	w := newWorld(t)
	for n, recipe := range []string{server, command} {
		settings := []string{"VOICE_COMMAND=" + recipe, "VOICE_CONFIRM=on"}
		w.start(settings...)
		if n == 0 {
			w.open("work", w.dir)
		}
		sent := w.person.SendVoice(w.chat(), 3, []byte("hello"))
		shown := w.hear(sent, "say hello")
		w.drained() // else the message comes once more
		w.kill9()
		w.start(settings...)
		w.person.Reply(w.chat(), shown.ID, "say good evening")
		shown = w.shows(shown.ID, "say good evening")
		assert.Len(t, w.received(), n, "nothing is typed before a person has seen it")
		w.tap(shown, words.Say(i18n.ButtonSend))
		text, files := w.gets(n + 1)
		assert.Regexp(t, `^say good evening\nAttached file: /.*/\.ccbot-inbox/voice-\d+\.oga$`, text)
		assert.Equal(t, []string{"hello"}, files)
		w.hear(shown.ID, "good evening")
		assert.Len(t, w.received(), n+1)
		w.stop()
	}
}
