package bot_test

import (
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

const recordingFile = "\nAttached file: .ccbot-inbox/voice-1001.png"

// spokenWorld returns a world with VOICE_CONFIRM=on and a recording of this text.
func spokenWorld(t *testing.T, says string) *chattest.MediaWorld {
	d := chattest.NewMediaWorld(t)
	d.Voice, d.VoiceConfirm = &chattest.FakeVoice{Says: says}, true
	d.Connect(d.Lifecycle, d.Windows)
	return d
}

// typed returns the number of queued prompts.
func typed(d *chattest.MediaWorld) int {
	return strings.Count(strings.Join(d.Lifecycle.Done(), "\n"), "queue ")
}

// The hint about the buttons goes with them, and the person's words stay.
func TestP4_SettledQuestionKeepsThePersonsWords(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	hint := d.Word(i18n.VoiceHint)
	d.Voice, d.VoiceConfirm = &chattest.FakeVoice{Says: "write:\n" + hint + "\nthen stop"}, true
	d.Connect(d.Lifecycle, d.Windows)
	d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	id := d.Telegram.LastID()
	require.Equal(t, 2, strings.Count(d.Shows(t, id).Text.Text, hint))
	d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonSend))
	d.Work(t)
	assert.Equal(t, 1, strings.Count(d.Shows(t, id).Text.Text, hint))
	assert.Contains(t, d.Shows(t, id).Text.Text, "then stop")
}

func TestP4_VoiceTextIsShownBeforeTyping(t *testing.T) {
	d := spokenWorld(t, "fix the bug")
	e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	id := d.Telegram.LastID()
	shows := func() string { return d.Shows(t, id).Text.Text }
	assert.Contains(t, shows(), d.Word(i18n.VoiceAsk, i18n.Args{"Name": "api"})+"\nfix the bug")
	assert.Equal(t, inbox.Asked, e.State)
	assert.Zero(t, typed(d))

	d.World.Restart(t)
	d.Answer(t, id, "fix the bulb")
	d.Work(t)
	assert.Contains(t, shows(), "\nfix the bulb")
	assert.NotContains(t, shows(), "fix the bug")
	assert.Zero(t, typed(d), "the correction is shown, too, and no prompt of its own")

	d.World.Restart(t)
	d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonSend))
	d.PressLate(t, chattest.Alice, id, d.Word(i18n.ButtonSend))
	assert.Equal(t, 1, typed(d))
	e, err := d.Inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, []any{inbox.Held, d.R.ID, "fix the bulb" + recordingFile}, []any{e.State, e.Session, chattest.Shortened(e)})
	assert.NotContains(t, shows(), d.Word(i18n.VoiceHint))

	d.Answer(t, id, "once more")
	d.Work(t)
	assert.Equal(t, 2, typed(d), "what comes after is a prompt like any other")
}

func TestDiscardedVoiceMessageIsNotTyped(t *testing.T) {
	d := spokenWorld(t, "fix the bug")
	e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	d.Press(t, chattest.Bob, d.Telegram.LastID(), d.Word(i18n.ButtonDrop))
	assert.Empty(t, d.EntryState(e.Key))
	assert.Zero(t, typed(d))
}

// A transcription is a quotation, and only a person's own plain text replaces it.
func TestP7_VoiceCorrectionMakesNoCommand(t *testing.T) {
	d := spokenWorld(t, "/clear")
	e := d.MustGet(t, models.Message{Caption: "now", Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	id := d.Telegram.LastID()
	before := d.Shows(t, id).Text.Text
	assert.Equal(t, "now\nTranscript of a voice message:\n> / clear "+recordingFile, chattest.Shortened(e))
	reply := models.Message{ReplyToMessage: &models.Message{ID: id}, Text: "as others said",
		ForwardOrigin: &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser, MessageOriginHiddenUser: &models.MessageOriginHiddenUser{}}}
	d.MustGet(t, reply)
	reply.ForwardOrigin = nil
	for _, reply.Text = range []string{"/compact", "!ls"} {
		d.MustGet(t, reply)
	}
	d.Work(t)
	assert.Equal(t, before, d.Shows(t, id).Text.Text)
	d.Answer(t, id, "clear it")
	d.Work(t)
	d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonSend))
	e, err := d.Inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, "now\nclear it"+recordingFile, chattest.Shortened(e))
}

// For a recording without a session, a person chooses the session first, and then sees the text.
func TestChosenSessionsVoiceMessageIsShown(t *testing.T) {
	d := spokenWorld(t, "fix the bug")
	d.Session(t, "web", session.Running)
	require.NoError(t, d.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, uuid.New()))
	e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	d.Press(t, chattest.Alice, d.Telegram.LastID(), d.Word(i18n.ButtonSendTo, i18n.Args{"Name": "api"}))
	assert.Zero(t, typed(d))
	id := d.Telegram.LastID()
	assert.Contains(t, d.Shows(t, id).Text.Text, "\nfix the bug")
	d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonSend))
	assert.Equal(t, 1, typed(d))
	e, err := d.Inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, d.R.ID, e.Session)
}

// TestVoiceWithoutProgramSaysSo in one silent line: the agent gets the recording only.
func TestVoiceWithoutProgramSaysSo(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	assert.Equal(t, []string{d.Word(i18n.VoiceUnheard, i18n.Args{"Name": "api"})}, d.Telegram.Texts())
	assert.False(t, d.Telegram.Last(t).Sounds)
	d.MustGet(t, models.Message{Audio: &models.Audio{FileID: "a"}})
	assert.Len(t, d.Telegram.Texts(), 1, "a piece of music has no words to write down")
}

// TestP4_ResumedRecordingKeepsItsWords sends a recording by resuming its session. The chat has its
// words nowhere else.
func TestP4_ResumedRecordingKeepsItsWords(t *testing.T) {
	d := spokenWorld(t, "delete all")
	d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
	e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	d.Work(t)
	id := d.Telegram.LastID()
	require.Contains(t, d.Shows(t, id).Text.Text, "delete all")
	d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonResumeAndSend))
	assert.Contains(t, d.Shows(t, id).Text.Text, "delete all")
	d.Delivered(t, d.R, e.Key, d.Now())
	d.Work(t)
	text := d.Shows(t, id).Text.Text
	assert.Equal(t, 1, strings.Count(text, "delete all"))
	assert.NotContains(t, text, d.Named(i18n.ResumeAndSend, "api"))
}

// TestP4_ResumeAsksAboutRecordings resumes a session with recordings sent after its end: their
// texts are shown before they are typed, for any message that resumes the session.
func TestP4_ResumeAsksAboutRecordings(t *testing.T) {
	for name, resume := range map[string]func(d *chattest.MediaWorld, id int){
		"by a command":   func(d *chattest.MediaWorld, _ int) { d.MustHear(t, "/resume api") },
		"under the card": func(d *chattest.MediaWorld, id int) { d.Press(t, chattest.Alice, id, d.Word(i18n.ButtonResumeAndSend)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := spokenWorld(t, "delete all")
			d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
			d.MustHear(t, "one")
			id := d.Telegram.LastID()
			e := d.MustGet(t, models.Message{Voice: &models.Voice{FileID: "v"}})
			d.Work(t)
			resume(d, id)
			d.Work(t)
			e, err := d.Inbox.Load(e.Key)
			require.NoError(t, err)
			assert.Equal(t, inbox.Asked, e.State)
			assert.NotContains(t, strings.Join(d.Lifecycle.Done(), "\n"), "keep "+e.Key+" for")
			assert.Contains(t, strings.Join(d.Lifecycle.Done(), "\n"), "restore ")
		})
	}
}
