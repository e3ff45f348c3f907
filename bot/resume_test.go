package bot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	claudecode "ccbot/agent/claude"
	"ccbot/agent/claude/transcript"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/sessions"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
)

func TestUndoAndResumeBringBack(t *testing.T) {
	for _, word := range []i18n.Key{i18n.ButtonUndo, i18n.ButtonResume} {
		t.Run(string(word), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Archived)
			m := w.LostShown(t, r)
			if word == i18n.ButtonUndo {
				m = w.UndoShown(t, r, time.Minute)
			}
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
			w.Again()
			require.NoError(t, w.TapShown(t, chattest.Bob, m, word), "any allowed person may, after a restart too")
			assert.Equal(t, []string{"restore " + r.ID.String(), "move " + r.ID.String() + " to 7"}, w.Lifecycle.Done())
			assert.Equal(t, []string{w.Restoring(r)}, w.Telegram.Texts())
			assert.Equal(t, 1, w.Telegram.Spent)
			w.CurrentIs(t, r.ID)
		})
	}
}

// A session chosen in between stays current.
func TestUndoLeavesTheCurrentSession(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("open already: %t", open), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Archived)
			said, current := w.Restoring(r), w.NewCurrentSession(t, "web", session.Running)
			if open {
				w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
					return r, chattest.Deep(&lifecycle.StateError{State: session.Running, Want: "resumed"})
				}
				said, current = w.Named(i18n.ResumeAlreadyOpen, "api"), r
			}
			require.NoError(t, w.TapShown(t, chattest.Alice, w.UndoShown(t, r, 0), i18n.ButtonUndo))
			w.CurrentIs(t, current.ID)
			assert.Equal(t, []string{said}, w.Telegram.Texts())
		})
	}
}

// TestUndoWorksWhileSessionIsResumable: a receipt may be read an hour later.
func TestUndoWorksWhileSessionIsResumable(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	require.NoError(t, w.TapShown(t, chattest.Alice, w.UndoShown(t, r, time.Hour), i18n.ButtonUndo))
	assert.Contains(t, w.Telegram.Texts(), w.Restoring(r))
}

func TestDoubleTapOnResumeResumesOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	m := w.LostShown(t, r)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResume))
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		return r, &lifecycle.StateError{State: session.Restoring, Want: "resumed"}
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResume))
	assert.Equal(t, []string{w.Restoring(r)}, w.Telegram.Texts())
	assert.Equal(t, chattest.Restores(r), w.Restored())
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Named(i18n.AlreadyOpen, "api"))
}

// The second of two taps on [Undo] says that the session is back, whether the first one is done or
// not.
func TestDoubleTapOnUndoReportsSession(t *testing.T) {
	for _, done := range []bool{false, true} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", session.Archived)
		current := w.NewCurrentSession(t, "web", session.Running)
		m := w.UndoShown(t, r, 0)
		if done {
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonUndo))
		} else {
			w.Records.Change(r.ID, func(r *session.Record) { r.State, r.Binding = session.Restoring, &session.Binding{Window: "@4"} })
		}
		said := len(w.Telegram.Texts())
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonUndo))
		assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Named(i18n.AlreadyOpen, "api"))
		assert.Len(t, w.Telegram.Texts(), said, "once")
		w.CurrentIs(t, current.ID)
	}
}

// A tap on an older [Undo] of a session that is over again says that the button is old.
func TestLateTapOnUndo(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	m := w.UndoShown(t, r, 0)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonUndo))
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonUndo))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
}

func TestFailedResumeCanBeRepeated(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return session.Record{}, claudecode.ErrNotInstalled }
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LostShown(t, r), i18n.ButtonResume))
	assert.Len(t, w.Telegram.Texts(), 1)
	assert.Zero(t, w.Telegram.Spent)
	w.CurrentIs(t, uuid.Nil)
}

// "Your messages go to it now" must be true.
func TestResumeOfOpenSessionMakesCurrent(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	w.NewCurrentSession(t, "web", session.Running)
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		return r, chattest.Deep(&lifecycle.StateError{State: session.Running, Want: "resumed"})
	}
	lost := r
	lost.State = session.Lost // and resumed since
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LostShown(t, lost), i18n.ButtonResume))
	assert.Equal(t, []string{w.Named(i18n.ResumeAlreadyOpen, "api")}, w.Telegram.Texts())
	w.CurrentIs(t, r.ID)
}

func TestP1_ResumeReportsEndedLeftovers(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	w.Lifecycle.Leftovers = []ending.Ending{chattest.Ended(9, process.HowKill, time.Minute)}
	w.MustHear(t, "/resume api")
	assert.Equal(t, []string{chattest.Lines("• claude (pid 9, 1 min) ended by force (KILL).", w.Restoring(r))}, w.Telegram.Texts())

	w = chattest.NewWorld(t)
	w.Session(t, "api", session.Archived)
	w.Lifecycle.Leftovers = []ending.Ending{chattest.Ended(9, process.HowKill, time.Minute), chattest.Spared(10, ending.ReasonSecond)}
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return session.Record{}, claudecode.ErrNotInstalled }
	w.MustHear(t, "/resume api")
	assert.Equal(t, []string{chattest.Lines("• claude (pid 9, 1 min) ended by force (KILL).",
		w.Word(i18n.AgentMissing, i18n.Args{"Command": "claude", "Agent": "Claude Code", "Setting": "CLAUDE_COMMAND"}))}, w.Telegram.Texts())
}

func TestResumeDuringCleanupIsExplained(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.CleanupFailed)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Cleanup = &session.CleanupError{Processes: []process.Identity{{PID: 5}}, Reason: "process 5 lives",
			Failures: []session.CleanupFailure{{Kind: "survived", PID: 5, Detail: "it survived KILL"}}}
	})
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		return r, &lifecycle.StateError{State: session.CleanupFailed, Want: "resumed"}
	}
	want := w.Word(i18n.CleanupFailed, i18n.Args{"Name": "api", "Details": "pid 5 still runs, even after KILL"})
	require.NoError(t, w.TapShown(t, chattest.Alice, w.UndoShown(t, r, 0), i18n.ButtonUndo))
	w.MustHear(t, "/resume api")
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
	w.MustHear(t, "a prompt")
	assert.Equal(t, []string{want, want, chattest.Lines(chattest.Warning+want, w.Word(i18n.NotDelivered))}, w.Telegram.Texts())
	for _, m := range w.Telegram.Posted {
		assert.Equal(t, w.WordsOf(i18n.ButtonRetry), chattest.Words(m))
		w.Lifecycle.Forget()
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonRetry))
		assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.Lifecycle.Done())
	}
}

func TestResumeCommand(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/resume")
	assert.Equal(t, w.Word(i18n.ResumeNone), w.Telegram.Last(t).Text.Text)

	open := w.Session(t, "open", session.Running)
	w.MustHear(t, "/resume open")
	assert.Equal(t, w.Named(i18n.ResumeAlreadyOpen, "open"), w.Telegram.Last(t).Text.Text)
	w.CurrentIs(t, open.ID)

	w.Session(t, "going", session.Stopping)
	w.MustHear(t, "/resume going")
	assert.Equal(t, w.Named(i18n.StillEnding, "going"), w.Telegram.Last(t).Text.Text)
	w.CurrentIs(t, open.ID)

	old := w.Session(t, "old", session.Lost)
	w.MustHear(t, "/resume old")
	assert.Contains(t, w.Lifecycle.Done(), "restore "+old.ID.String())
}

// An open session cannot be resumed: if several sessions match, only the others are offered.
func TestResumeOffersNoOpenSession(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "job01", session.Running)
	w.Session(t, "job02", session.Running)
	w.MustHear(t, "/resume job0")
	assert.Equal(t, w.Word(i18n.ResumeNone), w.Telegram.Last(t).Text.Text)
	w.Session(t, "job03", session.Archived)
	w.Session(t, "job04", session.Archived)
	w.MustHear(t, "/resume job0")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.ResumePick), m.Text.Text)
	assert.ElementsMatch(t, []string{"job03", "job04"}, picked(m))
	assert.Empty(t, w.Lifecycle.Done())
}

// A restore without a window may have been interrupted: only the session's worker knows whether it
// continues or is open already.
func TestP8_InterruptedResumeContinues(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		state         session.State
		bound         bool
		want          string // asked of lifecycle; empty: it is open already
	}{
		{"cut short", "/resume api", session.Restoring, false, "restore %s"},
		{"cut short, elsewhere", "/resume api /srv", session.Restoring, false, "restore %s in /srv"},
		{"in its window", "/resume api", session.Restoring, true, ""},
		{"a new one", "/resume api", session.Starting, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", tt.state)
			w.Records.Change(r.ID, func(r *session.Record) {
				if tt.bound {
					r.Binding = &session.Binding{Window: "@21"}
				}
			})
			w.MustHear(t, tt.command)
			w.CurrentIs(t, r.ID)
			if tt.want == "" {
				assert.Empty(t, w.Lifecycle.Done())
				assert.Equal(t, []string{w.Named(i18n.ResumeAlreadyOpen, "api")}, w.Telegram.Texts())
				return
			}
			assert.Equal(t, []string{fmt.Sprintf(tt.want, r.ID)}, w.Lifecycle.Done())
			assert.Contains(t, w.Telegram.Last(t).Text.Text, "Resuming api in ")
		})
	}
}

func TestResumeElsewhere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"/resume old /srv/x", " in /srv/x"},
		{"/resume old ~/my code", " in /home/alice/my code"},
		{`/resume old "~/my code"`, " in /home/alice/my code"},
		{"/resume OLD ~/old", " in /home/alice/old"},
		{"/resume .config", ""}, // a name may look like a path
		{"/resume .config /srv", " in /srv"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "old", session.Archived)
			if strings.Contains(tt.text, ".config") {
				r = w.Session(t, ".config", session.Archived)
			}
			w.MustHear(t, tt.text)
			assert.Equal(t, []string{"restore " + r.ID.String() + tt.want}, w.Lifecycle.Done())
		})
	}
	for text, want := range map[string]i18n.Key{"/resume none /srv": i18n.NoSuchSession, "/resume /srv": i18n.NoSuchSession,
		"/resume open /srv": i18n.ResumeNotElsewhere, "/resume open": i18n.ResumeAlreadyOpen} {
		w := chattest.NewWorld(t)
		w.Session(t, "open", session.Running)
		w.MustHear(t, text)
		name := strings.TrimPrefix(text, "/resume ")
		if want != i18n.NoSuchSession {
			name = "open"
		}
		assert.Equal(t, []string{w.Named(want, name)}, w.Telegram.Texts(), text)
		assert.Empty(t, w.Lifecycle.Done())
	}
}

func TestResumePicksTheLatest(t *testing.T) {
	w := chattest.NewWorld(t)
	var latest []string
	for n := range 12 {
		r := w.Session(t, fmt.Sprintf("s%d", n), session.Archived)
		latest = append([]string{"restore " + r.ID.String()}, latest...)
	}
	w.Session(t, "open", session.Running)
	w.MustHear(t, "/resume")
	m := w.Telegram.Last(t)
	assert.Equal(t, chattest.Lines(w.Word(i18n.ResumePick), "1–8 of 12"), m.Text.Text)
	assert.True(t, strings.HasPrefix(m.Buttons[0][0].Text, "s11, ~/s11, "), m.Buttons[0][0].Text)
	for n := range latest[:10] {
		m := w.HeardShown(t, "/resume")
		require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
		assert.Equal(t, []string{latest[n]}, w.Lifecycle.Done())
	}
	for _, row := range m.Buttons {
		assert.Len(t, row, 1)
	}
}

// dirGone is a session whose directory is not there, in a home that is.
func dirGone(t *testing.T) (*chattest.World, session.Record) {
	t.Helper()
	w := chattest.NewWorld(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w.AgentsHome, w.Home = home, home
	r := w.Session(t, "api", session.Archived)
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		now, _ := w.Records.Get(id)
		if last := w.Lifecycle.Done(); strings.Contains(last[len(last)-1], " in ") {
			now.Dir = strings.SplitN(last[len(last)-1], " in ", 2)[1]
		}
		if err := lifecycle.CheckDir(now.Dir); err != nil {
			return session.Record{}, chattest.Deep(err)
		}
		now.State = session.Restoring
		w.Records.Put(now)
		return now, nil
	}
	return w, r
}

func TestMissingDirectoryCanBeMade(t *testing.T) {
	w, r := dirGone(t)
	w.MustHear(t, "/resume api")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.DirGone, i18n.Args{"Name": "api", "Dir": "~/api"}), m.Text.Text)
	assert.Equal(t, w.WordsOf(i18n.ButtonMakeDir), chattest.Words(m))
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonMakeDir))
	assert.DirExists(t, r.Dir)
	assert.Equal(t, w.Restoring(r), w.Telegram.Last(t).Text.Text)
	assert.Equal(t, 1, w.Telegram.Spent)
	w.CurrentIs(t, r.ID)
}

func TestDirectoryOutsideRootsIsNotMade(t *testing.T) {
	w, r := dirGone(t)
	outside := t.TempDir()
	root := filepath.Join(w.AgentsHome, "root")
	require.NoError(t, os.MkdirAll(root, 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "leads-out")))
	old := w.HeardShown(t, "/resume api")
	w.Roots = []string{root}
	for _, dir := range []string{filepath.Join(root, "leads-out", "new"), filepath.Join(w.AgentsHome, "api"), filepath.Join(root, "..", "x")} {
		w.Records.Change(r.ID, func(r *session.Record) { r.Dir = dir })
		require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonMakeDir))
		assert.NoDirExists(t, dir)
		assert.Equal(t, w.OutsideText(t.Context(), dir), w.Telegram.Last(t).Text.Text)
	}
	assert.Empty(t, w.Lifecycle.Done())

	in := filepath.Join(root, "a", "b")
	w.Records.Change(r.ID, func(r *session.Record) { r.Dir = in })
	w.MustHear(t, "/resume api")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.WordsOf(i18n.ButtonMakeDir), chattest.Words(m))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonMakeDir))
	assert.DirExists(t, in)
}

func TestFailedDirectoryIsReported(t *testing.T) {
	for _, roots := range []bool{false, true} {
		w, r := dirGone(t)
		m := w.HeardShown(t, "/resume api")
		if roots {
			w.Roots = []string{w.AgentsHome}
		}
		require.NoError(t, os.WriteFile(filepath.Join(w.AgentsHome, "file"), nil, 0o600))
		w.Records.Change(r.ID, func(r *session.Record) { r.Dir = filepath.Join(w.AgentsHome, "file", "below") })
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonMakeDir))
		assert.Equal(t, []string{w.Word(i18n.DirNoAccess, i18n.Args{"Name": "api", "Dir": "~/file/below"})}, w.Telegram.Texts())
		assert.Zero(t, w.Telegram.Spent)
		assert.Empty(t, w.Lifecycle.Done())
	}
}

func TestDirectoryFaultsAreReported(t *testing.T) {
	for why, want := range map[lifecycle.DirFault]i18n.Key{lifecycle.DirMissing: i18n.DirGone, lifecycle.DirNotADir: i18n.DirNotADir,
		lifecycle.DirNoAccess: i18n.DirNoAccess, "of a later day": i18n.DirNoAccess} {
		w, r := dirGone(t)
		w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
			return r, chattest.Deep(&lifecycle.DirError{Dir: r.Dir, Why: why})
		}
		w.MustHear(t, "/resume api")
		m := w.Telegram.Last(t)
		assert.Equal(t, w.Word(want, i18n.Args{"Name": "api", "Dir": "~/api"}), m.Text.Text)
		assert.Contains(t, m.Text.Text, "/resume api PATH")
		assert.Equal(t, why == lifecycle.DirMissing, slices.Equal(w.WordsOf(i18n.ButtonMakeDir), chattest.Words(m)))
	}
}

// A path that was typed is what its button means after a restart too.
func TestTypedDirectoryIsRemembered(t *testing.T) {
	w, r := dirGone(t)
	dir := filepath.Join(w.AgentsHome, "typed", "new")
	w.MustHear(t, "/resume api "+dir)
	m := w.Telegram.Last(t)
	assert.Contains(t, m.Text.Text, "~/typed/new")
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonMakeDir))
	assert.DirExists(t, dir)
	assert.Contains(t, w.Lifecycle.Done(), "restore "+r.ID.String()+" in "+dir)
	w.CurrentIs(t, r.ID)
}

func TestDamagedTranscriptNeedsDecision(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	fault := true
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		if !fault {
			return r, nil
		}
		return r, chattest.Deep(&lifecycle.TranscriptError{Health: agent.Health{Path: "/x", Faults: []agent.Fault{
			transcript.FaultHalfLine, transcript.FaultNUL, transcript.FaultDuplicate}}})
	}
	w.MustHear(t, "/resume api /srv/x")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.Word(i18n.TranscriptDamaged, i18n.Args{"Name": "api", "Details": chattest.Lines(w.Word(i18n.FaultHalfLine) + "; " +
		w.Word(i18n.FaultNUL) + "; " + w.Word(i18n.FaultDuplicate))}), m.Text.Text)
	assert.Equal(t, w.WordsOf(i18n.ButtonUseCopy, i18n.ButtonUseAsIs, i18n.ButtonCancel), chattest.Words(m))
	w.MustHear(t, "/resume api /srv/x")
	other := w.Telegram.Last(t)
	w.MustHear(t, "/resume api")
	here := w.Telegram.Last(t)
	w.Again()
	fault = false
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonUseCopy))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonUseAsIs), "it is over")
	require.NoError(t, w.TapShown(t, chattest.Alice, other, i18n.ButtonUseAsIs))
	require.NoError(t, w.TapShown(t, chattest.Alice, here, i18n.ButtonUseCopy), "where it was")
	head := "restore " + r.ID.String()
	assert.Equal(t, []string{head + " in /srv/x", head + " in /srv/x", head, head + " in /srv/x as copy", head + " in /srv/x as as_is",
		head + " as copy"}, w.Lifecycle.Done())
}

func TestEmptyTranscriptStartsNewConversation(t *testing.T) {
	for word, err := range map[i18n.Key]lifecycle.TranscriptError{
		i18n.TranscriptEmpty:   {Nothing: true, Health: agent.Health{Faults: []agent.Fault{transcript.FaultNUL}}},
		i18n.TranscriptDeleted: {Nothing: true, Deleted: true},
	} {
		t.Run(string(word), func(t *testing.T) { startsNewConversation(t, word, &err) })
	}
}

func startsNewConversation(t *testing.T, word i18n.Key, err error) {
	t.Helper()
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	nothing := true
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		if !nothing {
			return r, nil
		}
		return r, chattest.Deep(err)
	}
	w.MustHear(t, "/resume api")
	m := w.Telegram.Last(t)
	assert.Equal(t, w.Named(word, "api"), m.Text.Text)
	assert.Equal(t, w.WordsOf(i18n.ButtonBeginAnew, i18n.ButtonCancel), chattest.Words(m))
	w.Again()
	nothing = false
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonBeginAnew))
	head := "restore " + r.ID.String()
	assert.Equal(t, []string{head, head + " as copy"}, w.Lifecycle.Done())
	w.CurrentIs(t, r.ID)
}

// TestBroughtBackAtTheDesk: texts go to what is open, and the chat says to which.
func TestBroughtBackAtTheDesk(t *testing.T) {
	tests := []struct {
		name   string
		before session.State // of the current session; empty: none
		takes  bool
	}{
		{"there is none", "", true},
		{"the current one is lost", session.Lost, true},
		{"it is archived", session.Archived, true},
		{"it is open", session.Running, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			want := w.Session(t, "api", session.Restoring)
			back := want
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.Nil))
			if tt.before != "" {
				other := w.Session(t, "other", tt.before)
				require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, other.ID))
				if !tt.takes {
					want = other
				}
			}
			current, err := sessions.CLI{Sessions: w.Resumer}.Resumed(t.Context(), back.ID)
			require.NoError(t, err)
			assert.Equal(t, want.ID, current.ID)
			now := w.Chats.Current(chattest.AtAlice)
			assert.Equal(t, want.ID, now)
			w.Work(t)
			assert.Equal(t, w.Word(i18n.Resuming, i18n.Args{"Name": "api", "Dir": w.Short(back.Dir)}), w.Telegram.Last(t).Text.Text)
		})
	}
}

func TestBroughtBackWithoutAChat(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Restoring)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	for _, id := range []uuid.UUID{r.ID, uuid.New()} {
		current, err := sessions.CLI{Sessions: w.Resumer}.Resumed(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, uuid.Nil, current.ID)
	}
	assert.Empty(t, w.Telegram.Texts())
}
