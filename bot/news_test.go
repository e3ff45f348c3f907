package bot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// noteKinds are the kinds of news there are, read from their source: a new one must be told
// too.
func noteKinds(t *testing.T) []lifecycle.NoteKind {
	t.Helper()
	files, err := filepath.Glob("port/news/*.go")
	require.NoError(t, err)
	var kinds []lifecycle.NoteKind
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, ok := spec.Type.(*ast.Ident)
			lit, isText := spec.Values[0].(*ast.BasicLit)
			if ok && isText && kind.Name == "Kind" {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				kinds = append(kinds, lifecycle.NoteKind(text))
			}
			return true
		})
	}
	require.Greater(t, len(kinds), 10)
	return kinds
}

// told is what one kind of news says: its words, where, and its buttons.
type told struct {
	says    func(w *world) []string
	buttons []i18n.Key
	reply   bool // under the message that it is about, in that message's chat
}

func tellings() map[lifecycle.NoteKind]told {
	name := func(keys ...i18n.Key) func(*world) []string {
		return func(w *world) []string {
			var all []string
			for _, key := range keys {
				all = append(all, w.word(key, i18n.Args{"Name": "api", "Command": "tmux attach", "Count": 2, "Window": "@21",
					"State": w.word(i18n.StateArchived), "Seconds": int(lifecycle.StartNotice.Seconds()), "Time": started.Local().Format("15:04")}))
			}
			return all
		}
	}
	return map[lifecycle.NoteKind]told{
		lifecycle.NoteReady:        {says: name(i18n.Ready)},
		lifecycle.NoteNotReporting: {says: name(i18n.ClaudeNotReady, i18n.AttachHint)},
		lifecycle.NoteDialog:       {says: name(i18n.DialogOpen, i18n.AttachHint)},
		lifecycle.NoteDialogGone:   {}, // the dialog's own message
		lifecycle.NoteQueued:       {says: name(i18n.Queued), reply: true},
		lifecycle.NoteHeldDialog:   {says: name(i18n.HeldDialog), reply: true},
		lifecycle.NoteHeldBash:     {says: name(i18n.HeldBash), reply: true},
		lifecycle.NoteHeldDraft:    {says: name(i18n.HeldDraft), reply: true, buttons: []i18n.Key{i18n.ButtonSendAnyway}},
		lifecycle.NoteDraftCleared: {says: name(i18n.DraftCleared)},
		lifecycle.NoteSecondWriter: {says: name(i18n.WritersSecond),
			buttons: []i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		lifecycle.NoteGhost:       {says: name(i18n.WritersGhost), buttons: []i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		"held_unknown":            {says: name(i18n.HeldUnknown), reply: true},
		lifecycle.NoteUnproven:    {says: name(i18n.Unproven), reply: true, buttons: []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop}},
		lifecycle.NoteFailed:      {says: name(i18n.FailedScreen, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		lifecycle.NoteLost:        {says: name(i18n.Lost, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		lifecycle.NoteEnded:       {says: name(i18n.Ended, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		lifecycle.NoteStopped:     {says: name(i18n.ReceiptArchived), buttons: []i18n.Key{i18n.ButtonUndo}},
		lifecycle.NoteTyped:       {}, // a reaction
		lifecycle.NoteDelivered:   {}, // a reaction
		lifecycle.NoteTranscript:  {}, // what the transcript says
		lifecycle.NoteTransferred: {says: name(i18n.Adopted, i18n.AdoptedAsks)},
	}
}

// news is a note with everything that some kind needs. The session is shown in the group, the
// prompt came from Alice's chat.
func (w *world) news(t *testing.T, kind lifecycle.NoteKind) lifecycle.Note {
	t.Helper()
	r := w.session(t, "api", session.Archived)
	r.Conversation, r.Prompts, r.Binding = inGroup, []string{"1", "2"}, &session.Binding{Window: "@21"}
	e := w.prompt(t, r, "the prompt", inbox.Typing)
	return lifecycle.Note{Kind: kind, Session: r, Prompt: lifecycle.Prompt{Key: e.Key, Text: e.Text}, Screen: "the screen\n\n",
		Attach: "tmux attach", Receipt: &lifecycle.Receipt{}, Draft: "a draft", Writers: []lifecycle.Writer{atDesk(4123)}}
}

func TestEveryKindOfNewsIsTold(t *testing.T) {
	table := tellings()
	for _, kind := range noteKinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			want, ok := table[kind]
			require.True(t, ok, "say in this table what the chat is told")
			w := newWorld(t)
			n := w.news(t, kind)
			require.NoError(t, w.SessionNews(t.Context(), n))
			if want.says == nil {
				assert.Empty(t, w.sender.texts())
				return
			}
			all := w.sender.shownOnce()
			require.Len(t, all, 1)
			m := all[0]
			for _, text := range want.says(w) {
				assert.Contains(t, m.Text.Text, text)
			}
			assert.Equal(t, w.wordsOf(want.buttons...), words(m))
			if want.reply {
				assert.Equal(t, []any{atAlice, 77}, []any{m.To, m.ReplyTo}, "under the message it is about")
				return
			}
			assert.Equal(t, []any{inGroup, 0}, []any{m.To, m.ReplyTo}, "where the session is shown")
		})
	}
}

func TestUnknownNewsIsAnError(t *testing.T) {
	w := newWorld(t)
	assert.ErrorContains(t, w.SessionNews(t.Context(), w.news(t, "a later day's")), "a later day's")
	assert.Empty(t, w.sender.done())
}

func TestNewsThatCannotBeKeptIsAnError(t *testing.T) {
	for kind, want := range tellings() {
		if want.says == nil {
			continue
		}
		w := newWorld(t)
		w.sender.post = refuse
		assert.ErrorIs(t, w.SessionNews(t.Context(), w.news(t, kind)), errDisk, kind)
	}
}

func TestP9_WhoWasTakenOffTheListIsToldNothing(t *testing.T) {
	for _, kind := range noteKinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			n := w.news(t, kind)
			delete(w.Allowed, alice)
			delete(w.Groups, ours)
			require.NoError(t, w.SessionNews(t.Context(), n))
			assert.Empty(t, w.sender.done())
		})
	}
}

func TestDeliveredIsAReaction(t *testing.T) {
	w := newWorld(t)
	n := w.news(t, lifecycle.NoteDelivered)
	require.NoError(t, w.SessionNews(t.Context(), n))
	assert.Equal(t, []string{"react 👌 to 77 in 7", "typing in 7"}, w.sender.done())
	n.Kind = lifecycle.NoteTyped
	require.NoError(t, w.SessionNews(t.Context(), n))
	assert.Equal(t, reactionTyped, w.sender.reaction(77))
	require.NoError(t, w.entries.Store.Finish(n.Prompt.Key))
	assert.NoError(t, w.SessionNews(t.Context(), n), "a receipt without an entry is nothing to fail on")
}

func TestNewsTranscriptStartsAReader(t *testing.T) {
	w := newWorld(t)
	w.running(t)
	n := w.news(t, lifecycle.NoteTranscript)
	require.NoError(t, w.SessionNews(t.Context(), n))
	receive(t, w.readerOf(n.Session)) // it has nothing to read
	assert.Empty(t, w.sender.done())
	c := transcriptOf(t, "t.jsonl", says("one"))
	w.records.change(n.Session.ID, func(r *session.Record) { r.Cursors = []transcript.Cursor{c} })
	require.NoError(t, w.SessionNews(t.Context(), n))
	w.expect(t, "post "+w.notice("api", "one"))
}

func TestHowAnAgentEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		exit   *session.Exit
		want   i18n.Key
		screen bool
	}{
		{"nobody saw it", nil, i18n.Ended, false},
		{"the status is not known", &session.Exit{Status: 1}, i18n.Ended, false},
		{"a clean exit", &session.Exit{Known: true}, i18n.Ended, false},
		{"a status", &session.Exit{Known: true, Status: 3}, i18n.CrashedStatus, true},
		{"a signal", &session.Exit{Known: true, Signal: 9}, i18n.CrashedSignal, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			n := w.news(t, lifecycle.NoteEnded)
			n.Session.Exit, n.Session.Prompts = tt.exit, nil
			require.NoError(t, w.SessionNews(t.Context(), n))
			text := w.word(tt.want, i18n.Args{"Name": "api", "Status": 3, "Signal": 9})
			if tt.screen {
				text += " " + w.word(i18n.LastScreen) + "\nthe screen"
			}
			assert.Equal(t, text, w.sender.last(t).Text.Text)
			assert.Equal(t, tt.screen, len(w.sender.last(t).Text.Entities) > 0, "the screen is monospace")
			require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonResume))
			assert.Contains(t, w.sessions.done(), "restore "+n.Session.ID.String())
		})
	}
}

func TestALongScreenKeepsItsEnd(t *testing.T) {
	w := newWorld(t)
	n := w.news(t, lifecycle.NoteFailed)
	n.Screen = strings.Repeat("old\n", 100) + strings.Repeat(strings.Repeat("wide ", 60)+"\n", 29) + "the last line\n\n"
	require.NoError(t, w.SessionNews(t.Context(), n))
	require.Greater(t, len(w.sender.posted), 1)
	all := strings.Join(w.sender.texts(), "\n")
	assert.NotContains(t, all, "old")
	assert.Contains(t, all, "the last line")
	for i, m := range w.sender.posted {
		assert.LessOrEqual(t, m.Text.Length(), 4096)
		assert.Equal(t, i == len(w.sender.posted)-1, len(m.Buttons) > 0, "buttons stand under the last part")
	}
}

func TestP4_TheUnprovenIsQuoted(t *testing.T) {
	for name, text := range map[string]string{"short": "fix it", "long": strings.Repeat("long 😀 ", 2000), "nothing to see": "\u2800",
		"only joiners": "\u200b\u200d"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := w.news(t, lifecycle.NoteUnproven)
			require.NoError(t, w.entries.Change(n.Prompt.Key, func(e *inbox.Entry) error { e.Text = text; return nil }))
			require.NoError(t, w.SessionNews(t.Context(), n))
			m := w.lastSent(t)
			assert.LessOrEqual(t, m.Text.Length(), 4096)
			assert.Equal(t, w.wordsOf(i18n.ButtonSendAgain, i18n.ButtonDrop), words(m))
			head, quote, _ := strings.Cut(m.Text.Text, "\n")
			assert.Equal(t, warning+w.word(i18n.Unproven, i18n.Args{"Name": "api", "Time": w.Moment(started)}), head)
			assert.True(t, strings.HasPrefix(text, strings.TrimSpace(quote)))
			assert.Equal(t, reactionNone, w.sender.reaction(77))
		})
	}
}

func TestP4_TheUnprovenIsSaidToStandInTheBoxWhereItIsSeen(t *testing.T) {
	for _, seen := range []bool{true, false} {
		w := newWorld(t)
		n := w.news(t, lifecycle.NoteUnproven)
		n.InBox = seen
		require.NoError(t, w.SessionNews(t.Context(), n))
		assert.Equal(t, seen, strings.HasSuffix(w.lastSent(t).Text.Text, "\n"+w.word(i18n.UnprovenInBox)))
	}
}

func TestNewsOfAFinishedPromptIsNotTold(t *testing.T) {
	w := newWorld(t)
	n := w.news(t, lifecycle.NoteQueued)
	require.NoError(t, w.entries.Store.Finish(n.Prompt.Key))
	require.NoError(t, w.SessionNews(t.Context(), n))
	assert.Empty(t, w.sender.done())
}

// A draft is taken out of the box right after it is told, so all of it is told.
func TestP4_ADraftIsToldInFull(t *testing.T) {
	w := newWorld(t)
	n := w.news(t, lifecycle.NoteDraftCleared)
	for _, draft := range []string{"short\n  indented", strings.Repeat("0123456789 ", 1000), "\u2800"} {
		w.sender.posted = nil
		n.Draft = draft
		require.NoError(t, w.SessionNews(t.Context(), n))
		all := ""
		for _, m := range w.sender.posted {
			assert.LessOrEqual(t, m.Text.Length(), limit)
			assert.Equal(t, inGroup, m.To)
			all += m.Text.Text
		}
		told := strings.Join(strings.Fields(strings.TrimPrefix(all, w.named(i18n.DraftCleared, "api"))), "")
		assert.Equal(t, strings.Join(strings.Fields(draft), ""), told)
	}
}
