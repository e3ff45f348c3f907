package chattest_test

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
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
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// unseen is in each word of these tests: a person does not see it, and it turns what follows it.
const unseen = "\u202e"

// word is the text of a field: each has another one.
func word(field string) string { return "zq7" + field + unseen }

var wordOf = regexp.MustCompile(`zq7([A-Za-z.]+)`)

// fill gives each empty text of a value, also of a field that is new, its word. A text with a type
// of its own is a code.
func fill(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.Len() == 0 {
			v.SetString(word(field))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), field+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), field)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i), field)
		}
	}
}

func filled[T any](v T, field string) T {
	fill(reflect.ValueOf(&v).Elem(), field)
	return v
}

// wordyWorld has a session of Alice's own chat, whose record, loop, schedule, prompt, terminal and
// changes have a word in each text.
func wordyWorld(t *testing.T, w *chattest.World) session.Record {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) {
		was := *r
		fill(reflect.ValueOf(r).Elem(), "record")
		// These are no texts: what the session is bound to, and what waits.
		r.Binding, r.Exit, r.Cleanup, r.ClosedReason, r.Cursors, r.Prompts, r.News = nil, nil, nil, "", nil, nil, nil
		r.AgentName, r.Origin, r.Host, r.Bound, r.SecondWriters, r.Descendants, r.ModeRequest, r.Launch = "", "", "", nil, nil, nil, nil, nil
		r.EarlierSessionIDs, r.IdleAfter, r.Interruption, r.Name, r.Dir, r.NowDir, r.Conversation = nil, nil, nil, was.Name, was.Dir, was.NowDir, was.Conversation
		r.Progress.PermissionMode, r.Progress.Turns = "", 42
	})
	r = w.Record(t, r.ID)
	w.Loops(t, r, filled(port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopRunning, Step: port.LoopTurn, CreatedAt: chattest.Started}, "loop"), true)
	for range 2 {
		e := w.Prompt(t, r, word("prompt"), inbox.Held)
		w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = append(r.Prompts, e.Key) })
	}
	w.MustHear(t, "/at 2h "+word("schedule"))
	w.Lifecycle.OnDialog = filled(port.Dialog{Open: true, Whole: true}, "dialog")
	w.Dialog(t, r, w.Lifecycle.OnDialog)
	w.Git.Since = map[folders.Since]folders.Changes{folders.SessionStart: filled(folders.Changes{}, "changes")}
	w.Spent.Tells(filled(talk.Limit{}, "limit"))
	w.Work(t)
	return r
}

// pages says a command in a chat and taps each button of the answers, and each button of what that
// shows. A tap that brings a session into the chat is taken back: afterwards it would be the chat's
// own.
func pages(t *testing.T, w *chattest.World, in models.Chat, r session.Record, text string) {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: in, Text: text})
	require.NoError(t, w.HandleText(t, key, u), text)
	w.Work(t)
	tapped := make(map[string]bool)
	for range 3 {
		w.Telegram.Mu.Lock()
		all := slices.Concat(w.Telegram.Sent, w.Telegram.Edited)
		w.Telegram.Mu.Unlock()
		for _, s := range chattest.Spots(all...) {
			if in.ID < 0 && s.Button.Text == w.Word(i18n.ButtonShowHere) { // a person agrees
				continue
			}
			if s.On.To.ChatID != in.ID || tapped[s.Button.Data] || s.Button.Text == w.Word(i18n.ButtonChanges) && in.ID < 0 { // that asks for them
				continue
			}
			tapped[s.Button.Data] = true
			was := w.Chats.Current(s.On.To)
			_ = w.TapSpot(t, chattest.Alice, s) // an error is also a sentence
			w.Work(t)
			if w.Chats.Current(s.On.To) != was {
				require.NoError(t, w.Chats.SetCurrent(s.On.To, was))
				w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.AtAlice })
			}
		}
	}
}

// shown returns what a chat has seen: messages, buttons and answers to taps.
func shown(w *chattest.World, chat int64) (all []string) {
	w.Telegram.Mu.Lock()
	for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Sent, w.Telegram.Edited) {
		if m.To.ChatID == chat {
			all = append(append(all, m.Text.Text), chattest.Words(m)...)
		}
	}
	w.Telegram.Mu.Unlock()
	for _, line := range w.Telegram.Done() {
		if strings.HasPrefix(line, "answer ") {
			all = append(all, line)
		}
	}
	return all
}

// commands are the bot's, in order.
func commands(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range chattest.NewWorld(t).Installed {
		for _, c := range f.Commands {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	require.Greater(t, len(names), 20)
	return names
}

// TestP9_GroupGetsNoTextsOfOtherSessions says each command in a group that shows none of its
// sessions, and looks at each page. A group gets the texts of its own sessions only: a place that
// shows a text asks conversation.IsHidden.
func TestP9_GroupGetsNoTextsOfOtherSessions(t *testing.T) {
	answers := 0
	for _, name := range commands(t) {
		for _, about := range []string{"", " api"} {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := wordyWorld(t, w)
				pages(t, w, chattest.GroupChat(chattest.Ours), r, "/"+name+about)
				for _, text := range shown(w, chattest.Ours) {
					answers++
					if m := wordOf.FindStringSubmatch(text); m != nil {
						t.Errorf("/%s shows %s of a session of another chat to a group; ask conversation.IsHidden first:\n%s", name+about, m[1], text)
						return
					}
				}
			})
		}
	}
	assert.Greater(t, answers, len(commands(t)), "a group that gets no answers proves nothing")
}

// TestP9_TextsShowUnseenCharacters says each command in the session's own chat, and looks at each
// page: a text is shown by package glyph, so that nothing in it is unseen or moves what follows.
func TestP9_TextsShowUnseenCharacters(t *testing.T) {
	found := make(map[string]bool)
	for _, name := range commands(t) {
		for _, about := range []string{"", " api"} {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := wordyWorld(t, w)
				pages(t, w, chattest.PrivateChat(chattest.Alice), r, "/"+name+about)
				for _, text := range shown(w, chattest.Alice) {
					for _, m := range wordOf.FindAllStringSubmatch(text, -1) {
						found[m[1]] = true
					}
					if i := strings.Index(text, unseen); i >= 0 {
						words := wordOf.FindAllString(text[:i], -1)
						t.Errorf("/%s shows %s as it is; show it by glyph.Signs or glyph.Name:\n%q", name+about, words[max(0, len(words)-1):], text)
						return
					}
				}
			})
		}
	}
	for _, field := range []string{"schedule", "loop.Check", "dialog.Lines", "changes.Files.Path", "record.Progress.Tasks.Text", "record.History.Why", "prompt"} {
		assert.True(t, found[field], "no page shows %s, so this test proves nothing of it; it has %s", field, slices.Sorted(maps.Keys(found)))
	}
}
