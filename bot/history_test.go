package bot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// calls is a line of a transcript with a call of a tool.
func calls(n int, tool string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"tool_use","id":"t","name":%q,"input":{}}]}}`,
		chattest.Started.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), tool)
}

// said returns a world with a session whose conversation has this number of turns.
func said(t *testing.T, turns int) (*chattest.World, session.Record) {
	t.Helper()
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	var lines []string
	for n := range turns {
		lines = append(lines, asked(10*n, fmt.Sprintf("prompt %d", n)), calls(10*n+1, "Bash"), calls(10*n+2, "Edit"), calls(10*n+3, "Edit"),
			answered(10*n+4, fmt.Sprintf("**answer** %d", n)))
	}
	talks(t, w, r, lines...)
	return w, w.Record(t, r.ID)
}

func TestHistory(t *testing.T) {
	w, r := said(t, 4)
	w.MustHear(t, "/history")
	m := w.Telegram.Last(t)
	moment := func(n int) string { return at(time.Duration(n) * time.Minute) }
	assert.Equal(t, r.ID, m.Session)
	assert.Equal(t, chattest.Lines("api: the conversation", "",
		"1. Claude · "+moment(34)+" · 3 tool calls: Edit 2, Bash 1", "answer 3", "",
		"2. Prompt · "+moment(30), "prompt 3", "",
		"3. Claude · "+moment(24)+" · 3 tool calls: Edit 2, Bash 1", "answer 2", "",
		"4. Prompt · "+moment(20), "prompt 2", "",
		"5. Claude · "+moment(14)+" · 3 tool calls: Edit 2, Bash 1", "answer 1", "",
		"To search, reply to this message with a word."), m.Text.Text)
	assert.Equal(t, []string{"1", "2", "3", "4", "5", "Older →", "Days", "As a file", "Refresh", "‹ Back"}, chattest.Words(m))
	w.Restart(t)
	older := tapped(t, w, m, "Older →")
	assert.Contains(t, older.Text.Text, "3. Prompt · "+moment(0)+"\nprompt 0")
	assert.Equal(t, []string{"1", "2", "3", "← Newer", "Days", "As a file", "‹ Back"}, chattest.Words(older))

	w.Restart(t)
	one := tapped(t, w, older, "1")
	assert.Equal(t, "Prompt · "+moment(10)+"\n\nprompt 1", one.Text.Text)
	assert.Equal(t, []string{"← Newer", "Older →", "‹ Back"}, chattest.Words(one))
	answer := tapped(t, w, one, "← Newer")
	assert.Equal(t, "Claude · "+moment(14)+" · 3 tool calls: Edit 2, Bash 1\n\nanswer 1", answer.Text.Text)
	assert.Equal(t, []string{"Claude", "answer"}, bold(answer), "it is formatted as the chat shows answers")
	assert.Equal(t, older.Text, tapped(t, w, answer, "‹ Back").Text, "where it was opened")
	assert.Equal(t, m.Text, tapped(t, w, w.Telegram.LastEdit(t), "← Newer").Text)
	assert.Len(t, w.Telegram.Texts(), 1, "all of it is one message")
}

func TestHistoryIsSearched(t *testing.T) {
	w, _ := said(t, 9)
	w.MustHear(t, "/history api ANSWER")
	m := w.Telegram.Last(t)
	assert.True(t, strings.HasPrefix(m.Text.Text, "api: found “ANSWER”, newest first\n\n1. Claude · "), m.Text.Text)
	assert.Contains(t, m.Text.Text, "answer 8")
	assert.Equal(t, []string{"1", "2", "3", "4", "5", "Search further", "‹ Back"}, chattest.Words(m))
	w.Restart(t)
	on := tapped(t, w, m, "Search further")
	assert.Contains(t, on.Text.Text, "answer 3")
	assert.Equal(t, []string{"1", "2", "3", "4", "‹ Back"}, chattest.Words(on))
	one := tapped(t, w, on, "1")
	assert.Contains(t, one.Text.Text, "answer 3")
	assert.Equal(t, on.Text, tapped(t, w, one, "‹ Back").Text)

	w.MustHear(t, "/history prompt 7") // no session is called so
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api: found “prompt 7”")
	w.MustHear(t, "/history api 7")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "\nprompt 7", "the blank before a hit stays")
	w.MustHear(t, "/history nowhere/to be found")
	m = w.Telegram.Last(t)
	assert.Equal(t, "api: “nowhere/to be found” was not said in this conversation.", m.Text.Text)
	tapped(t, w, m, "‹ Back")
	w.Answer(t, w.Telegram.LastID(), "  prompt\n4 ")
	w.Work(t)
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api: found “prompt 4”", "a reply to the list is searched for")
	w.Answer(t, w.Telegram.LastID(), "prompt 5")
	w.Work(t)
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api: found “prompt 5”", "one to a search, too")
}

// History, a search and the list show the words of a person without what the agent adds to them.
func TestHistoryShowsOnlyPersonsWords(t *testing.T) {
	w := chattest.NewWorld(t)
	prompt := chattest.PromptLine("\n\n<pasted_content id=\"ab8c\">\nfix the test\n</pasted_content id=\"ab8c\">\n<system-reminder>noise</system-reminder>")
	command := chattest.PromptLine("<command-name>/test</command-name>\n<command-message>test</command-message>\n<command-args>all</command-args>")
	output := chattest.PromptLine("<local-command-stdout>tested</local-command-stdout>")
	talks(t, w, w.NewCurrentSession(t, "api", session.Running), command, output, prompt, chattest.Says("done"))
	for _, command := range []string{"/history", "/history api test", "/list"} {
		w.MustHear(t, command)
		text := w.Telegram.Last(t).Text.Text
		assert.Contains(t, text, "fix the test", command)
		for _, wrapper := range []string{"pasted_content", "noise", "ab8c", "command-", "<"} {
			assert.NotContains(t, text, wrapper, command)
		}
	}
}

// A reply to a page with an answer is a reply to the answer.
func TestReplyToHistoryEntryIsPrompt(t *testing.T) {
	w, r := said(t, 2)
	w.MustHear(t, "/history")
	m := w.Telegram.Last(t)
	for _, word := range []string{"1", "Days"} {
		shown := tapped(t, w, m, word)
		key := w.Answer(t, w.Telegram.LastID(), "do it")
		w.Work(t)
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String(), word)
		assert.Equal(t, shown.Text, w.Telegram.LastEdit(t).Text)
		m = tapped(t, w, shown, "‹ Back")
	}
}

func TestHistoryHasDays(t *testing.T) {
	w, r := said(t, 0)
	var lines []string
	for day := range 30 {
		lines = append(lines, asked(day*24*60, fmt.Sprintf("day %d", day)), answered(day*24*60+1, "yes"))
	}
	talks(t, w, r, lines...)
	day := func(n int) string { return chattest.Started.AddDate(0, 0, n).Local().Format("Jan 2") }
	w.MustHear(t, "/history")
	days := tapped(t, w, w.Telegram.Last(t), "Days")
	assert.Equal(t, day(29), chattest.Words(days)[0])
	earlier := tapped(t, w, tapped(t, w, days, "Older →"), "Older →")
	assert.Equal(t, []string{day(5), day(4), day(3), day(2), day(1), day(0), "‹ Back"}, chattest.Words(earlier))
	m := tapped(t, w, earlier, day(1))
	assert.Contains(t, m.Text.Text, "\n\n5. Prompt · "+day(1)+", "+at(0)+"\nday 1\n", "the day begins at the end of the page")
	m = tapped(t, w, tapped(t, w, w.Telegram.LastEdit(t), "Days"), day(29))
	assert.Contains(t, m.Text.Text, "2. Prompt · "+day(29))
}

func TestSlowDaysSearchContinues(t *testing.T) {
	w, _ := said(t, 3)
	page := w.Chat.Pages.All["history"]
	at := func(rest string) chat.Visit {
		return chat.Visit{To: chattest.AtAlice, By: chattest.Alice, Rest: strings.TrimPrefix(rest, chat.ToPage("history/"))}
	}
	list, err := page.Draw(t.Context(), at(""))
	require.NoError(t, err)
	w.Slow = true
	s, err := page.Draw(t.Context(), at(list.Options[2][0].Value))
	require.NoError(t, err)
	w.Slow = false
	assert.Equal(t, chattest.Lines("api: which day?", w.Word(i18n.HistoryDaysMore)), s.Text.Text)
	require.Len(t, s.Options, 1)
	s, err = page.Draw(t.Context(), at(s.Options[0][0].Value))
	require.NoError(t, err)
	assert.Equal(t, chattest.Started.Local().Format("Jan 2"), s.Options[0][0].Text)
}

func TestHistoryAsAFile(t *testing.T) {
	w, r := said(t, 2)
	w.Records.Change(r.ID, func(r *session.Record) { r.Name = "a/b 🚀" })
	w.MustHear(t, "/history")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonAsFile))
	assert.Contains(t, w.Telegram.Done(), "answer query: Writing the file…")
	require.Len(t, w.Telegram.Files, 1)
	f := w.Telegram.Files[0]
	assert.Equal(t, "a-b 🚀.md", f.Name)
	assert.Equal(t, r.ID, f.Session)
	_, err := f.Body.ReadAt(make([]byte, 1), 0)
	assert.ErrorIs(t, err, os.ErrClosed, "nothing of it is left")
}

// A missing or replaced conversation is reported.
func TestHistoryOfMissingOrReplacedFile(t *testing.T) {
	w, r := said(t, 4)
	w.MustHear(t, "/history")
	m := w.Telegram.Last(t)
	older := tapped(t, w, m, "Older →")
	talks(t, w, r, asked(1, "another conversation"))
	m = tapped(t, w, older, "1")
	assert.True(t, strings.HasPrefix(m.Text.Text, w.Word(i18n.HistoryReplaced)+"\n\napi: the conversation\n\n1. Prompt"), m.Text.Text)
	cursor, _ := r.Cursor()
	require.NoError(t, os.Remove(cursor.Path))
	m = tapped(t, w, m, "Refresh")
	assert.Equal(t, w.Named(i18n.HistoryNone, "api"), m.Text.Text)
	assert.Equal(t, []string{"‹ Back"}, chattest.Words(m))
	web := w.Session(t, "web", session.Running)
	w.MustHear(t, "/history web")
	assert.Equal(t, w.Named(i18n.HistoryNone, "web"), w.Telegram.Last(t).Text.Text)
	w.Records.Forget(web.ID)
	w.MustHear(t, "/history web x")
	assert.Equal(t, w.Named(i18n.HistoryNone, "api"), w.Telegram.Last(t).Text.Text)
}

// The conversations before a /clear, and the original of a copy, are one conversation.
func TestHistoryOfSeveralTranscripts(t *testing.T) {
	w, r := said(t, 0)
	first, copied := uuid.New(), uuid.New()
	for i, id := range []uuid.UUID{first, copied} {
		w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID = id })
		talks(t, w, w.Record(t, r.ID), append([]string{asked(1, "before the clear"), answered(2, "early")}, []string{answered(3, "repaired")}[:i]...)...)
	}
	w.Records.Change(r.ID, func(s *session.Record) {
		s.AgentSessionID, s.EarlierSessionIDs = r.AgentSessionID, []uuid.UUID{first, copied}
	})
	talks(t, w, w.Record(t, r.ID), asked(10, "after the clear"), answered(11, "late"))
	w.MustHear(t, "/history")
	m := w.Telegram.Last(t)
	texts := strings.Split(m.Text.Text, "\n")
	assert.Equal(t, []string{"late", "after the clear", "repaired", "before the clear"}, []string{texts[3], texts[6], texts[9], texts[12]})
	assert.NotContains(t, chattest.Words(m), "Older →")
	w.MustHear(t, "/history api CLEAR")
	assert.Equal(t, []string{"1", "2", "‹ Back"}, chattest.Words(w.Telegram.Last(t)))
	one := tapped(t, w, w.Telegram.Last(t), "1")
	one = tapped(t, w, one, "Older →")
	assert.Contains(t, one.Text.Text, "repaired", "the way leads on from one file to the other")
	assert.Contains(t, tapped(t, w, one, "← Newer").Text.Text, "after the clear")
}

// The page at the end of the newest file is drawn where the file before is gone.
func TestHistoryOfMissingOlderFile(t *testing.T) {
	w, r := said(t, 0)
	first := uuid.New()
	w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID = first })
	talks(t, w, w.Record(t, r.ID), asked(1, "before the clear"), answered(2, "early"))
	early := w.Record(t, r.ID)
	cursor, _ := early.Cursor()
	w.Records.Change(r.ID, func(s *session.Record) { s.AgentSessionID, s.EarlierSessionIDs = r.AgentSessionID, []uuid.UUID{first} })
	var late []string
	for n := range 5 {
		late = append(late, asked(10+n, fmt.Sprintf("after %d", n)))
	}
	talks(t, w, w.Record(t, r.ID), late...)
	w.MustHear(t, "/history")
	m := w.Telegram.Last(t)
	require.Contains(t, chattest.Words(m), "Older →")
	require.NoError(t, os.Remove(cursor.Path))
	m = tapped(t, w, m, "Older →")
	assert.True(t, strings.HasPrefix(m.Text.Text, w.Word(i18n.HistoryReplaced)+"\n\napi: the conversation\n\n1. Prompt"), m.Text.Text)
}

// Any entry fits one message, and is shown completely page by page.
func TestHistoryOfLongEntries(t *testing.T) {
	w, r := said(t, 0)
	long := strings.Repeat("😀 /kill @eve word\n", 600)
	talks(t, w, r, asked(1, long), answered(2, long), asked(3, "\u202eevil"))
	w.MustHear(t, "/history")
	require.Len(t, w.Telegram.Texts(), 1)
	m := w.Telegram.Last(t)
	assert.NotContains(t, m.Text.Text, "\u202e")
	one := tapped(t, w, m, "3")
	var read []string
	for {
		text := one.Text.Text
		read = append(read, text)
		if words := chattest.Words(one); !strings.Contains(strings.Join(words, " "), "→") || words[0] == "←" && words[1] != "→" {
			break
		}
		one = tapped(t, w, one, "→")
	}
	assert.Equal(t, 600, strings.Count(strings.Join(read, ""), "@eve"), "all of it can be read")
	assert.Contains(t, read[0], "page 1 of ")
}

var exportWords = talk.Words{Title: "title", Prompt: "you", Answer: "it", Cut: "cut"}

func TestExportedConversation(t *testing.T) {
	w, r := said(t, 3)
	f, err := w.Deps.Transcripts.Export(t.Context(), r.ID, 1<<20, exportWords)
	require.NoError(t, err)
	data, err := w.Tickets.ReadPart(t.Context(), f.Ticket, 0)
	require.NoError(t, err)
	text := string(data)
	assert.Len(t, text, int(f.Size))
	assert.True(t, strings.HasPrefix(text, "# title\n\n## you · "), text)
	assert.Contains(t, text, "\n> prompt 0\n\n## it · ")
	assert.Contains(t, text, "\n**answer** 2\n\n*Edit 2, Bash 1*\n")
	assert.NotContains(t, text, "*cut*")

	f, err = w.Deps.Transcripts.Export(t.Context(), r.ID, 400, exportWords)
	require.NoError(t, err)
	data, err = w.Tickets.ReadPart(t.Context(), f.Ticket, 0)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(data), 400)
	assert.True(t, strings.HasPrefix(string(data), "# title\n\n*cut*\n"), string(data))
	assert.Contains(t, string(data), "**answer** 2", "the newest part is kept")
	left, err := os.ReadDir(filepath.Join(w.Dir, "exports"))
	require.NoError(t, err)
	assert.Empty(t, left, "the file has no name")
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "exports", "left by a kill"), nil, 0o600))
	require.NoError(t, host.Conversations{Dir: filepath.Join(w.Dir, "exports")}.Tidy())
	assert.NoDirExists(t, filepath.Join(w.Dir, "exports"))
}
