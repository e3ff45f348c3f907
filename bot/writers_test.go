package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
)

func TestP1_WritersAreReportedWithOptions(t *testing.T) {
	odd := chattest.InTerminal(7)
	odd.Args, odd.Cwd, odd.Age = nil, "/srv/a\u202eb\nc", 0
	tmuxed := chattest.InTerminal(8)
	tmuxed.Spared = process.GuardTmux
	for _, tt := range []struct {
		name    string
		scene   chattest.Conflict
		writers []evidence.Writer
		want    []string
		words   []i18n.Key
	}{
		{"a resume is refused", chattest.ResumeRefused, []evidence.Writer{chattest.InTerminal(4123)},
			[]string{"api is open elsewhere, or may be, so it was not resumed:", "• claude (pid 4123, 2 h, pts/3), ~/proj",
				"“Take over” ends it there and resumes api here. “Continue in a copy” starts a new session here with a copy of the conversation."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, nobody can tell", chattest.ResumeRefused, []evidence.Writer{chattest.InTerminal(4123), chattest.Unsure(99)},
			[]string{"api is open elsewhere, or may be, so it was not resumed:", "• claude (pid 4123, 2 h, pts/3), ~/proj",
				"• claude (pid 99, 2 h, pts/3), ~/proj (not certain)",
				"   It cannot be ended from here: it is unclear which conversation it has open.", "“Continue in a copy” starts a new session here with a copy of the conversation."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, and nothing is sure", chattest.ResumeRefused, []evidence.Writer{chattest.Unsure(98), chattest.Unsure(99)},
			[]string{"api is open elsewhere, or may be, so it was not resumed:",
				"• claude (pid 98, 2 h, pts/3), ~/proj (not certain)",
				"   It cannot be ended from here: it is unclear which conversation it has open.",
				"• claude (pid 99, 2 h, pts/3), ~/proj (not certain)",
				"   It cannot be ended from here: it is unclear which conversation it has open.", "“Continue in a copy” starts a new session here with a copy of the conversation."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, another session's agent", chattest.ResumeRefused, []evidence.Writer{chattest.AgentOf(5, "web")},
			[]string{"api is open elsewhere, or may be, so it was not resumed:", "• claude (pid 5, 2 h, pts/3), session web, ~/proj",
				"   It cannot be ended from here: it is the agent of another session.", "“Continue in a copy” starts a new session here with a copy of the conversation."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a second writer", chattest.OtherWriter, []evidence.Writer{chattest.InTerminal(4123)},
			[]string{"⚠ api is now open in a second place. The two can split the conversation:", "• claude (pid 4123, 2 h, pts/3), ~/proj",
				"“Take over” ends only the other one. “Continue in a copy” archives api here and starts a new session with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a second writer that is protected", chattest.OtherWriter, []evidence.Writer{tmuxed},
			[]string{"⚠ api is now open in a second place. The two can split the conversation:", "• claude (pid 8, 2 h, pts/3), ~/proj",
				"   It cannot be ended from here: it is tmux itself.", "“Continue in a copy” archives api here and starts a new session with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a ghost elsewhere", chattest.WriterAfterEnd, []evidence.Writer{odd},
			[]string{"api is archived, but its conversation continues elsewhere:", "• pid 7, pts/3, /srv/a·b·c",
				"“End it” ends it there."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		{"a ghost in our tmux", chattest.WriterAfterEnd, []evidence.Writer{chattest.InWindow(t, 4123)},
			[]string{"api is archived, but its conversation continues elsewhere:", "• claude (pid 4123, 2 h, pts/3), ~/proj",
				"“End it” ends it there. “Connect” lets you use it from this chat, in the window where it runs."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt, i18n.ButtonAdopt}},
		{"two ghosts", chattest.WriterAfterEnd, []evidence.Writer{chattest.InWindow(t, 1), chattest.InWindow(t, 2)},
			[]string{"api is archived, but its conversation continues elsewhere:", "• claude (pid 1, 2 h, pts/3), ~/proj", "• claude (pid 2, 2 h, pts/3), ~/proj",
				"“End it” ends it there."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		{"a ghost that is another session's agent", chattest.WriterAfterEnd, []evidence.Writer{chattest.AgentOf(5, "web")},
			[]string{"api is archived, but its conversation continues elsewhere:", "• claude (pid 5, 2 h, pts/3), session web, ~/proj",
				"   It cannot be ended from here: it is the agent of another session."},
			[]i18n.Key{i18n.ButtonShow}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			_, m := w.MarkReported(t, tt.scene, tt.writers...)
			assert.Equal(t, chattest.Lines(tt.want...), m.Text.Text)
			assert.Equal(t, w.WordsOf(tt.words...), chattest.Words(m))
			for _, row := range m.Buttons {
				assert.LessOrEqual(t, len(row), 2)
			}
		})
	}
}

// A session that is not cleaned up can neither be adopted nor resumed, so neither is offered or
// promised.
func TestP3_WriterOfUncleanSessionPromisesNothing(t *testing.T) {
	for _, all := range [][]evidence.Writer{{chattest.InWindow(t, 1)}, {chattest.InTerminal(1)}, {chattest.InTerminal(1), chattest.InTerminal(2)}} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", session.Archived)
		old := w.EndedWriterShown(t, r, chattest.InWindow(t, 1))
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		r = w.Record(t, r.ID)
		w.Write(all...)
		require.NoError(t, w.SessionNews(t.Context(), r, lifecycle.OtherWriters(all)))
		m := w.Telegram.Last(t)
		assert.Equal(t, w.WordsOf(i18n.ButtonShow, i18n.ButtonStopIt), chattest.Words(m))
		assert.True(t, strings.HasSuffix(m.Text.Text, "\n“End it” ends it there."), m.Text.Text)

		w.TakeOver(t, m, i18n.ButtonStopIt)
		question := w.Telegram.Last(t).Text.Text
		var names []string
		for _, one := range all {
			names = append(names, w.In(chattest.AtAlice).ProcessText(host.Process(one.Process, one.Age)))
		}
		assert.Equal(t, w.Word(i18n.EndConfirm, i18n.Args{"Processes": strings.Join(names, "; ")}), question)
		assert.NotContains(t, question, "/resume")

		require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonAdopt), "a button from before the cleanup failed")
		assert.Empty(t, w.Lifecycle.Done())
		assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.WritersChanged))
	}
}

func TestUnseenWriterOfEndedSession(t *testing.T) {
	w := chattest.NewWorld(t)
	_, m := w.MarkReported(t, chattest.WriterAfterEnd)
	assert.Equal(t, "api is archived, but its conversation continues, and ccbot cannot see where. If that is not you, check your terminals.", m.Text.Text)
	assert.Empty(t, m.Buttons)
}

func TestP1_ShowTellsAllThatIsKnown(t *testing.T) {
	protected := chattest.InWindow(t, 2)
	protected.Spared, protected.Source = process.GuardAncestor, process.SourceArgv
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			_, m := w.MarkReported(t, k, chattest.InTerminal(1), protected, chattest.AgentOf(3, "web"), chattest.Unsure(4))
			w.Again()
			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonShow), "any allowed person may, after a restart too")
			shown := w.Telegram.LastEdit(t)
			assert.Contains(t, w.Telegram.Done(), "answer query: ")
			body := shown.Text.Text[strings.Index(shown.Text.Text, "\n")+1:]
			assert.Equal(t, chattest.Lines("• claude (pid 1, 2 h, pts/3), ~/proj", "   Known from: Claude Code's list of sessions.",
				"• claude (pid 2, 2 h, pts/3), ~/proj", "   Known from: its command line.",
				"   In the tmux window mine: tmux attach -t mine", "   It cannot be ended from here: ccbot itself was started from it.",
				"• claude (pid 3, 2 h, pts/3), session web, ~/proj", "   Known from: Claude Code's list of sessions.",
				"   It cannot be ended from here: it is the agent of another session.",
				"• claude (pid 4, 2 h, pts/3), ~/proj (not certain)",
				"   Known from: contradicting signs.",
				"   It cannot be ended from here: it is unclear which conversation it has open."), strings.Join(strings.Split(body, "\n")[:12], "\n"))
			assert.Equal(t, chattest.Faces(m.Buttons), chattest.Faces(shown.Buttons), "the buttons stay")
			code := slices.DeleteFunc(slices.Clone(shown.Text.Entities), func(e models.MessageEntity) bool {
				return e.Type == models.MessageEntityTypeBold
			})
			assert.Equal(t, 5, len(code), "directories and the command are code")
			assert.Empty(t, slices.DeleteFunc(w.Lifecycle.Done(), func(s string) bool { return strings.HasPrefix(s, "restore") }))
		})
	}
}

func TestManyWritersFitOneMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	var all []evidence.Writer
	for pid := range 50 {
		one := chattest.InWindow(t, pid+1)
		one.Cwd, one.Pane.WindowName, one.Spared = "/"+strings.Repeat("deep/", 800), strings.Repeat("w", 400), process.GuardTmux
		all = append(all, one)
	}
	_, m := w.MarkReported(t, chattest.WriterAfterEnd, all...)
	assert.Contains(t, m.Text.Text, "and 44 more")
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonShow))
	shown := w.Telegram.LastEdit(t)
	assert.LessOrEqual(t, shown.Text.Length(), chattest.Limit)
	assert.Equal(t, chattest.Faces(m.Buttons), chattest.Faces(shown.Buttons))
}

// A name must not become a template, an entity or another button.
func TestNamesWithFormatCharacters(t *testing.T) {
	for _, name := range []string{"{{.Name}}", "%s%d%!", "*_`[x](y)`", "<b>&", "a\u202eb", "a:b.c", "имя", "👩‍💻", strings.Repeat("long", 60)} {
		w := chattest.NewWorld(t)
		r, _ := w.MarkReported(t, chattest.OtherWriter, chattest.InTerminal(4123))
		r.Name = name
		w.Records.Put(r)
		require.NoError(t, w.SessionNews(t.Context(), r, lifecycle.OtherWriters{chattest.InTerminal(4123)}))
		m := w.Telegram.Last(t)
		name := glyph.Name(name)
		assert.Equal(t, w.Word(i18n.WritersSecond, i18n.Args{"Name": name}), strings.Split(m.Text.Text, "\n")[0])
		for _, e := range m.Text.Entities {
			assert.Contains(t, []string{"bold", "code"}, string(e.Type), "%q: only the name and directories stand out", name)
		}
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonTakeOver))
		question := w.Telegram.Last(t)
		require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonTakeOver))
		assert.Contains(t, w.Lifecycle.Done(), fmt.Sprintf("end %v of %s", []process.Identity{chattest.InTerminal(4123).Identity}, r.ID))
	}
}

func TestP6_UnsureStartIsExplained(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnStart = func(port.Start) (session.Record, error) {
		return session.Record{}, chattest.Deep(&lifecycle.WriterError{Writers: []evidence.Writer{chattest.Unsure(5)}})
	}
	w.MustHear(t, "/new api")
	assert.Equal(t, []string{chattest.Lines(w.Word(i18n.StartUnsure), "• claude (pid 5, 2 h, pts/3), ~/proj (not certain)")}, w.Telegram.Texts())
}

func TestP6_StartWithUnseenWritersIsExplained(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnStart = func(port.Start) (session.Record, error) {
		return session.Record{}, chattest.Deep(fmt.Errorf("%w: %w", evidence.ErrUnreadable, chattest.ErrTable))
	}
	w.MustHear(t, "/new api")
	assert.Equal(t, []string{w.Word(i18n.NoEvidence)}, w.Telegram.Texts())
	assert.Contains(t, w.Word(i18n.NoEvidence), "~/.claude/sessions")
}

// A program calls its window what it likes: that does not push the other writers out of the
// message.
func TestP1_WindowNameHidesNoWriter(t *testing.T) {
	w := chattest.NewWorld(t)
	first := chattest.InWindow(t, 1)
	first.Pane.WindowName = strings.Repeat("x", 2500) // the command that attaches to it also has it in this world
	_, m := w.MarkReported(t, chattest.OtherWriter, first, chattest.InTerminal(4123))
	w.Write(first, chattest.InTerminal(4123))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonShow))
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "pid 4123")
}
