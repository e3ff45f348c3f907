package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/talk"
	"ccbot/try/botapi"
)

// tourOfPast visits ended sessions: the archive, a session, its history, a search, the days, and the
// reason of its end.
func tourOfPast(t *testing.T, tr *walk) {
	tr.opens(t, botapi.Options{}, func() { tr.past() })

	archive := tr.withWord(tr.say("/archive"), "1 shop")
	tr.screen("archive")
	tr.pressWord(archive.ID, "1 shop")
	tr.until("the session is shown", func() bool { return tr.has(archive.ID, i18n.ButtonInspect) })
	tr.screen("archived")
	tr.press(archive.ID, i18n.ButtonInspect)
	tr.until("all of it is shown", func() bool { return !tr.has(archive.ID, i18n.ButtonInspect) })
	tr.screen("inspected")
	tr.press(archive.ID, i18n.ButtonBack)
	tr.until("the session is shown again", func() bool { return tr.has(archive.ID, i18n.ButtonInspect) })
	tr.press(archive.ID, i18n.ButtonForget)
	tr.sees(archive.ID, tr.says(i18n.ForgetConfirm, i18n.Args{"Name": "shop"}))
	tr.screen("forget")

	history := tr.with(tr.say("/history shop"), i18n.ButtonOlder)
	tr.screen("history")
	tr.press(history.ID, i18n.ButtonDays)
	tr.until("the days are shown", func() bool { return !tr.has(history.ID, i18n.ButtonDays) })
	tr.screen("days")
	tr.press(history.ID, i18n.ButtonBack)
	tr.pressWord(history.ID, "1")
	tr.until("an answer is shown", func() bool { return !tr.has(history.ID, i18n.ButtonDays) })
	tr.screen("entry")

	found := tr.withWord(tr.say("/history shop COLOUR"), "1")
	tr.screen("found")
	tr.pressWord(found.ID, "1")
	tr.until("a hit is shown", func() bool { return !tr.hasWord(found.ID, "1") })
	tr.screen("hit")

	why := tr.with(tr.say("/why shop"), i18n.ButtonDetails)
	tr.screen("why")
	tr.press(why.ID, i18n.ButtonDetails)
	tr.until("the details are shown", func() bool { return !tr.has(why.ID, i18n.ButtonDetails) })
	tr.screen("why-details")
	tr.ends()
}

// past writes the records of ended sessions, and the conversation of one.
func (w *world) past() {
	store, now := w.store(), time.Now().UTC()
	for i, name := range []string{"shop", "🚀 launch", "/kill", "docs", "payments-with-a-long-name", "api", "web", "старый-сайт"} {
		at := now.Add(-time.Duration(i*11) * time.Hour)
		dir := filepath.Join(w.dir, []string{"shop", "a-service-with-a-very-long-name", "docs"}[i%3])
		require.NoError(w.t, os.MkdirAll(dir, 0o700))
		r := session.Record{ID: uuid.New(), Name: name, Dir: dir, Host: "desk", State: session.Archived, Conversation: session.Conversation{ChatID: w.chat()},
			AgentSessionID: uuid.New(), CreatedAt: at.Add(-48 * time.Hour), Run: session.Run{StartedAt: at.Add(-48 * time.Hour)}, LastEnd: session.LastEnd{EndedAt: at}}
		if i == 3 {
			r.State = session.Lost
		}
		for n, c := range []session.Change{{To: session.Starting, Rule: "start", Why: "a new session was requested"},
			{From: session.Starting, To: session.Running, Rule: "ready", Why: "reported in, idle, empty prompt box"},
			{From: session.Running, To: session.Stopping, Rule: "stop", By: w.chat(), Why: "asked for"},
			{From: session.Stopping, To: session.Archived, Rule: "stopped", Why: "nothing of it lives: pid 4711 ended (term)"}} {
			c.At = at.Add(time.Duration(n-3) * time.Minute)
			r.History = append(r.History, c)
		}
		if i == 0 {
			path := filepath.Join(w.claude, "projects", "shop", r.AgentSessionID.String()+".jsonl")
			require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(w.t, os.WriteFile(path, []byte(conversation(dir, at, "What would you do about it?")), 0o600))
			end, err := jsonl.End(path)
			require.NoError(w.t, err)
			r.Cursors = []talk.Cursor{end}
		}
		require.NoError(w.t, store.Create(r))
	}
}

// conversation is one of three days in a folder, up to a last question.
func conversation(dir string, end time.Time, last string) string {
	var b strings.Builder
	line := func(kind string, at time.Time, message map[string]any) {
		one, _ := json.Marshal(map[string]any{"type": kind, "uuid": uuid.New(), "timestamp": at.Format(time.RFC3339), "cwd": dir, "message": message})
		fmt.Fprintf(&b, "%s\n", one)
	}
	says := func(at time.Time, block map[string]any) {
		line("assistant", at, map[string]any{"id": uuid.New(), "model": "claude-opus-5-5", "content": []any{block},
			"usage": map[string]int{"input_tokens": 9_000, "cache_read_input_tokens": 120_000, "output_tokens": 4_000}})
	}
	for n, asked := range []string{"Give the shop a new colour", "Run the tests, please", "Почему тест падает?", "Why does the checkout test fail on Mondays? " + last} {
		at := end.Add(time.Duration(n-4) * 12 * time.Hour)
		line("user", at, map[string]any{"role": "user", "content": asked})
		for _, tool := range []string{"Read", "Edit", "Edit", "Bash", "Bash", "Bash"}[:2+n] {
			says(at, map[string]any{"type": "tool_use", "id": "t", "name": tool, "input": struct{}{}})
		}
		says(at.Add(3*time.Minute), map[string]any{"type": "text", "text": "Done: **colours.conf** has the new colour now.\n\n```\ncolour = \"blue\"\n```\n\n" +
			"1. The tests pass.\n2. Nothing else was changed, so the other pages keep their colour until somebody asks for more."})
	}
	return b.String()
}
