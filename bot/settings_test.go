package bot_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
)

// opensSettings opens /settings in a chat, and returns the message.
func opensSettings(t *testing.T, w *chattest.World, at models.Chat, by int64) int {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: by}, Chat: at, Text: "/settings"})
	require.NoError(t, w.HandleText(t, key, u))
	w.Work(t)
	return w.Telegram.LastID()
}

// Every setting has a page, whose choice holds over a restart and is taken back by its first
// button.
// inLosAngeles is the time there.
func inLosAngeles(t *testing.T) string {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	require.NoError(t, err)
	return chattest.Started.Add(2 * time.Hour).In(zone).Format("15:04")
}

func TestSettingsHavePages(t *testing.T) {
	hour := time.Hour
	for _, tt := range []struct {
		title  i18n.Key
		choice string
		want   conversation.Settings
		says   string
	}{
		{i18n.SettingLanguage, "English", conversation.Settings{Language: "en"}, "Language: English"},
		{i18n.SettingMode, "Plan", conversation.Settings{Mode: "plan"}, "Permission mode: Plan"},
		{i18n.SettingModel, "Opus", conversation.Settings{Model: "opus"}, "Model: Opus"},
		{i18n.SettingFolder, "~/shop", conversation.Settings{Dir: "/home/alice/shop"}, "Folder: ~/shop"},
		{i18n.SettingIdle, "1 h", conversation.Settings{IdleAfter: &hour}, "Idle limit: 1 h"},
		{i18n.SettingIdle, "never", conversation.Settings{IdleAfter: new(time.Duration)}, "Idle limit: never"},
		{i18n.SettingSteps, "nowhere", conversation.Settings{Steps: "off"}, "Steps: nowhere"},
		{i18n.SettingLimit, "continue after it", conversation.Settings{AtLimit: conversation.Continue}, "At a limit: continue after it"},
		{i18n.SettingLimit, "stop", conversation.Settings{AtLimit: conversation.Stop}, "At a limit: stop"},
		{i18n.SettingSessionBudget, "$10", conversation.Settings{SessionBudget: 10}, "Session budget: $10"},
		{i18n.SettingDayBudget, "$2", conversation.Settings{DayBudget: 2}, "Day budget: $2"},
		{i18n.SettingNotices, "off", conversation.Settings{Background: "off"}, "Notices: off"},
		{i18n.SettingNotices, "line with a sound", conversation.Settings{Background: "sound"}, "Notices: line with a sound"},
		{i18n.SettingNotices, "full answers", conversation.Settings{Background: "full"}, "Notices: full answers"},
		{i18n.SettingZone, "Los Angeles " + inLosAngeles(t), conversation.Settings{TimeZone: "America/Los_Angeles"}, "Time zone: America/Los_Angeles " + inLosAngeles(t)},
		{i18n.SettingQuiet, "22:00–7:00", conversation.Settings{Quiet: &conversation.Hours{From: 22 * 60, Until: 7 * 60}}, "Quiet hours: 22:00–7:00"},
		{i18n.SettingQuiet, "0:00–8:00", conversation.Settings{Quiet: &conversation.Hours{Until: 8 * 60}}, "Quiet hours: 0:00–8:00"},
	} {
		t.Run(tt.says, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.IdleAfter, w.Steps = 6*time.Hour, turn.OnCard
			w.Restart(t)
			w.Session(t, "shop", session.Running)
			id := opensSettings(t, w, chattest.PrivateChat(chattest.Alice), chattest.Alice)
			first := w.Shows(t, id).Text.Text
			w.Restart(t)
			w.Press(t, chattest.Alice, id, w.Word(tt.title))
			w.Restart(t)
			w.Press(t, chattest.Alice, id, tt.choice)
			assert.Equal(t, tt.want, w.Chats.Settings(chattest.Alice))
			assert.Contains(t, w.Shows(t, id).Text.Text, tt.says)
			w.StartsAnew(t)
			assert.Equal(t, tt.want, w.Chats.Settings(chattest.Alice), "on disk")
			none := w.Shows(t, id).Buttons[0][0].Text
			w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
			assert.Contains(t, w.Shows(t, id).Text.Text, tt.says)
			w.Press(t, chattest.Alice, id, w.Word(tt.title))
			w.Press(t, chattest.Alice, id, none)
			assert.Zero(t, w.Chats.Settings(chattest.Alice))
			w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
			assert.Equal(t, first, w.Shows(t, id).Text.Text)
		})
	}
}

// /new without a folder uses the chosen folder, and reports it if it is missing.
func TestNewUsesChosenFolder(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Dir = "/home/alice/shop" }))
	w.NewCurrentSession(t, "api", session.Running)
	var asked port.Start
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		asked = q
		return session.Record{}, assert.AnError
	}
	dir := func(command string) string {
		t.Helper()
		w.MustHear(t, command)
		return asked.Dir
	}
	assert.Equal(t, "/home/alice/shop", dir("/new one"))
	assert.Equal(t, "/home/alice", dir("/new two ~"))
	assert.Equal(t, "/home/alice/api/sub", dir("/new three ./sub"), "a path is seen from the current session")
	w.Roots = []string{"/srv"}
	w.MustHear(t, "/new four")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "~/shop")
}

// Two people have a page of a group open each: both choose, and nothing of one person's.
func TestGroupChoosesLanguage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Restart(t)
	spoken := 0
	w.Changed = func(was, now conversation.Settings) {
		if was.Language != now.Language || was.Telegram != now.Telegram {
			spoken++
		}
	}
	group := chattest.GroupChat(chattest.Ours)
	one, other := opensSettings(t, w, group, chattest.Alice), opensSettings(t, w, group, chattest.Bob)
	press := func(by int64, id int, text string) {
		t.Helper()
		require.NoError(t, w.Pressing(t, by, id, text))
		w.Work(t)
	}
	assert.Equal(t, "Settings of this group, for all members\nLanguage: English (default)\nIdle limit: never (default)\nAt a limit: ask (default)\n"+
		"Session budget: none\nDay budget: none\nTime zone: time zone of the machine "+w.In(chattest.InGroup).Moment(w.Now())+" (default)\nQuiet hours: none\nPlain texts: prompts (default)", w.Shows(t, one).Text.Text)
	assert.Equal(t, []string{"Language", "Idle limit", "At a limit", "Session budget", "Day budget", "Time zone", "Quiet hours", "Plain texts", "‹ Back"}, chattest.Words(w.Shows(t, one)), "and nothing else")
	press(chattest.Alice, one, "Language")
	press(chattest.Bob, other, "Language")
	press(chattest.Alice, one, "Русский")
	press(chattest.Bob, other, "中文")
	assert.Contains(t, w.Shows(t, other).Text.Text, "语言：中文")
	assert.Contains(t, w.Shows(t, one).Text.Text, "Язык: Русский", "it is as it was drawn")
	press(chattest.Alice, one, "English")
	assert.Equal(t, conversation.Settings{Language: "en"}, w.Chats.Settings(chattest.Ours), "the last one counts")
	assert.Equal(t, 3, spoken)
}

// inQuietHours is a world with a current session, in which it is quiet around the time of the
// clock.
func inQuietHours(t *testing.T, lines ...string) (*chattest.World, session.Record) {
	t.Helper()
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", lines...))
	now := w.Now().Local()
	minute := now.Hour()*60 + now.Minute()
	const day = 24 * 60
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
		s.Quiet = &conversation.Hours{From: (minute + day - 60) % day, Until: (minute + 60) % day}
	}))
	return w, r
}

func TestQuietHoursAllowOnlyUrgentSounds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"an answer", []string{chattest.PromptLine("go"), chattest.Says("yes"), chattest.TurnEnd}, nil},
		{"a turn without one", []string{chattest.PromptLine("go"), chattest.ToolUse, chattest.TurnEnd}, nil},
		{"a long answer", []string{chattest.Says(chattest.Long(1500)), chattest.TurnEnd}, nil},
		{"a failure", []string{chattest.PromptLine("go"), chattest.APIError},
			[]string{"api stopped with an error from Claude: “529”. Send your message again to continue."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := inQuietHours(t, tt.lines...)
			w.ReadAll(t)
			assert.Equal(t, tt.want, sounded(w))
			assert.NotEmpty(t, append(w.Telegram.AnswersSent(), w.Telegram.Texts()...), "all is sent at once")
		})
	}
	t.Run("a request", func(t *testing.T) {
		w, r := inQuietHours(t)
		w.AsksFor(t, r, "Bash", chattest.Bash)
		assert.Len(t, sounded(w), 1)
	})
	t.Run("an answer to what was sent in them", func(t *testing.T) {
		w, r := inQuietHours(t, chattest.PromptLine("go"), chattest.Says("yes"), chattest.TurnEnd)
		require.NoError(t, w.Chats.NotePrompt(chattest.AtAlice, 5, "", r.ID, w.Now().Add(-time.Minute), chattest.Alice))
		w.StartsAnew(t)
		w.ReadAll(t)
		assert.Equal(t, []string{"yes"}, sounded(w))
	})
	t.Run("a prompt says when it was sent", func(t *testing.T) {
		w, r := inQuietHours(t)
		key, u := w.AcceptText(t, "go on")
		u.Message.Date = int(w.Now().Unix())
		require.NoError(t, w.HandleText(t, key, u))
		assert.False(t, w.Chats.Quiet(chattest.AtAlice, r.ID, w.Now()))
		assert.True(t, w.Chats.Quiet(chattest.AtAlice, uuid.New(), w.Now()), "of another session nothing was asked")
		require.NoError(t, w.Chats.NotePrompt(chattest.AtAlice, 5, "", r.ID, w.Now().Add(-2*time.Hour), chattest.Alice))
		assert.False(t, w.Chats.Quiet(chattest.AtAlice, r.ID, w.Now()), "the last one counts, in whichever order they are noted")
	})
}

// TestOtherSessionEndsAsChosen lets a session that is not the current one end a turn. Its own
// choice counts before the chat's.
func TestOtherSessionEndsAsChosen(t *testing.T) {
	const line = "web is done: yes"
	for _, tt := range []struct {
		name, chat, own string
		quiet           bool
		text            string
		sounds          bool
	}{
		{"nothing is chosen", "", "", false, line, false},
		{"the chat: a sound", conversation.Sound, "", false, line, true},
		{"the chat: a sound, in quiet hours", conversation.Sound, "", true, line, false},
		{"the chat: full answers", conversation.Full, "", false, "web\nyes", true},
		{"the session: a sound", conversation.Off, conversation.Sound, false, line, true},
		{"the session: a silent line", conversation.Full, conversation.Line, false, line, false},
		{"the session: nothing", conversation.Full, conversation.Off, false, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "web", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("yes"), chattest.TurnEnd))
			w.NewCurrentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
				if s.Background = tt.chat; tt.own != "" {
					s.Sessions = map[uuid.UUID]string{r.ID: tt.own}
				}
				if tt.quiet {
					s.QuietFor = &conversation.Span{From: w.Now().Add(-time.Minute), Until: w.Now().Add(time.Hour)}
				}
			}))
			w.ReadAll(t)
			w.Work(t)
			texts := append(w.Telegram.AnswersSent(), w.Telegram.Texts()...)
			if tt.text == "" {
				assert.Empty(t, texts)
				return
			}
			require.Len(t, texts, 1)
			assert.Contains(t, texts[0], tt.text)
			assert.Equal(t, tt.sounds, len(sounded(w)) > 0, "%v", sounded(w))
		})
	}
}

// TestNoticesOfOneSessionAreChosen chooses on the page of a session, which the page of the notices
// leads to.
func TestNoticesOfOneSessionAreChosen(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "shop", session.Running)
	id := opensSettings(t, w, chattest.PrivateChat(chattest.Alice), chattest.Alice)
	w.Press(t, chattest.Alice, id, w.Word(i18n.SettingNotices))
	w.Press(t, chattest.Alice, id, "shop")
	assert.Contains(t, w.Shows(t, id).Text.Text, "Notices (shop): as in this chat")
	w.Press(t, chattest.Alice, id, "line with a sound")
	assert.Equal(t, map[uuid.UUID]string{r.ID: conversation.Sound}, w.Chats.Settings(chattest.Alice).Sessions)
	w.Restart(t)
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
	w.Press(t, chattest.Alice, id, "shop: line with a sound")
	w.Press(t, chattest.Alice, id, "✓ line with a sound")
	w.Press(t, chattest.Alice, id, "as in this chat")
	assert.Zero(t, w.Chats.Settings(chattest.Alice))
}

// TestQuietTimesAreTyped sets free times, and a time once, with a command.
func TestQuietTimesAreTyped(t *testing.T) {
	for _, tt := range []struct{ typed, says string }{
		{"22:30-6:45", "Quiet hours: 22:30–6:45"},
		{"22.30 – 6", "Quiet hours: 22:30–6:00"},
		{"2h", "Quiet hours: quiet until "},
		{"1h 30m", "Quiet hours: quiet until "},
		{"1d", "Quiet hours: quiet until "},
		{"30m1h", "Send times or how long"},
		{"off", "Quiet hours: none"},
		{"0-24", "Quiet hours: 0:00–24:00"},
		{"22-24", "Quiet hours: 22:00–24:00"},
		{"", "Quiet hours: 21:00–7:00"},
		{"25-6", "Send times or how long"},
		{"7:60-8", "Send times or how long"},
		{"7-7", "Send times or how long"},
		{"3d", "Send times or how long"},
		{"30h", "Send times or how long"},
		{"tonight", "Send times or how long"},
	} {
		t.Run(tt.typed, func(t *testing.T) {
			w := chattest.NewWorld(t)
			if tt.typed == "" || tt.typed == "off" {
				w.MustHear(t, "/quiet 21-7")
			}
			w.MustHear(t, "/quiet "+tt.typed)
			w.Work(t)
			texts := w.Telegram.Texts()
			if strings.HasPrefix(tt.says, "Quiet hours") {
				texts = []string{w.Shows(t, w.Telegram.LastID()).Text.Text}
			}
			assert.Contains(t, texts[len(texts)-1], tt.says)
		})
	}
}

// TestQuietHoursHaveDays chooses the days on which the hours begin; the page shows times that were
// typed.
func TestQuietHoursHaveDays(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/quiet 22:30-6:45")
	w.Work(t)
	id := w.Telegram.LastID()
	assert.Contains(t, chattest.Words(w.Shows(t, id)), "✓ 22:30–6:45")
	for _, day := range []string{"✓ Sat", "✓ Sun"} {
		w.Press(t, chattest.Alice, id, day)
	}
	assert.Contains(t, w.Shows(t, id).Text.Text, "Quiet hours: 22:30–6:45, Mon, Tue, Wed, Thu, Fri")
	w.Press(t, chattest.Alice, id, "22:00–7:00")
	assert.Contains(t, w.Shows(t, id).Text.Text, "Quiet hours: 22:00–7:00, Mon, Tue, Wed, Thu, Fri", "the days stay")
	w.Press(t, chattest.Alice, id, "Sat")
	w.Press(t, chattest.Alice, id, "Sun")
	assert.Zero(t, w.Chats.Settings(chattest.Alice).Quiet.Days, "each day")
	w.Press(t, chattest.Alice, id, "Quiet for 2 h")
	assert.True(t, w.Chats.Quiet(chattest.AtAlice, uuid.New(), w.Now()))
	assert.False(t, w.Chats.Settings(chattest.Alice).QuietFor.Quiet(w.Now().Add(2*time.Hour), time.Time{}))
	w.Press(t, chattest.Alice, id, "End quiet time")
	assert.Nil(t, w.Chats.Settings(chattest.Alice).QuietFor)
	assert.Equal(t, 22*60, w.Chats.Settings(chattest.Alice).Quiet.From, "the hours stay")
	assert.Contains(t, chattest.Words(w.Shows(t, id)), "Quiet for 2 h")
	for _, day := range []string{"✓ Mon", "✓ Tue", "✓ Wed", "✓ Thu", "✓ Fri", "✓ Sat", "✓ Sun"} {
		w.Press(t, chattest.Alice, id, day)
	}
	assert.Nil(t, w.Chats.Settings(chattest.Alice).Quiet, "hours on no day are none")
}

// TestWholeDayIsQuiet: hours from midnight to midnight have no end.
func TestWholeDayIsQuiet(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/quiet 0-24")
	for hour := range 24 {
		at := time.Date(2026, 3, 5, hour, 59, 0, 0, time.Local)
		assert.True(t, w.Chats.Quiet(chattest.AtAlice, uuid.New(), at), "%d", hour)
	}
}

// TestGroupHasQuietHours: a group chooses its quiet hours with the same command and page as a
// person.
func TestGroupHasQuietHours(t *testing.T) {
	w := chattest.NewWorld(t)
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.GroupChat(chattest.Ours), Text: "/quiet 2h"})
	require.NoError(t, w.Handle(t.Context(), key, u))
	w.Work(t)
	assert.Contains(t, w.LastSent(t).Text.Text, "Quiet hours: quiet until ")
	assert.Contains(t, w.LastSent(t).Text.Text, w.Word(i18n.SettingsOfGroup))
	assert.True(t, w.Chats.Quiet(chattest.InGroup, uuid.New(), w.Now()))
	assert.False(t, w.Chats.Quiet(chattest.AtAlice, uuid.New(), w.Now()))
}

func TestOtherSessionsNoticesCanBeDisabled(t *testing.T) {
	for _, tt := range []struct {
		name  string
		off   bool
		lines []string
		want  int
	}{
		{"on", false, []string{chattest.Says("yes"), chattest.TurnEnd}, 1},
		{"off", true, []string{chattest.Says("yes"), chattest.TurnEnd}, 0},
		{"off, and it fails", true, []string{chattest.PromptLine("go"), chattest.APIError}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "web", session.Running, chattest.TranscriptOf(t, "t.jsonl", tt.lines...))
			w.NewCurrentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) {
				if tt.off {
					s.Background = conversation.Off
				}
			}))
			w.ReadAll(t)
			assert.Len(t, w.Telegram.Texts(), tt.want, strings.Join(w.Telegram.Texts(), "|"))
			mark, known := w.Chats.ReadMarkOf(chattest.AtAlice, r.ID)
			assert.Equal(t, tt.off && tt.want == 0 || !tt.off, known && mark.Since != nil, "the list says that it is unread")
		})
	}
}

func TestNewSessionsUseChatSettings(t *testing.T) {
	w := chattest.NewWorld(t)
	var asked []port.Start
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		asked = append(asked, q)
		return session.Record{}, assert.AnError
	}
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Mode, s.Model = "plan", "opus" }))
	w.MustHear(t, "/new api ~")
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.PrivateChat(chattest.Bob), Text: "/new api ~"})
	require.NoError(t, w.HandleText(t, key, u))
	require.Len(t, asked, 2)
	assert.Equal(t, port.ModeChange{Mode: port.ModePlan, Model: "Opus"}, asked[0].With)
	assert.Zero(t, asked[1].With, "another person has chosen nothing")
}

// The machine learns the limit of a session, in all topics of a chat, and keeps it.
func TestIdleLimitTravelsWithSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		mine, topic, theirs := w.Session(t, "api", session.Running), w.Session(t, "web", session.Running), w.Session(t, "doc", session.Running)
		w.Records.Change(topic.ID, func(r *session.Record) {
			r.Conversation = session.Conversation{ChatID: chattest.Alice, ThreadID: 5}
		})
		w.Records.Change(theirs.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Bob })
		limits := func() (all []*time.Duration) {
			synctest.Wait()
			for _, r := range []session.Record{mine, topic, theirs} {
				all = append(all, w.Record(t, r.ID).IdleAfter)
			}
			return all
		}
		assert.Equal(t, []*time.Duration{nil, nil, nil}, limits(), "as the machine is configured")
		var full atomic.Bool
		full.Store(true)
		w.Lifecycle.OnIdleAfter = func(uuid.UUID) error {
			if full.Load() {
				return errors.New("no space left on device")
			}
			return nil
		}
		never := new(time.Duration)
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.IdleAfter = never }))
		assert.Equal(t, []*time.Duration{nil, nil, nil}, limits())
		full.Store(false)
		time.Sleep(time.Minute)
		assert.Equal(t, []*time.Duration{never, never, nil}, limits())

		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.IdleAfter = nil }))
		assert.Equal(t, []*time.Duration{nil, nil, nil}, limits())
		hour := time.Hour
		w.Chats.Changed = nil
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.IdleAfter = &hour }))
		assert.Equal(t, []*time.Duration{nil, nil, nil}, limits())
		w.Restart(t)
		assert.Equal(t, []*time.Duration{&hour, &hour, nil}, limits(), "also a setting that a kill kept from the machine")
	})
}

// TestP4_QuietTimeCountsFromSending: ccbot was off while the command arrived.
func TestP4_QuietTimeCountsFromSending(t *testing.T) {
	for ago, lasts := range map[time.Duration]bool{time.Hour: true, 3 * time.Hour: false} {
		w := chattest.NewWorld(t)
		sent := w.Now().Add(-ago)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "/quiet 2h", Date: int(sent.Unix())})
		require.NoError(t, w.Handle(t.Context(), key, u))
		assert.WithinDuration(t, sent.Add(2*time.Hour), w.Chats.Settings(chattest.Alice).QuietFor.Until, time.Second)
		assert.Equal(t, lasts, w.Chats.Settings(chattest.Alice).QuietFor.Lasts(w.Now()))
	}
}
