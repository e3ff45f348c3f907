package bot_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/attachment"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func TestFileIsPromptWithItsName(t *testing.T) {
	photo := []models.PhotoSize{{FileID: "small", Width: 90, Height: 60}, {FileID: "large", Width: 1280, Height: 960}, {FileID: "middle", Width: 320, Height: 240}}
	for _, tt := range []struct {
		name string
		m    models.Message
		want string // id and name
	}{
		{"a document", chattest.Document("d", "отчёт 2.pdf"), "d отчёт_2.pdf"},
		{"a document without a name", models.Message{Document: &models.Document{FileID: "d"}}, "d file-1001.png"},
		{"a photo, the largest", models.Message{Photo: photo}, "large photo-1001.png"},
		{"a video", models.Message{Video: &models.Video{FileID: "v", FileName: "a.mov"}}, "v a.mov"},
		{"a video without a name", models.Message{Video: &models.Video{FileID: "v"}}, "v video-1001.png"},
		{"an animation, which is a document, too", models.Message{Animation: &models.Animation{FileID: "a", FileName: "a.mp4"},
			Document: &models.Document{FileID: "d", FileName: "d.mp4"}}, "a a.mp4"},
		{"an audio", models.Message{Audio: &models.Audio{FileID: "m", FileName: "song.mp3"}}, "m song.mp3"},
		{"a voice message", models.Message{Voice: &models.Voice{FileID: "o"}}, "o voice-1001.png"},
		{"a video note", models.Message{VideoNote: &models.VideoNote{FileID: "n"}}, "n video-note-1001.png"},
	} {
		for _, caption := range []string{"", "look at this"} {
			t.Run(tt.name+caption, func(t *testing.T) {
				d := chattest.NewMediaWorld(t)
				tt.m.Caption = caption
				e := d.MustGet(t, tt.m)
				id, name, _ := strings.Cut(tt.want, " ")
				want := "Attached file: .ccbot-inbox/" + name
				if caption != "" {
					want = caption + "\n" + want
				}
				assert.Equal(t, want, chattest.Shortened(e))
				assert.Equal(t, []any{inbox.Held, d.R.ID, []string{filepath.Join(d.Dir, folders.InboxName, name)}, talk.ClassPlain}, []any{e.State, e.Session, e.Files, e.Class})
				data, err := os.ReadFile(filepath.Join(d.Dir, folders.InboxName, name))
				require.NoError(t, err)
				assert.Equal(t, "bytes of "+id, string(data))
				assert.Equal(t, []string{"queue " + e.Key + " for " + d.R.ID.String()}, d.Lifecycle.Done())
				assert.Contains(t, d.Telegram.Done(), "react 👀 to 1001 in 7")
				if tt.m.Voice == nil { // a recording without transcription has a separate line
					assert.Empty(t, d.Telegram.Texts())
				}
			})
		}
	}
}

func TestOtherKindsGetOnePoliteSentence(t *testing.T) {
	for name, m := range map[string]models.Message{
		"a sticker":  {Sticker: &models.Sticker{FileID: "s"}},
		"a place":    {Location: &models.Location{}},
		"a contact":  {Contact: &models.Contact{}},
		"a poll":     {Poll: &models.Poll{}},
		"a dice":     {Dice: &models.Dice{}},
		"a game":     {Game: &models.Game{}},
		"a venue":    {Venue: &models.Venue{}},
		"a story":    {Story: &models.Story{}},
		"paid media": {PaidMedia: &models.PaidMediaInfo{}, Caption: "!ls"},
		"a list":     {Checklist: &models.Checklist{}},
		"rich text":  {RichMessage: &models.RichMessage{}},
		"an unknown": {},
	} {
		t.Run(name, func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			_, err := d.Get(t, m)
			require.NoError(t, err)
			assert.Equal(t, []string{chattest.Warning + chattest.Lines(d.Word(i18n.MediaUnknown), d.Word(i18n.NotDelivered))}, d.Telegram.Texts())
			assert.Equal(t, 1001, d.Telegram.Last(t).ReplyTo)
			assert.Empty(t, d.Lifecycle.Done())
			assert.Empty(t, d.Downloads.Done())
		})
	}
}

func TestP4_FileWithoutSessionIsReported(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, d *chattest.MediaWorld)
		m       models.Message
		want    func(d *chattest.MediaWorld) string
		asked   int // downloads
	}{
		{"a session that is not cleaned up", func(t *testing.T, d *chattest.MediaWorld) {
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		}, chattest.Document("d", "a"), func(d *chattest.MediaWorld) string {
			r, _ := d.Records.Get(d.R.ID)
			return d.In(chattest.AtAlice).NotCleanText(chattest.ViewOf(r)).Text
		}, 0},
		{"too big", func(_ *testing.T, d *chattest.MediaWorld) { d.Downloads.Fail("d", attachment.ErrFileTooBig) }, chattest.Document("d", "../big.zip"),
			func(d *chattest.MediaWorld) string { return d.Word(i18n.FileTooBig, i18n.Args{"Name": "big.zip"}) }, 1},
		{"a link in the folder's place", func(t *testing.T, d *chattest.MediaWorld) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(d.Dir, folders.InboxName)))
		}, chattest.Document("d", "a"), func(d *chattest.MediaWorld) string {
			return d.Word(i18n.InboxNotOurs, i18n.Args{"Path": filepath.Join(d.Dir, folders.InboxName)})
		}, 0},
		{"a directory that is gone", func(t *testing.T, d *chattest.MediaWorld) { require.NoError(t, os.Remove(d.Dir)) }, chattest.Document("d", "a"),
			func(d *chattest.MediaWorld) string {
				return d.Word(i18n.DirGoneOpen, i18n.Args{"Name": d.R.Name, "Dir": d.Dir})
			}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			if tt.prepare != nil {
				tt.prepare(t, d)
			}
			tt.m.Caption = "do this"
			_, err := d.Get(t, tt.m)
			require.NoError(t, err)
			assert.Equal(t, []string{chattest.Warning + chattest.Lines(tt.want(d), d.Word(i18n.NotDelivered))}, d.Telegram.Texts())
			assert.Equal(t, 1001, d.Telegram.Last(t).ReplyTo)
			assert.Empty(t, d.Lifecycle.Done(), "nothing is typed")
			assert.Len(t, d.Downloads.Done(), tt.asked)
			assert.Empty(t, d.Received(t))
		})
	}
}

func TestP4_FailedDownloadIsRetriedThenReported(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Downloads.Fail("d", chattest.ErrNet)
	synctest.Test(t, func(t *testing.T) { d.MustGet(t, chattest.Document("d", "a.txt")) })
	assert.Len(t, d.Downloads.Done(), 3)
	assert.Empty(t, d.Received(t), "no half file")
	assert.Empty(t, d.Lifecycle.Done())
	reported := chattest.Warning + chattest.Lines(d.Word(i18n.FileNotFetched, i18n.Args{"Name": "a.txt"}), d.Word(i18n.NotDelivered))
	assert.Equal(t, []string{reported}, d.Telegram.Texts())

	tries := 0
	d.Downloads.During = func(string) {
		if tries++; tries == 2 {
			d.Downloads.Fail("d", nil)
		}
	}
	synctest.Test(t, func(t *testing.T) { d.MustGet(t, chattest.Document("d", "a.txt")) })
	assert.Equal(t, []string{"a.txt"}, d.Received(t))
	assert.Equal(t, []string{reported}, d.Telegram.Texts())
}

// A crash after any step: the update comes again, and there is one file and one prompt.
func TestP4_RepeatedUpdateFetchesFileOnce(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	save := errors.New("no space left on device")
	d.Inbox.OnSave = func(inbox.Entry) error { return save }
	key, u := d.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Date: int(time.Now().Unix()), Document: &models.Document{FileID: "d", FileName: "a.txt"}})
	for range 3 {
		require.ErrorIs(t, d.Handle(t.Context(), key, u), save)
		d.Again()
	}
	d.Inbox.OnSave = nil
	require.NoError(t, d.Handle(t.Context(), key, u))
	assert.Equal(t, []string{"a.txt"}, d.Received(t))
	assert.Equal(t, []string{"d"}, d.Downloads.Done())
	e, err := d.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(d.Dir, folders.InboxName, "a.txt")}, e.Files)
}

// TestP5_FileIsNamedWhereItIs: an agent that goes into another folder while a file is fetched is told the folder that has the file.
func TestP5_FileIsNamedWhereItIs(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	other := t.TempDir()
	d.Downloads.During = func(string) { d.Records.Change(d.R.ID, func(r *session.Record) { r.NowDir = other }) }
	e := d.MustGet(t, chattest.Document("d", "a.txt"))
	assert.Equal(t, "Attached file: "+filepath.Join(other, folders.InboxName, "a.txt"), e.Text)
	assert.FileExists(t, strings.TrimPrefix(e.Text, "Attached file: "))
}

// A file for an ended session waits as a text does.
func TestFileForEndedSessionWaits(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
	m := chattest.Document("d", "a.txt")
	m.Caption = "read it"
	e := d.MustGet(t, m)
	assert.Equal(t, []any{inbox.Asked, d.R.ID, "read it\nAttached file: .ccbot-inbox/a.txt"}, []any{e.State, e.Session, chattest.Shortened(e)})
	assert.NotEmpty(t, chattest.Data(d.LastSent(t)))
	assert.Equal(t, []string{"a.txt"}, d.Received(t))
}

// TestP4_DueFileOfWaitingPromptStays: of the files that are old enough, the chat removes those that
// no prompt needs.
func TestP4_DueFileOfWaitingPromptStays(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.MustGet(t, chattest.Document("d", "a.txt"))
	sent := d.MustGet(t, chattest.Document("d2", "b.txt"))
	require.NoError(t, d.Inbox.Finish(sent.Key))
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- d.Bot.Files.Feature().Run(ctx) }()
	require.NoError(t, d.SessionNews(t.Context(), session.Record{}, news.FilesDue{Dir: d.Dir, Names: []string{"a.txt", "b.txt"}}))
	waittest.Until(t, func() bool { return slices.Equal([]string{"a.txt"}, d.Received(t)) })
	stop()
	require.NoError(t, <-over)
}

// A reply to a message of another session takes its file there.
func TestRepliedFileGoesToItsSession(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	require.NoError(t, d.Sent(chattest.AtAlice, 500, d.R.ID))
	d.NewCurrentSession(t, "web", session.Running)
	for _, group := range []string{"", "g"} {
		m := chattest.Document("d", "a.txt")
		m.ReplyToMessage, m.MediaGroupID = &models.Message{ID: 500}, group
		e := d.MustGet(t, m)
		assert.Equal(t, d.R.ID, e.Session)
	}
	assert.Equal(t, []string{"a-2.txt", "a.txt"}, d.Received(t))
}

// A person taps another session while a file is on its way.
func TestFileGoesToFoldersSession(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Downloads.During = func(string) { d.NewCurrentSession(t, "web", session.Running) }
	e := d.MustGet(t, chattest.Document("d", "a.txt"))
	assert.Equal(t, d.R.ID, e.Session)
}

func TestVoiceMessageIsTextAndFile(t *testing.T) {
	const file = "Attached file: .ccbot-inbox/voice-1001.png"
	for _, tt := range []struct {
		name          string
		voice         *chattest.FakeVoice
		caption, want string
		warned        bool
	}{
		{"without a command", nil, "", file, false},
		{"with one", &chattest.FakeVoice{Says: " fix the bug\n"}, "", "Transcript of a voice message:\n> fix the bug \n" + file, false},
		{"with one, and a caption", &chattest.FakeVoice{Says: "fix the bug"}, "now", "now\nTranscript of a voice message:\n> fix the bug \n" + file, false},
		{"that fails", &chattest.FakeVoice{Err: chattest.ErrNet}, "now", "now\n" + file, true},
		{"that writes nothing", &chattest.FakeVoice{Says: " \n"}, "", file, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			var log bytes.Buffer
			if tt.voice != nil {
				d.Voice = tt.voice
				d.Log = slog.New(slog.NewTextHandler(&log, nil))
				d.Connect(d.Lifecycle, d.Windows)
				tt.voice.Then = func() { assert.Empty(t, d.Received(t), "the agent has no recording yet") }
			}
			e := d.MustGet(t, models.Message{Caption: tt.caption, Voice: &models.Voice{FileID: "v"}})
			assert.Equal(t, tt.want, chattest.Shortened(e))
			if tt.voice != nil {
				assert.Equal(t, []string{"voice-1001.png: bytes of v"}, tt.voice.Got)
			}
			data, err := os.ReadFile(filepath.Join(d.Dir, folders.InboxName, "voice-1001.png"))
			require.NoError(t, err)
			assert.Equal(t, "bytes of v", string(data))
			var want []string
			switch {
			case tt.voice == nil:
				want = []string{d.Word(i18n.VoiceUnheard, i18n.Args{"Name": "api"})}
			case tt.warned:
				want = []string{chattest.Warning + d.Word(i18n.VoiceFailed)}
			}
			assert.Equal(t, want, d.Telegram.Texts())
			assert.Equal(t, tt.warned, strings.Contains(log.String(), "voice_not_written_down error="))
			assert.NotContains(t, log.String(), "<nil>")
		})
	}
	t.Run("that fails, which the person could not be told", func(t *testing.T) {
		d := chattest.NewMediaWorld(t)
		d.Voice = &chattest.FakeVoice{Err: chattest.ErrNet}
		d.Connect(d.Lifecycle, d.Windows)
		d.Telegram.OnPost = func(outbox.Message) error { return io.ErrShortWrite }
		_, err := d.Get(t, models.Message{Voice: &models.Voice{FileID: "v"}})
		assert.ErrorIs(t, err, io.ErrShortWrite, "it is handled again")
		assert.Len(t, d.Voice.(*chattest.FakeVoice).Got, 1)
	})
	t.Run("not a recording of many hours", func(t *testing.T) {
		d := chattest.NewMediaWorld(t)
		d.Voice = &chattest.FakeVoice{Err: chattest.ErrNet}
		d.Connect(d.Lifecycle, d.Windows)
		e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v", FileSize: attachment.MaxRecording + 1}})
		assert.Equal(t, file, chattest.Shortened(e))
		assert.Empty(t, d.Telegram.Texts())
	})
	t.Run("not one that is longer than the server has said", func(t *testing.T) {
		d := chattest.NewMediaWorld(t)
		d.Voice = &chattest.FakeVoice{Says: "x"}
		d.Connect(d.Lifecycle, d.Windows)
		d.Downloads.More = attachment.MaxRecording
		e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v", FileSize: 1}})
		assert.Equal(t, file, chattest.Shortened(e))
		assert.Zero(t, len(d.Voice.(*chattest.FakeVoice).Got), "it is not written down")
		info, err := os.Stat(filepath.Join(d.Dir, folders.InboxName, "voice-1001.png"))
		require.NoError(t, err)
		assert.EqualValues(t, len("bytes of v")+attachment.MaxRecording, info.Size(), "all of it is a file")
	})
	t.Run("only what is spoken", func(t *testing.T) {
		d := chattest.NewMediaWorld(t)
		d.Voice = &chattest.FakeVoice{Err: chattest.ErrNet}
		d.Connect(d.Lifecycle, d.Windows)
		e := d.MustGet(t, models.Message{Audio: &models.Audio{FileID: "a", FileName: "song.mp3"}})
		assert.Equal(t, "Attached file: .ccbot-inbox/song.mp3", chattest.Shortened(e))
		assert.Empty(t, d.Telegram.Texts())
	})
}

func TestForwardedTextKeepsLinks(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	e := d.MustGet(t, models.Message{Text: "read this", Entities: []models.MessageEntity{chattest.Link(5, 4, "https://a.b")},
		ForwardOrigin: &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser, MessageOriginHiddenUser: &models.MessageOriginHiddenUser{}}})
	assert.Equal(t, "Forwarded message from somebody:\n> read this (https://a.b) ", e.Text)
	m := chattest.Document("d", "a.txt")
	m.Caption, m.CaptionEntities = "and this", []models.MessageEntity{chattest.Link(4, 4, "https://c.d")}
	assert.Equal(t, "and this (https://c.d)\nAttached file: .ccbot-inbox/a.txt", chattest.Shortened(d.MustGet(t, m)))
}
