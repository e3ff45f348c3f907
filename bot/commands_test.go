package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/control"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

func TestNewSession(t *testing.T) {
	w := newWorld(t)
	var asked lifecycle.StartRequest
	w.sessions.start = func(q lifecycle.StartRequest) (session.Record, error) {
		asked = q
		r := session.Record{ID: uuid.New(), Name: "api-2", Dir: q.Dir, State: session.Starting}
		w.records.put(r)
		return r, nil
	}
	key := w.mustHear(t, "/new the api ~/my code")
	assert.Equal(t, lifecycle.StartRequest{Name: "the-api", Dir: "/home/alice/my code", Conversation: atAlice,
		Owner: alice, Origin: key}, asked)
	assert.Equal(t, []string{w.word(i18n.Started, i18n.Args{"Name": "api-2", "Dir": "~/my code"})}, w.sender.texts())
	r, ok, err := w.CurrentSession(atAlice)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "api-2", r.Name)
}

func TestNewSessionWithoutANameSaysOnlyWhere(t *testing.T) {
	w := newWorld(t)
	w.sessions.start = func(q lifecycle.StartRequest) (session.Record, error) {
		return session.Record{ID: uuid.New(), Name: "alice", Dir: q.Dir}, nil
	}
	w.mustHear(t, "/new")
	assert.Equal(t, []string{w.word(i18n.Started, i18n.Args{"Name": "alice", "Dir": "~"})}, w.sender.texts())
}

func TestNewSessionOutsideTheRootsStartsNothing(t *testing.T) {
	w := newWorld(t)
	w.Roots = []string{"/srv", "/opt"}
	w.mustHear(t, "/new api /etc/x")
	assert.Equal(t, []string{w.word(i18n.PathNotAllowed, i18n.Args{"Path": "/etc/x", "Roots": "/srv, /opt"})}, w.sender.texts())
	assert.Empty(t, w.sessions.done())
}

// What of a failure is not told is an error, so that the update comes again.
func TestP4_AFailureThatIsNotToldIsTriedAgain(t *testing.T) {
	for _, text := range []string{"/new", "/resume old", "/stop api", "/kill api", "/list", "/help", "/resume"} {
		t.Run(text, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "api", session.Running)
			w.session(t, "old", session.Archived)
			w.sender.post = refuse
			w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) { return session.Record{}, errors.New("no") }
			w.sessions.restore = func(uuid.UUID) (session.Record, error) { return session.Record{}, errors.New("no") }
			w.sessions.interrupt = func(uuid.UUID) error { return lifecycle.ErrNoAgent }
			_, err := w.hear(t, text)
			assert.ErrorIs(t, err, errDisk)
		})
	}
}

// deep wraps an error as lifecycle does.
func deep(err error) error { return fmt.Errorf("launch: %w", errors.Join(err, errors.New("and more"))) }

func TestEveryStartFailureIsASentence(t *testing.T) {
	dir := func(why lifecycle.DirFault) error { return &lifecycle.DirError{Dir: "/home/alice/x", Why: why} }
	path := func(w *world, key i18n.Key, reason string) string {
		return w.word(key, i18n.Args{"Path": "~/x", "Reason": reason})
	}
	for _, tt := range []struct {
		name string
		err  error
		want func(w *world) string
	}{
		{"missing", dir(lifecycle.DirMissing), func(w *world) string { return path(w, i18n.PathMissing, "") }},
		{"not a folder", dir(lifecycle.DirNotADir), func(w *world) string { return path(w, i18n.PathNotDir, "") }},
		{"no access", dir(lifecycle.DirNoAccess), func(w *world) string { return path(w, i18n.PathUnreadable, "no permission") }},
		{"a fault of a later day", dir("on fire"), func(w *world) string { return path(w, i18n.PathUnreadable, "on fire") }},
		{"no tmux", tmux.ErrNoTmux, func(w *world) string { return w.word(i18n.TmuxMissing) }},
		{"no claude", lifecycle.ErrNoClaude, func(w *world) string { return w.word(i18n.ClaudeMissing, i18n.Args{"Command": "claude"}) }},
		{"tmux did not answer", tmux.ErrLost, func(w *world) string { return w.word(i18n.InternalError) }},
		{"anything else", errDisk, func(w *world) string { return w.word(i18n.InternalError) }},
		{"a sentence of a session", tmux.ErrNoPane, func(w *world) string { return w.word(i18n.InternalError) }},
		{"a state", &lifecycle.StateError{State: session.Archived}, func(w *world) string { return w.word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			assert.Equal(t, tt.want(w), w.startFailure(deep(tt.err)).Text.Text)
			w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) { return session.Record{}, deep(tt.err) }
			w.mustHear(t, "/new x")
			assert.Equal(t, []string{tt.want(w)}, w.sender.texts())
			current, err := w.Chats.Current(atAlice)
			require.NoError(t, err)
			assert.Zero(t, current, "what did not start is not current")
		})
	}
}

// startFailure explains an error of lifecycle.
func (w *world) startFailure(err error) chat.Failure {
	w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) { return session.Record{}, err }
	_, err = w.hosted.Start(context.Background(), control.Start{})
	return w.Failure(views.Session{}, err)
}

func TestMissingClaudeIsNamedAsConfigured(t *testing.T) {
	w := newWorld(t)
	_, err := exec.LookPath("/opt/none/claude-nightly")
	require.Error(t, err)
	err = fmt.Errorf("%w: %w", lifecycle.ErrNoClaude, err)
	assert.Equal(t, w.word(i18n.ClaudeMissing, i18n.Args{"Command": "/opt/none/claude-nightly"}), w.startFailure(err).Text.Text)
}

// The roots may have been drawn tighter since the session was started.
func TestARestoreOutsideTheRootsStartsNothing(t *testing.T) {
	w := newWorld(t)
	w.Roots = []string{"/srv"}
	r := w.session(t, "old", session.Archived)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		t.Error("it was restored")
		return r, nil
	}
	w.mustHear(t, "/resume old")
	assert.Equal(t, []string{w.word(i18n.PathNotAllowed, i18n.Args{"Path": "~/old", "Roots": "/srv"})}, w.sender.texts())
}

func TestEveryRestoreFailureIsASentence(t *testing.T) {
	name := func(key i18n.Key) func(w *world) string {
		return func(w *world) string { return w.word(key, i18n.Args{"Name": "old", "Dir": "~/old"}) }
	}
	for _, tt := range []struct {
		name string
		err  error
		want func(w *world) string
	}{
		{"the folder is gone", &lifecycle.DirError{Dir: "/home/alice/old", Why: lifecycle.DirMissing}, name(i18n.DirGone)},
		{"the folder is a file", &lifecycle.DirError{Dir: "/home/alice/old", Why: lifecycle.DirNotADir}, name(i18n.DirNotADir)},
		{"it is just ending", &lifecycle.StateError{State: session.Stopping, Want: "resumed"}, name(i18n.StillEnding)},
		{"it was purged", session.ErrNotFound, name(i18n.NoSuchSession)},
		{"nothing was left", &lifecycle.TranscriptError{Nothing: true}, name(i18n.TranscriptEmpty)},
		{"nobody sees who writes", lifecycle.ErrEvidence, name(i18n.NoEvidence)},
		{"it is open", &lifecycle.StateError{State: session.Running, Want: "resumed"},
			func(w *world) string { return w.named(i18n.ResumeAlreadyOpen, "old") }},
		{"it was over", &lifecycle.StateError{State: session.Archived, Want: "resumed"}, name(i18n.AlreadyEnded)},
		{"no claude", lifecycle.ErrNoClaude,
			func(w *world) string { return w.word(i18n.ClaudeMissing, i18n.Args{"Command": "claude"}) }},
		{"anything else", errDisk, func(w *world) string { return w.word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "old", session.Archived)
			w.sessions.restore = func(uuid.UUID) (session.Record, error) { return session.Record{}, deep(tt.err) }
			w.mustHear(t, "/resume old")
			assert.Equal(t, []string{tt.want(w)}, w.sender.texts())
		})
	}
}

func TestEveryAgentFailureIsASentence(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want func(w *world) string
	}{
		{"no agent", lifecycle.ErrNoAgent, func(w *world) string { return w.named(i18n.AlreadyEnded, "api") }},
		{"no pane", tmux.ErrNoPane, func(w *world) string { return w.named(i18n.AlreadyEnded, "api") }},
		{"a guard that found no pane", &tmux.GuardError{}, func(w *world) string { return w.named(i18n.AlreadyEnded, "api") }},
		{"a guard", &tmux.GuardError{Want: "a", Got: "b"}, func(w *world) string {
			return w.word(i18n.StopRefused, i18n.Args{"Name": "api", "Command": "tmux attach -t api"})
		}},
		{"it is over", &lifecycle.StateError{State: session.Archived}, func(w *world) string { return w.named(i18n.AlreadyEnded, "api") }},
		{"nobody sees who writes", lifecycle.ErrEvidence, func(w *world) string { return w.word(i18n.NoEvidence) }},
		{"nothing to stop", lifecycle.ErrIdle, func(w *world) string { return w.named(i18n.StopNothing, "api") }},
		{"anything else", errDisk, func(w *world) string { return w.word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.sessions.interrupt = func(uuid.UUID) error { return deep(tt.err) }
			w.mustHear(t, "/stop")
			assert.Equal(t, []string{"interrupt " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, []string{tt.want(w)}, w.sender.texts())
		})
	}
}

func TestStopIsMarkedOnItsMessage(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	w.mustHear(t, "/stop")
	assert.Equal(t, []string{"react 👌 to 1001 in 7"}, w.sender.done())
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	first := w.session(t, "api", session.Archived)
	second := w.session(t, "api", session.Running)
	third := w.session(t, "api", session.Archived)
	current := w.currentSession(t, "web site", session.Running)
	for _, tt := range []struct {
		name, arg string
		fits      func(views.Session) bool
		want      session.Record
	}{
		{"none: the current one", "", live, current},
		{"the current one does not fit", "", resumable, session.Record{}},
		{"a name", "web site", live, current},
		{"the newest that fits", "api", resumable, third},
		{"the only one that fits", "api", live, second},
		{"an id", first.ID.String(), resumable, first},
		{"the beginning of an id", first.ID.String()[:8], resumable, first},
		{"too little of an id", first.ID.String()[:7], resumable, session.Record{}},
		{"half a name", "ap", resumable, session.Record{}},
		{"another case, as phones write it", "API", resumable, third},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, ok, err := w.Find(atAlice, tt.arg, tt.fits)
			require.NoError(t, err)
			assert.Equal(t, tt.want.ID != uuid.Nil, ok)
			if ok {
				assert.Equal(t, tt.want.ID, r.ID)
			}
		})
	}
}

func TestWhatIsNotThereIsTold(t *testing.T) {
	for _, command := range []string{"/stop", "/kill", "/done", "/resume"} {
		w := newWorld(t)
		w.mustHear(t, command+" none such")
		assert.Equal(t, []string{w.named(i18n.NoSuchSession, "none such")}, w.sender.texts(), command)
		assert.Empty(t, w.sessions.done())
	}
	for _, command := range []string{"/stop", "/kill", "/done"} {
		w := newWorld(t)
		w.mustHear(t, command)
		assert.Equal(t, []string{w.word(i18n.NoSession)}, w.sender.texts(), command)
	}
}

func TestListText(t *testing.T) {
	w := newWorld(t)
	text, buttons := w.listText(t, atAlice)
	assert.Equal(t, w.word(i18n.ListEmpty), text.Text)
	assert.Empty(t, buttons)

	w.sessions.look.Phase = lifecycle.PhaseWorking
	api := w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Starting)
	stuck := w.session(t, "stuck", session.CleanupFailed)
	for _, s := range []session.State{session.Archived, session.Lost, session.Completed, session.Failed, session.Abandoned} {
		w.session(t, "old", s)
	}
	require.NoError(t, w.Chats.SetCurrent(inGroup, web.ID))
	var shown []spot
	list := func(to session.Conversation, marks ...string) {
		text, buttons := w.listText(t, to)
		assert.Equal(t, lines(w.word(i18n.ListTitle, i18n.Args{"Count": 3}),
			marks[0]+" api: working, ~/api", marks[1]+" web: starting, ~/web", marks[2]+" stuck: not cleaned up, ~/stuck",
			"", w.word(i18n.ListArchived, i18n.Args{"Count": 5})), text.Text)
		m := outbox.Message{To: atAlice, Buttons: buttons}
		assert.Equal(t, []string{strings.TrimPrefix(marks[0]+" api", "• "), strings.TrimPrefix(marks[1]+" web", "• "),
			w.word(i18n.ButtonRetry) + ": stuck"}, words(m))
		shown = spots(m)
		var names []string
		for i, row := range buttons {
			assert.LessOrEqual(t, len(row), 2)
			for j, b := range row {
				names = append(names, b.Text)
				marked := strings.HasPrefix(b.Text, "✓ ")
				assert.Equal(t, marks[2*i+j] == "✓", marked, b.Text)
			}
		}
		assert.Len(t, names, 3)
	}
	list(atAlice, "✓", "•", "•")
	list(inGroup, "•", "✓", "•")
	list(session.Conversation{ChatID: bob}, "•", "•", "•")
	for i, r := range []session.Record{api, web, api} {
		_, buttons := w.listText(t, atAlice)
		shown = spots(outbox.Message{To: atAlice, Buttons: buttons})
		require.NoError(t, w.tapSpot(t, alice, shown[i%2]))
		w.currentIs(t, r.ID)
	}
	w.sessions.forget()
	require.NoError(t, w.tapSpot(t, alice, spots(w.sender.lastEdit(t))[2]))
	assert.Equal(t, []string{"archive " + stuck.ID.String() + " as archived"}, w.sessions.done())
}

func TestTheListSaysWhoIsAtTheDesk(t *testing.T) {
	for _, tt := range []struct {
		name string
		look lifecycle.Look
		want string
	}{
		{"nobody knows", lifecycle.Look{}, "unknown"},
		{"nobody there", lifecycle.Look{Phase: lifecycle.PhaseIdle, Desk: lifecycle.DeskAway}, "idle"},
		{"attached", lifecycle.Look{Phase: lifecycle.PhaseWorking, Desk: lifecycle.DeskAttached}, "working, attached"},
		{"typing", lifecycle.Look{Phase: lifecycle.PhaseIdle, Desk: lifecycle.DeskTyping}, "idle, at the desk"},
		{"in the background", lifecycle.Look{Phase: lifecycle.PhaseIdle, Desk: lifecycle.DeskTyping, Background: true},
			"idle, at the desk, runs commands in the background"},
		{"at work that says nothing new", lifecycle.Look{Phase: lifecycle.PhaseWorking, Background: true}, "working"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.sessions.look = tt.look
			w.session(t, "api", session.Running)
			w.mustHear(t, "/list")
			assert.Contains(t, w.sender.last(t).Text.Text, "• api: "+tt.want+", ~/api")
		})
	}
}

func TestP3_TheListSaysWhyASessionIsNotClean(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "stuck", session.CleanupFailed)
	w.records.change(r.ID, func(r *session.Record) {
		r.Cleanup = &session.CleanupError{Failures: []session.CleanupFailure{{Kind: "survived", PID: 5}, {Kind: "tmux", Detail: "x"}}}
	})
	w.mustHear(t, "/list")
	assert.Contains(t, w.sender.last(t).Text.Text, "• stuck: not cleaned up (pid 5 is alive even after KILL), ~/stuck")
}

func TestTheListRetriesWhatIsNotClean(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "stuck", session.CleanupFailed)
	w.mustHear(t, "/list")
	m := w.sender.last(t)
	assert.Equal(t, "Retry: stuck", m.Buttons[0][0].Text)
	require.NoError(t, w.tapSpot(t, alice, spots(m)[0]))
	assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.sessions.done())
	assert.Zero(t, w.sender.spent, "the list keeps its buttons")

	w.session(t, "worse", session.CleanupFailed)
	w.mustHear(t, "/list")
	row := w.sender.last(t).Buttons[0]
	assert.Equal(t, []string{"Retry: stuck", "Retry: worse"}, []string{row[0].Text, row[1].Text})
}

func TestShort(t *testing.T) {
	w := newWorld(t)
	for dir, want := range map[string]string{"/home/alice": "~", "/home/alice/x y": "~/x y", "/home/alicea": "/home/alicea",
		"/home": "/home", "/": "/", "": ""} {
		assert.Equal(t, want, w.Short(dir), dir)
	}
}

func TestLongTextsComeInPartsWithButtonsUnderTheLast(t *testing.T) {
	w := newWorld(t)
	for n := range 100 {
		w.session(t, fmt.Sprintf("%s-%02d", strings.Repeat("long", 20), n), session.Starting)
	}
	w.mustHear(t, "/list")
	require.Greater(t, len(w.sender.posted), 1)
	for i, m := range w.sender.posted {
		assert.LessOrEqual(t, m.Text.Length(), 4096)
		assert.Equal(t, i == len(w.sender.posted)-1, len(m.Buttons) > 0)
	}
}

func TestHelpAndMenu(t *testing.T) {
	w := newWorld(t)
	w.mustHear(t, "/help")
	w.mustHear(t, "/start")
	assert.Equal(t, []string{w.word(i18n.Help), w.word(i18n.Help)}, w.sender.texts())
	menu := w.Published()
	assert.Len(t, menu, 8)
	for name, text := range menu {
		assert.Contains(t, w.word(i18n.Help), "/"+name, "the help names it")
		assert.NotContains(t, text, "menu_")
		assert.LessOrEqual(t, len(text), 256, "Telegram's limit")
	}
	assert.NotContains(t, menu, "start")
}

func TestAge(t *testing.T) {
	w := newWorld(t)
	for d, want := range map[time.Duration]string{-time.Hour: "0 s", 0: "0 s", time.Second: "1 s",
		59 * time.Second: "59 s", time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 23 * time.Hour: "23 h", 24 * time.Hour: "1 d", 240 * time.Hour: "10 d"} {
		assert.Equal(t, want, w.Age(d))
	}
}

// A path below a file is a mistake of the person, not of the machine.
func TestAPathBelowAFileIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := lifecycle.CheckDir(filepath.Join(file, "below"))
	require.Error(t, err)
	w := newWorld(t)
	assert.NotEqual(t, w.word(i18n.InternalError), w.startFailure(err).Text.Text)
}
