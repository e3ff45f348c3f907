package bot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// desk is a writer that somebody has started at the desk: proven, and nothing protects it.
func atDesk(pid int) lifecycle.Writer {
	p := claude(pid)
	p.TTY, p.Cwd = 136<<8|3, "/home/alice/proj" // pts/3
	return lifecycle.Writer{Process: p, Age: 2 * time.Hour, Proven: true, Source: process.SourcePresence, Standing: lifecycle.Second}
}

// inWindow is a writer in a window of ccbot's tmux server.
func inWindow(t *testing.T, pid int) lifecycle.Writer {
	t.Helper()
	w := atDesk(pid)
	window, err := tmux.ParseWindowID("@4")
	require.NoError(t, err)
	w.Pane, w.InTmux = tmux.Pane{Window: window, WindowName: "mine"}, true
	return w
}

func unsure(pid int) lifecycle.Writer {
	w := atDesk(pid)
	w.Proven, w.Standing, w.Source = false, lifecycle.Unclear, ""
	return w
}

func agentOf(pid int, name string) lifecycle.Writer {
	w := atDesk(pid)
	w.Session, w.Spared = name, lifecycle.ReasonOtherAgent
	return w
}

// write makes these the writers of every session.
func (w *world) write(all ...lifecycle.Writer) {
	w.sessions.writers = func(uuid.UUID) ([]lifecycle.Writer, error) { return all, nil }
}

// refuse is a resume that is refused because of these writers; they write on.
func (w *world) refuse(all ...lifecycle.Writer) {
	w.write(all...)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		now, err := w.sessions.writers(uuid.Nil)
		if len(now) > 0 || err != nil {
			return session.Record{}, deep(&lifecycle.WriterError{Writers: now})
		}
		return w.records.List()[0], nil
	}
}

// told posts the message of a scene and gives it.
func (w *world) told(t *testing.T, k conflict, all ...lifecycle.Writer) (session.Record, outbox.Message) {
	t.Helper()
	state := map[conflict]session.State{resumeRefused: session.Archived, otherWriter: session.Running, writerAfterEnd: session.Archived}[k]
	r := w.session(t, "api", state)
	w.refuse(all...)
	if k == resumeRefused {
		w.mustHear(t, "/resume api")
		return r, w.sender.last(t)
	}
	kind := map[conflict]lifecycle.NoteKind{otherWriter: lifecycle.NoteSecondWriter, writerAfterEnd: lifecycle.NoteGhost}[k]
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r, Writers: all}))
	return r, w.sender.last(t)
}

// ghostShown is the message that these write the conversation of a session that is over.
func (w *world) ghostShown(t *testing.T, r session.Record, all ...lifecycle.Writer) outbox.Message {
	t.Helper()
	return w.shown(t, lifecycle.Note{Kind: lifecycle.NoteGhost, Session: r, Writers: all})
}

func TestP1_WritersAreToldWithWhatCanBeDone(t *testing.T) {
	odd := atDesk(7)
	odd.Args, odd.Cwd, odd.Age = nil, "/srv/a\u202eb\nc", 0
	tmuxed := atDesk(8)
	tmuxed.Spared = process.GuardTmux
	for _, tt := range []struct {
		name    string
		scene   conflict
		writers []lifecycle.Writer
		want    []string
		words   []i18n.Key
	}{
		{"a resume is refused", resumeRefused, []lifecycle.Writer{atDesk(4123)},
			[]string{"api is open elsewhere, or may be, so I did not bring it back:", "• claude, pid 4123, 2 h, pts/3, ~/proj",
				"Take over ends it there and brings api back here. Fork instead starts a new session here with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, nobody can tell", resumeRefused, []lifecycle.Writer{atDesk(4123), unsure(99)},
			[]string{"api is open elsewhere, or may be, so I did not bring it back:", "• claude, pid 4123, 2 h, pts/3, ~/proj",
				"• claude, pid 99, 2 h, pts/3, ~/proj: it may write it, nobody can tell",
				"   I cannot end it: nobody can tell what it writes.", "Fork instead starts a new session here with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, and nothing is sure", resumeRefused, []lifecycle.Writer{unsure(98), unsure(99)},
			[]string{"api is open elsewhere, or may be, so I did not bring it back:",
				"• claude, pid 98, 2 h, pts/3, ~/proj: it may write it, nobody can tell",
				"   I cannot end it: nobody can tell what it writes.",
				"• claude, pid 99, 2 h, pts/3, ~/proj: it may write it, nobody can tell",
				"   I cannot end it: nobody can tell what it writes.", "Fork instead starts a new session here with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"refused, another session's agent", resumeRefused, []lifecycle.Writer{agentOf(5, "web")},
			[]string{"api is open elsewhere, or may be, so I did not bring it back:", "• claude, pid 5, 2 h, pts/3, in session web, ~/proj",
				"   I cannot end it: it is the agent of another session.", "Fork instead starts a new session here with a copy."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a second writer", otherWriter, []lifecycle.Writer{atDesk(4123)},
			[]string{"⚠ Somebody else writes api now. Two writers split the conversation:", "• claude, pid 4123, 2 h, pts/3, ~/proj",
				"Take over ends the other one and nothing else. Fork instead goes on here in a copy and leaves api to the other one."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a second writer that is protected", otherWriter, []lifecycle.Writer{tmuxed},
			[]string{"⚠ Somebody else writes api now. Two writers split the conversation:", "• claude, pid 8, 2 h, pts/3, ~/proj",
				"   I cannot end it: it is tmux itself.", "Fork instead goes on here in a copy and leaves api to the other one."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		{"a ghost elsewhere", writerAfterEnd, []lifecycle.Writer{odd},
			[]string{"api is archived, but its conversation goes on:", "• pid 7, pts/3, /srv/a·b·c",
				"Stop it ends it there."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		{"a ghost in our tmux", writerAfterEnd, []lifecycle.Writer{inWindow(t, 4123)},
			[]string{"api is archived, but its conversation goes on:", "• claude, pid 4123, 2 h, pts/3, ~/proj",
				"Stop it ends it there. Adopt goes on from here in the window where it runs."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt, i18n.ButtonAdopt}},
		{"two ghosts", writerAfterEnd, []lifecycle.Writer{inWindow(t, 1), inWindow(t, 2)},
			[]string{"api is archived, but its conversation goes on:", "• claude, pid 1, 2 h, pts/3, ~/proj", "• claude, pid 2, 2 h, pts/3, ~/proj",
				"Stop it ends it there."},
			[]i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		{"a ghost that is another session's agent", writerAfterEnd, []lifecycle.Writer{agentOf(5, "web")},
			[]string{"api is archived, but its conversation goes on:", "• claude, pid 5, 2 h, pts/3, in session web, ~/proj",
				"   I cannot end it: it is the agent of another session."},
			[]i18n.Key{i18n.ButtonShow}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			_, m := w.told(t, tt.scene, tt.writers...)
			assert.Equal(t, lines(tt.want...), m.Text.Text)
			assert.Equal(t, w.wordsOf(tt.words...), words(m))
			for _, row := range m.Buttons {
				assert.LessOrEqual(t, len(row), 2)
			}
		})
	}
}

// A session that is not cleaned up can neither be adopted nor resumed, so neither is offered or
// promised.
func TestP3_AGhostOfWhatIsNotCleanPromisesNothing(t *testing.T) {
	for _, all := range [][]lifecycle.Writer{{inWindow(t, 1)}, {atDesk(1)}, {atDesk(1), atDesk(2)}} {
		w := newWorld(t)
		r := w.session(t, "api", session.Archived)
		old := w.ghostShown(t, r, inWindow(t, 1))
		w.records.change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
		r = w.record(t, r.ID)
		w.write(all...)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteGhost, Session: r, Writers: all}))
		m := w.sender.last(t)
		assert.Equal(t, w.wordsOf(i18n.ButtonShow, i18n.ButtonStopIt), words(m))
		assert.True(t, strings.HasSuffix(m.Text.Text, "\nStop it ends it there."), m.Text.Text)

		w.takeOver(t, m, i18n.ButtonStopIt)
		question := w.sender.last(t).Text.Text
		var names []string
		for _, one := range all {
			names = append(names, w.ProcessText(host.Process(one.Process, one.Age)))
		}
		assert.Equal(t, w.word(i18n.EndConfirm, i18n.Args{"Processes": strings.Join(names, "; ")}), question)
		assert.NotContains(t, question, "/resume")

		require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonAdopt), "a button from before the cleanup failed")
		assert.Empty(t, w.sessions.done())
		assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WritersChanged))
	}
}

func TestAGhostThatNobodySees(t *testing.T) {
	w := newWorld(t)
	_, m := w.told(t, writerAfterEnd)
	assert.Equal(t, "api is archived, but its conversation goes on, and I cannot see who writes it.", m.Text.Text)
	assert.Empty(t, m.Buttons)
}

func TestP1_ShowTellsAllThatIsKnown(t *testing.T) {
	protected := inWindow(t, 2)
	protected.Spared, protected.Source = process.GuardAncestor, process.SourceArgv
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			_, m := w.told(t, k, atDesk(1), protected, agentOf(3, "web"), unsure(4))
			w.again()
			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonShow), "any allowed person may, after a restart too")
			shown := w.sender.lastEdit(t)
			assert.Contains(t, w.sender.done(), "answer query: ")
			body := shown.Text.Text[strings.Index(shown.Text.Text, "\n")+1:]
			assert.Equal(t, lines("• claude, pid 1, 2 h, pts/3, ~/proj", "   Recognised by its presence file.",
				"• claude, pid 2, 2 h, pts/3, ~/proj", "   Recognised by its command line.",
				"   In the tmux window mine: tmux attach -t mine", "   I cannot end it: ccbot itself runs below it.",
				"• claude, pid 3, 2 h, pts/3, in session web, ~/proj", "   Recognised by its presence file.",
				"   I cannot end it: it is the agent of another session.",
				"• claude, pid 4, 2 h, pts/3, ~/proj: it may write it, nobody can tell",
				"   Recognised by signs that contradict each other or cannot be read.",
				"   I cannot end it: nobody can tell what it writes."), strings.Join(strings.Split(body, "\n")[:12], "\n"))
			assert.Equal(t, faces(m.Buttons), faces(shown.Buttons), "the buttons stay")
			assert.Equal(t, 5, len(shown.Text.Entities), "directories and the command are code")
			assert.Empty(t, slices.DeleteFunc(w.sessions.done(), func(s string) bool { return strings.HasPrefix(s, "restore") }))
		})
	}
}

func TestManyWritersFitOneMessage(t *testing.T) {
	w := newWorld(t)
	var all []lifecycle.Writer
	for pid := range 50 {
		one := inWindow(t, pid+1)
		one.Cwd, one.Pane.WindowName, one.Spared = "/"+strings.Repeat("deep/", 800), strings.Repeat("w", 400), process.GuardTmux
		all = append(all, one)
	}
	_, m := w.told(t, writerAfterEnd, all...)
	assert.Contains(t, m.Text.Text, "and 44 more")
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonShow))
	shown := w.sender.lastEdit(t)
	assert.LessOrEqual(t, shown.Text.Length(), limit)
	assert.Equal(t, faces(m.Buttons), faces(shown.Buttons))
}

// What a name holds must not become a template, an entity or another button.
func TestNamesWithFormatCharacters(t *testing.T) {
	for _, name := range []string{"{{.Name}}", "%s%d%!", "*_`[x](y)`", "<b>&", "a\u202eb", "a:b.c", "имя", "👩‍💻", strings.Repeat("long", 60)} {
		w := newWorld(t)
		r, _ := w.told(t, otherWriter, atDesk(4123))
		r.Name = name
		w.records.put(r)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteSecondWriter, Session: r, Writers: []lifecycle.Writer{atDesk(4123)}}))
		m := w.sender.last(t)
		name := glyph.Name(name)
		assert.Equal(t, w.word(i18n.WritersSecond, i18n.Args{"Name": name}), strings.Split(m.Text.Text, "\n")[0])
		for _, e := range m.Text.Entities {
			assert.Equal(t, "code", string(e.Type), "%q: only directories stand out", name)
		}
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonTakeOver))
		question := w.sender.last(t)
		require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonTakeOver))
		assert.Contains(t, w.sessions.done(), fmt.Sprintf("end %v of %s", []process.Identity{atDesk(4123).Identity}, r.ID))
	}
}

func TestP6_AStartThatIsNotSureIsExplained(t *testing.T) {
	w := newWorld(t)
	w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) {
		return session.Record{}, deep(&lifecycle.WriterError{Writers: []lifecycle.Writer{unsure(5)}})
	}
	w.mustHear(t, "/new api")
	assert.Equal(t, []string{lines(w.word(i18n.StartUnsure), "• claude, pid 5, 2 h, pts/3, ~/proj: it may write it, nobody can tell")}, w.sender.texts())
}

func TestP6_AStartWhoseWritersCannotBeSeenIsExplained(t *testing.T) {
	w := newWorld(t)
	w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) {
		return session.Record{}, deep(fmt.Errorf("%w: %w", lifecycle.ErrEvidence, errTable))
	}
	w.mustHear(t, "/new api")
	assert.Equal(t, []string{w.word(i18n.NoEvidence)}, w.sender.texts())
	assert.Contains(t, w.word(i18n.NoEvidence), "~/.claude/sessions")
}

var errTable = errors.New("the process table cannot be read")
