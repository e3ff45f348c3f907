package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host/received"
	"ccbot/try/botapi"
)

// picture is a PNG of one colour.
func picture(t *testing.T, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.SetGray(1, 1, color.Gray{Y: shade})
	var data bytes.Buffer
	require.NoError(t, png.Encode(&data, img))
	return data.Bytes()
}

// gets waits for the n-th prompt and returns it with what is in the files that it
// names.
func (w *world) gets(n int) (text string, files []string) {
	w.t.Helper()
	w.until("the agent has prompt "+itoa(n), func() bool { return len(w.received()) >= n })
	text = w.received()[n-1]
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "Attached file: "); ok {
			require.True(w.t, strings.HasPrefix(name, filepath.Join(w.dir, received.Folder)+"/"), name)
			data, err := os.ReadFile(name)
			require.NoError(w.t, err)
			files = append(files, string(data))
		}
	}
	return text, files
}

// TestFilesReachTheAgent sends every kind of file.
func TestFilesReachTheAgent(t *testing.T) {
	inShortRun(t, "files of the chat")
	t.Parallel()
	script := filepath.Join(t.TempDir(), "whisper.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"say $(cat \"$2\")\"\n"), 0o700))
	w := newWorld(t, "VOICE_COMMAND="+script+" --file")
	w.start()
	w.open("work", w.dir)

	w.hear(w.person.SendFile(w.chat(), "../отчёт 1.txt", "text/plain", []byte("a report"), "say read it"), "read it")
	text, files := w.gets(1)
	assert.Equal(t, "say read it\nAttached file: "+w.dir+"/.ccbot-inbox/отчёт_1.txt", text)
	assert.Equal(t, []string{"a report"}, files)

	_, err := w.person.SendPhoto(w.chat(), picture(t, 1), "")
	require.NoError(t, err)
	text, files = w.gets(2)
	assert.Regexp(t, `^Attached file: /.*/\.ccbot-inbox/photo-\d+\.png$`, text)
	assert.Equal(t, []string{string(picture(t, 1))}, files)

	w.person.SendVoice(w.chat(), 3, []byte("hello from afar"))
	text, files = w.gets(3)
	assert.Regexp(t, `^Transcript of a voice message:\n> say hello from afar \nAttached file: /.*/\.ccbot-inbox/voice-\d+\.oga$`, text)
	assert.Equal(t, []string{"hello from afar"}, files)
	w.hear(0, "hello from afar")

	huge := w.person.SendHugeFile(w.chat(), "huge.zip", 30<<20, "say nothing")
	told := w.hear(huge, "huge.zip is too big")
	assert.Contains(t, told.Text, "TELEGRAM_API_URL")
	require.NotNil(t, told.ReplyTo)
	assert.Equal(t, huge, told.ReplyTo.ID)
	w.hear(w.person.SendSticker(w.chat(), "🙂"), "cannot send this kind of message")
	w.hear(w.say("say the end"), "the end")
	assert.Len(t, w.received(), 4)

	ignored, err := os.ReadFile(filepath.Join(w.dir, received.Folder, ".gitignore"))
	require.NoError(t, err)
	assert.Equal(t, "*\n", string(ignored))
	w.stop()
}

// TestP4_AlbumIsOnePromptAcrossCrash sends an album of three; the second
// time ccbot is killed while a file of it cannot be fetched.
func TestP4_AlbumIsOnePromptAcrossCrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	items := []botapi.Item{{Data: picture(t, 1), Photo: true, Caption: "say three of them"},
		{Data: picture(t, 2), Photo: true}, {Data: picture(t, 3), Photo: true}}
	want := []string{string(picture(t, 1)), string(picture(t, 2)), string(picture(t, 3))}
	_, err := w.person.SendAlbum(w.chat(), items...)
	require.NoError(t, err)
	text, files := w.gets(1)
	assert.True(t, strings.HasPrefix(text, "say three of them\nAttached file: "), text)
	assert.Equal(t, want, files)

	before := w.fetches()
	withdraw := w.api.Fault(botapi.Fault{Method: "file", Skip: 1, Times: -1, Kind: botapi.FaultHang})
	_, err = w.person.SendAlbum(w.chat(), items...)
	require.NoError(t, err)
	w.until("a file is on its way", func() bool {
		return w.fetches() == before+2 && len(w.inFolder()) == 5
	})
	w.kill9()
	withdraw()
	w.start()
	_, files = w.gets(2)
	assert.Equal(t, want, files)
	w.hear(w.say("say the end"), "the end")
	assert.Len(t, w.received(), 3)
	assert.Len(t, w.inFolder(), 7, "each file is there once, and a .gitignore")
	w.stop()
}

// fetches returns the number of requested files.
func (w *world) fetches() (n int) {
	for _, c := range w.api.Calls() {
		if c.Method == "getFile" {
			n++
		}
	}
	return n
}

// inFolder returns the names in the folder, with .gitignore.
func (w *world) inFolder() (names []string) {
	w.t.Helper()
	files, err := os.ReadDir(filepath.Join(w.dir, received.Folder))
	require.NoError(w.t, err)
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestP9_LinkedInboxGetsNoFile opens a repository that ships one.
func TestP9_LinkedInboxGetsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target := t.TempDir()
	require.NoError(t, os.Symlink(target, filepath.Join(w.dir, received.Folder)))
	w.start()
	w.open("work", w.dir)
	w.hear(w.person.SendFile(w.chat(), "a.txt", "", []byte("secret"), "say it"), "Remove it")
	left, err := os.ReadDir(target)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Empty(t, w.received())
	w.stop()
}

// TestRealPicturesAreNamedNotPasted sends pictures to the real CLI, which turns pasted picture
// paths into attachments: the agent must get the text.
func TestRealPicturesAreNamedNotPasted(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.start()
	w.open("work", w.dir)
	for _, caption := range []string{"say look", "", "two\nlines of it"} {
		id, err := w.person.SendPhoto(w.chat(), picture(t, 1), caption)
		require.NoError(t, err)
		want := strings.TrimPrefix(caption+"\nAttached file: "+w.dir+"/.ccbot-inbox/photo-"+itoa(id)+".png", "\n")
		w.until("the transcript has: "+want, func() bool { return w.transcriptHas(want) })
	}
	assert.Zero(t, w.heard("not certain that"))
	w.stop()
}
