package bot_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// The system's common errors are named in the language of the chat; another one is quoted.
func TestSystemErrorsAreInLanguageOfChat(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, lang := range i18n.Languages() {
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = lang }))
		p := w.In(chattest.AtAlice)
		for _, number := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.EMFILE, syscall.ENOMEM,
			syscall.EACCES, syscall.EPERM, syscall.ENAMETOOLONG, syscall.ENOENT} {
			said := p.Cause(&refusal.Error{Code: refusal.DirNoAccess, Reason: number.Error(), Err: &fs.PathError{Op: "mkdir", Path: "/x", Err: number}})
			assert.NotEmpty(t, said)
			assert.NotContains(t, said, "cause_")
			if lang != "en" {
				assert.NotContains(t, said, number.Error(), "%s %s", lang, number)
			}
		}
		said := p.Cause(&refusal.Error{Reason: syscall.ELOOP.Error(), Err: &fs.PathError{Err: syscall.ELOOP}})
		assert.Equal(t, p.Quoted(syscall.ELOOP.Error()), said)
	}
}

// An agent without permission requests is named by its mode's word, and an unknown mode is quoted.
func TestListNamesModeInLanguageOfChat(t *testing.T) {
	for lang, want := range map[string]string{"en": " · Bypass", "ru": " · Без проверок", "zh": " · 跳过授权"} {
		w := chattest.NewWorld(t)
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = lang }))
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} })
		w.Lifecycle.OnLook.Phase = talk.PhaseIdle
		w.MustHear(t, "/list")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, want)
		w.Records.Change(r.ID, func(r *session.Record) { r.InAuto = true })
		w.MustHear(t, "/list")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, " · "+w.In(chattest.AtAlice).Say(i18n.ModeKey.Of("auto")))
		w.Figures.Refused = map[string]int{"message": 5, "edited_message": 1, "callback_query": 2, "my_chat_member": 1, "other": 21}
		w.MustHear(t, "/health")
		text := w.Telegram.Last(t).Text.Text
		for _, code := range []string{"edited_message", "callback_query", "my_chat_member", "refused_"} {
			assert.NotContains(t, text, code)
		}
		if lang == "ru" {
			assert.Contains(t, text, "5 сообщений")
		}
	}
}
