package bot_test

import (
	"errors"
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

	claudecode "ccbot/agent/claude"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/tmux"
)

func TestNewSession(t *testing.T) {
	w := chattest.NewWorld(t)
	var asked port.Start
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		asked = q
		r := session.Record{ID: uuid.New(), Name: "api-2", Dir: q.Dir, State: session.Starting}
		w.Records.Put(r)
		return r, nil
	}
	key := w.MustHear(t, "/new the api ~/my code")
	assert.Equal(t, port.Start{Name: "the-api", Dir: "/home/alice/my code", Conversation: chattest.AtAlice,
		Owner: chattest.Alice, Origin: key}, asked)
	assert.Equal(t, []string{w.Word(i18n.Started, i18n.Args{"Name": "api-2", "Dir": "~/my code"})}, w.Telegram.Texts())
	r, ok := w.CurrentSession(chattest.AtAlice, 0)
	assert.True(t, ok)
	assert.Equal(t, "api-2", r.Name)
}

func TestNewSessionOutsideRootsStartsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Roots = []string{"/srv", "/opt"}
	w.MustHear(t, "/new api /etc/x")
	assert.Equal(t, []string{w.Word(i18n.PathNotAllowed, i18n.Args{"Path": "/etc/x", "Roots": "/srv, /opt"})}, w.Telegram.Texts())
	assert.Empty(t, w.Lifecycle.Done())
}

// An unreported failure is an error, so that the update comes again.
func TestP4_UnreportedFailureIsRetried(t *testing.T) {
	for _, text := range []string{"/new", "/resume old", "/stop api", "/kill api", "/list", "/help", "/resume"} {
		t.Run(text, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Session(t, "api", session.Running)
			w.Session(t, "old", session.Archived)
			w.Telegram.OnPost = chattest.Refuse
			w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return session.Record{}, errors.New("no") }
			w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return session.Record{}, errors.New("no") }
			w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, view.ErrNoAgent }
			_, err := w.Hear(t, text)
			assert.ErrorIs(t, err, chattest.ErrDisk)
		})
	}
}

func TestStartFailuresHaveSentences(t *testing.T) {
	dir := func(why lifecycle.DirFault) error { return &lifecycle.DirError{Dir: "/home/alice/x", Why: why} }
	path := func(w *chattest.World, key i18n.Key, reason string) string {
		return w.Word(key, i18n.Args{"Path": "~/x", "Reason": reason})
	}
	for _, tt := range []struct {
		name string
		err  error
		want func(w *chattest.World) string
	}{
		{"missing", dir(lifecycle.DirMissing), func(w *chattest.World) string { return path(w, i18n.PathMissing, "") }},
		{"not a folder", dir(lifecycle.DirNotADir), func(w *chattest.World) string { return path(w, i18n.PathNotDir, "") }},
		{"no access", dir(lifecycle.DirNoAccess), func(w *chattest.World) string { return path(w, i18n.PathUnreadable, "no permission") }},
		{"a fault of a later day", dir("on fire"), func(w *chattest.World) string { return path(w, i18n.PathUnreadable, "on fire") }},
		{"no tmux", tmux.ErrNoTmux, func(w *chattest.World) string { return w.Word(i18n.TmuxMissing) }},
		{"no claude", claudecode.ErrNotInstalled, func(w *chattest.World) string {
			return w.Word(i18n.AgentMissing, i18n.Args{"Command": "claude", "Agent": "Claude Code", "Setting": "CLAUDE_COMMAND"})
		}},
		{"tmux did not answer", tmux.ErrLost, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
		{"anything else", chattest.ErrDisk, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
		{"a sentence of a session", tmux.ErrNoPane, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
		{"a state", &lifecycle.StateError{State: session.Archived}, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			assert.Equal(t, tt.want(w), w.StartFailure(chattest.Deep(tt.err)).Text.Text)
			w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return session.Record{}, chattest.Deep(tt.err) }
			w.MustHear(t, "/new x")
			assert.Equal(t, []string{tt.want(w)}, w.Telegram.Texts())
			current := w.Chats.Current(chattest.AtAlice)
			assert.Zero(t, current, "what did not start is not current")
		})
	}
}

func TestMissingAgentIsNamedAsConfigured(t *testing.T) {
	w := chattest.NewWorld(t)
	err := &refusal.Error{Code: refusal.NotInstalled, Command: "/opt/none/toy", Agent: "Toy", Setting: "TOY_COMMAND", Err: claudecode.ErrNotInstalled}
	assert.Equal(t, w.Word(i18n.AgentMissing, i18n.Args{"Command": "/opt/none/toy", "Agent": "Toy", "Setting": "TOY_COMMAND"}), w.StartFailure(err).Text.Text)
}

// The roots may have been drawn tighter since the session was started.
func TestRestoreOutsideRootsStartsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Roots = []string{"/srv"}
	r := w.Session(t, "old", session.Archived)
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		t.Error("it was restored")
		return r, nil
	}
	w.MustHear(t, "/resume old")
	assert.Equal(t, []string{w.Word(i18n.PathNotAllowed, i18n.Args{"Path": "~/old", "Roots": "/srv"})}, w.Telegram.Texts())
}

func TestRestoreFailuresHaveSentences(t *testing.T) {
	name := func(key i18n.Key) func(w *chattest.World) string {
		return func(w *chattest.World) string { return w.Word(key, i18n.Args{"Name": "old", "Dir": "~/old"}) }
	}
	for _, tt := range []struct {
		name string
		err  error
		want func(w *chattest.World) string
	}{
		{"the folder is gone", &lifecycle.DirError{Dir: "/home/alice/old", Why: lifecycle.DirMissing}, name(i18n.DirGone)},
		{"the folder is a file", &lifecycle.DirError{Dir: "/home/alice/old", Why: lifecycle.DirNotADir}, name(i18n.DirNotADir)},
		{"it is just ending", &lifecycle.StateError{State: session.Stopping, Want: "resumed"}, name(i18n.StillEnding)},
		{"it was purged", session.ErrNotFound, name(i18n.NoSuchSession)},
		{"nothing was left", &lifecycle.TranscriptError{Nothing: true}, name(i18n.TranscriptEmpty)},
		{"nobody sees who writes", evidence.ErrUnreadable, name(i18n.NoEvidence)},
		{"it is open", &lifecycle.StateError{State: session.Running, Want: "resumed"},
			func(w *chattest.World) string { return w.Named(i18n.ResumeAlreadyOpen, "old") }},
		{"it was over", &lifecycle.StateError{State: session.Archived, Want: "resumed"}, name(i18n.AlreadyEnded)},
		{"no claude", claudecode.ErrNotInstalled,
			func(w *chattest.World) string {
				return w.Word(i18n.AgentMissing, i18n.Args{"Command": "claude", "Agent": "Claude Code", "Setting": "CLAUDE_COMMAND"})
			}},
		{"anything else", chattest.ErrDisk, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Session(t, "old", session.Archived)
			w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return session.Record{}, chattest.Deep(tt.err) }
			w.MustHear(t, "/resume old")
			assert.Equal(t, []string{tt.want(w)}, w.Telegram.Texts())
		})
	}
}

// /stop ends a turn. What the agent has in the background continues, which is reported, also without a turn.
func TestStopNamesWhatGoesOn(t *testing.T) {
	const goesOn = "Still running: %s. /stop does not end that. Ask api to end it, or end all of it with /kill."
	const done = "api is interrupted. Tell it what to do instead."
	for _, tt := range []struct {
		name     string
		look     view.Status
		reported bool
		err      error
		want     string
	}{
		{"beside a turn", view.Status{Agents: 2}, false, nil, done + "\n" + fmt.Sprintf(goesOn, "2 agents in the background")},
		{"others told of the turn", view.Status{Agents: 1}, true, nil, fmt.Sprintf(goesOn, "1 agent in the background")},
		{"no turn runs", view.Status{Agents: 1}, false, typing.ErrIdle, fmt.Sprintf(goesOn, "1 agent in the background")},
		{"a command, and no turn runs", view.Status{Background: true, Commands: 1}, false, typing.ErrIdle, fmt.Sprintf(goesOn, "1 background command")},
		{"commands and an agent", view.Status{Background: true, Commands: 2, Agents: 1}, false, typing.ErrIdle,
			fmt.Sprintf(goesOn, "1 agent in the background, 2 background commands")},
		{"nobody knows of commands", view.Status{Background: true}, false, typing.ErrIdle, "api is idle; there is nothing to stop."},
		{"a schedule does not run", view.Status{Schedules: 1}, false, typing.ErrIdle, "api is idle; there is nothing to stop."},
		{"none runs on", view.Status{}, true, nil, ""},
		{"it cannot be stopped", view.Status{Agents: 1}, false, typing.ErrAsks, "api is waiting for an answer, and Esc would be one. Use the buttons of its question."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return tt.reported, tt.err }
			w.Lifecycle.OnLook = tt.look
			w.MustHear(t, "/stop")
			assert.Equal(t, tt.want, strings.Join(w.Telegram.Texts(), "\n"))
		})
	}
}

func TestAgentFailuresHaveSentences(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want func(w *chattest.World) string
	}{
		{"no agent", view.ErrNoAgent, func(w *chattest.World) string { return w.Named(i18n.AlreadyEnded, "api") }},
		{"no pane", tmux.ErrNoPane, func(w *chattest.World) string { return w.Named(i18n.AlreadyEnded, "api") }},
		{"a guard that found no pane", &tmux.GuardError{}, func(w *chattest.World) string { return w.Named(i18n.AlreadyEnded, "api") }},
		{"a guard", &tmux.GuardError{Want: "a", Got: "b"}, func(w *chattest.World) string {
			return w.Word(i18n.StopRefused, i18n.Args{"Name": "api", "Command": "tmux attach -t api"})
		}},
		{"it is over", &lifecycle.StateError{State: session.Archived}, func(w *chattest.World) string { return w.Named(i18n.AlreadyEnded, "api") }},
		{"nobody sees who writes", evidence.ErrUnreadable, func(w *chattest.World) string { return w.Word(i18n.NoEvidence) }},
		{"a dialog", typing.ErrAsks, func(w *chattest.World) string { return w.Named(i18n.StopAsks, "api") }},
		{"it works on", typing.ErrStillWorks, func(w *chattest.World) string { return w.Named(i18n.StopStillWorks, "api") }},
		{"it works on again", typing.ErrWorksOn, func(w *chattest.World) string { return w.Named(i18n.StopWorksOn, "api") }},
		{"nobody else tells", nil, func(w *chattest.World) string { return w.Named(i18n.StopDone, "api") }},
		{"nothing to stop", typing.ErrIdle, func(w *chattest.World) string { return w.Named(i18n.StopNothing, "api") }},
		{"anything else", chattest.ErrDisk, func(w *chattest.World) string { return w.Word(i18n.InternalError) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) {
				if tt.err == nil {
					return false, nil
				}
				return false, chattest.Deep(tt.err)
			}
			w.MustHear(t, "/stop")
			assert.Equal(t, []string{"interrupt " + r.ID.String()}, w.Lifecycle.Done())
			assert.Equal(t, []string{tt.want(w)}, w.Telegram.Texts())
		})
	}
}

func TestStopIsMarkedOnItsMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/stop")
	assert.Equal(t, []string{"react 👌 to 1001 in 7"}, w.Telegram.Done())
}

func TestFind(t *testing.T) {
	anySession := func(port.Session) bool { return true }
	w := chattest.NewWorld(t)
	first := w.Session(t, "api", session.Archived)
	second := w.Session(t, "api", session.Running)
	w.Session(t, "api", session.Archived)
	current := w.NewCurrentSession(t, "web site", session.Running)
	for _, tt := range []struct {
		name, arg string
		fits      func(port.Session) bool
		want      session.Record
	}{
		{"none: the current one", "", chattest.Live, current},
		{"the current one does not fit", "", chattest.Resumable, session.Record{}},
		{"a name", "web site", chattest.Live, current},
		{"two of one name", "api", chattest.Resumable, session.Record{}},
		{"an open one before those of its name that are over", "api", anySession, second},
		{"the only one that fits", "api", chattest.Live, second},
		{"an id", first.ID.String(), chattest.Resumable, first},
		{"the end of an id", naming.ShortID(first.ID), chattest.Resumable, first},
		{"too little of an id", first.ID.String()[33:], chattest.Resumable, session.Record{}},
		{"the beginning of a name", "we", chattest.Live, current},
		{"what is over, where nothing fits", "w", chattest.Resumable, session.Record{}},
		{"another case, as phones write it", "API", chattest.Live, second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := w.Find(chattest.AtAlice, 0, tt.arg, tt.fits)
			found = slices.DeleteFunc(found, func(r port.Session) bool { return !tt.fits(r) })
			assert.Equal(t, tt.want.ID != uuid.Nil, len(found) == 1)
			if len(found) == 1 {
				assert.Equal(t, tt.want.ID, found[0].ID)
			}
		})
	}
}

func TestMissingSessionIsReported(t *testing.T) {
	for _, command := range []string{"/stop", "/kill", "/done", "/resume"} {
		w := chattest.NewWorld(t)
		w.MustHear(t, command+" none such")
		assert.Equal(t, []string{w.Named(i18n.NoSuchSession, "none such")}, w.Telegram.Texts(), command)
		assert.Empty(t, w.Lifecycle.Done())
	}
	for _, command := range []string{"/stop", "/kill", "/done"} {
		w := chattest.NewWorld(t)
		w.MustHear(t, command)
		assert.Equal(t, []string{w.Word(i18n.NoSession)}, w.Telegram.Texts(), command)
	}
}

func TestListText(t *testing.T) {
	w := chattest.NewWorld(t)
	text, buttons := w.ListText(t, chattest.AtAlice)
	assert.Equal(t, w.Word(i18n.ListEmpty), text.Text)
	assert.Empty(t, buttons)

	w.Lifecycle.OnLook.Phase = talk.PhaseWorking
	api := w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Starting)
	stuck := w.Session(t, "stuck", session.CleanupFailed)
	for _, s := range []session.State{session.Archived, session.Lost, session.Completed, session.Failed, session.Abandoned, session.Archived} {
		w.Session(t, "old", s)
	}
	crashed := w.Session(t, "old", session.Completed)
	w.Records.Change(crashed.ID, func(r *session.Record) { r.Exit = &session.Exit{Known: true, Status: 1} })
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, web.ID))
	var shown []chattest.Spot
	marked := func(mark string) string { return strings.TrimPrefix(mark+" ", "• ") }
	list := func(to session.Conversation, marks ...string) {
		text, buttons := w.ListText(t, to)
		assert.Equal(t, chattest.Lines(w.Word(i18n.ListTitle, i18n.Args{"Count": 3}),
			"⏳ "+marked(marks[0])+"api · working", "~/api", "⏳ "+marked(marks[1])+"web · starting", "~/web", "⚠ stuck · not fully ended", "~/stuck",
			"", "Ended: 2 archived, 1 done, 1 crashed, 1 lost, 1 not started, 1 unreachable. Resume one with /resume."), text.Text)
		m := outbox.Message{To: chattest.AtAlice, Buttons: buttons}
		assert.Equal(t, []string{strings.TrimPrefix(marks[0]+" api ⏳", "• "), strings.TrimPrefix(marks[1]+" web", "• "),
			w.Word(i18n.ButtonRetry) + ": stuck"}, chattest.Words(m))
		shown = chattest.Spots(m)
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
	list(chattest.AtAlice, "✓", "•", "•")
	show := func(at session.Conversation) {
		for _, r := range []session.Record{api, web, stuck} {
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = at })
		}
	}
	show(chattest.InGroup)
	list(chattest.InGroup, "•", "✓", "•")
	show(api.Conversation)
	list(session.Conversation{ChatID: chattest.Bob}, "•", "•", "•")
	for i, r := range []session.Record{api, web, api} {
		_, buttons := w.ListText(t, chattest.AtAlice)
		shown = chattest.Spots(outbox.Message{To: chattest.AtAlice, Buttons: buttons})
		require.NoError(t, w.TapSpot(t, chattest.Alice, shown[i%2]))
		w.CurrentIs(t, r.ID)
	}
	w.Lifecycle.Forget()
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(w.Telegram.LastEdit(t))[2]))
	assert.Equal(t, []string{"archive " + stuck.ID.String() + " as archived"}, w.Lifecycle.Done())
}

// now returns the look of an agent with this activity; after is its end from the start of the
// test's world. 0: never.
func now(p talk.Phase, what string, after time.Duration) view.Status {
	l := view.Status{Phase: talk.PhaseIdle, Now: talk.Activity{Phase: p, What: what}}
	if after > 0 {
		l.Now.Until = chattest.Started.Add(after)
	}
	return l
}

func TestListShowsAttachedPeople(t *testing.T) {
	for _, tt := range []struct {
		name string
		look view.Status
		want string
	}{
		{"nobody knows", view.Status{}, "state unknown"},
		{"nobody there", view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached}, "idle"},
		{"attached", view.Status{Phase: talk.PhaseWorking, Attachment: view.Attached}, "working · open in a terminal"},
		{"typing", view.Status{Phase: talk.PhaseIdle, Attachment: view.PersonTyping}, "idle · someone is typing in it"},
		{"in the background", view.Status{Phase: talk.PhaseIdle, Attachment: view.PersonTyping, Background: true},
			"idle · someone is typing in it · background commands running"},
		{"only that", view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached, Background: true}, "idle · background commands running"},
		{"a command", view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached, Background: true, Commands: 1}, "idle · 1 background command"},
		{"commands and an agent", view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached, Background: true, Commands: 2, Agents: 1},
			"idle · 1 agent in the background · 2 background commands"},
		{"at work that says nothing new", view.Status{Phase: talk.PhaseWorking, Background: true}, "working"},
		{"a subagent's permission", now(talk.PhaseWaitingPermission, "Bash", 0), "Bash"},
		{"a question", now(talk.PhaseWaitingAnswer, "AskUserQuestion", 0), "a question"},
		{"a plan", now(talk.PhaseWaitingPermission, "ExitPlanMode", 0), "a plan"},
		{"a dialog of the terminal", now(talk.PhaseWaitingPermission, "", 0), "needs you"},
		{"logged out", now(talk.PhaseLoggedOut, "Not logged in · Please run /login", 0), "logged out"},
		{"a limit", now(talk.PhaseLimited, "You've hit your limit", time.Hour), "limit reached until " + at(time.Hour)},
		{"a limit without an end", now(talk.PhaseLimited, "You've hit your limit", 0), "limit reached"},
		{"an error", now(talk.PhaseAPIError, "API Error: 400 mock.", 0), "API error: “400 mock”"},
		{"a request that is made again", now(talk.PhaseAPIError, "529 Over\u202eloaded", 3*time.Hour), "API error: “529 Over·loaded”, next try at " + at(3*time.Hour)},
		{"a request that is made again at a time that nobody says", now(talk.PhaseAPIError, "Reconnecting... 2/4", time.Nanosecond), "API error: “Reconnecting... 2/4”"},
		{"a hook", now(talk.PhaseBlocked, "not on Fridays", 0), "blocked by your hook: “not on Fridays”"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Lifecycle.OnLook = tt.look
			w.Session(t, "api", session.Running)
			w.MustHear(t, "/list")
			assert.Contains(t, w.Telegram.Last(t).Text.Text, " api · "+tt.want+"\n~/api")
		})
	}
}

func TestP3_ListShowsCleanupFailure(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "stuck", session.CleanupFailed)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Cleanup = &session.CleanupError{Failures: []session.CleanupFailure{{Kind: "survived", PID: 5}, {Kind: "tmux", Detail: "x"}}}
	})
	w.MustHear(t, "/list")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "⚠ stuck · not fully ended (pid 5 still runs, even after KILL)\n~/stuck")
}

func TestListRetriesCleanup(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "stuck", session.CleanupFailed)
	w.MustHear(t, "/list")
	m := w.Telegram.Last(t)
	assert.Equal(t, "Retry: stuck", m.Buttons[0][0].Text)
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(m)[0]))
	assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.Lifecycle.Done())
	assert.Zero(t, w.Telegram.Spent, "the list keeps its buttons")

	w.Session(t, "worse", session.CleanupFailed)
	w.MustHear(t, "/list")
	row := w.Telegram.Last(t).Buttons[0]
	assert.Equal(t, []string{"Retry: stuck", "Retry: worse"}, []string{row[0].Text, row[1].Text})
}

func TestShort(t *testing.T) {
	w := chattest.NewWorld(t)
	for dir, want := range map[string]string{"/home/alice": "~", "/home/alice/x y": "~/x y", "/home/alicea": "/home/alicea",
		"/home": "/home", "/": "/", "": ""} {
		assert.Equal(t, want, w.Short(dir), dir)
	}
}

func TestLongListHasPages(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 100 {
		w.Session(t, fmt.Sprintf("%s-%02d", strings.Repeat("long", 20), n), session.Starting)
	}
	w.MustHear(t, "/list")
	m := w.Telegram.Last(t)
	assert.Contains(t, chattest.Words(m), "→")
	next := tapped(t, w, m, "→")
	assert.Contains(t, chattest.Words(next), "←")
	for _, m := range []outbox.Message{m, next} {
		assert.LessOrEqual(t, m.Text.Length(), 4096)
	}
	assert.NotEqual(t, m.Text.Text, next.Text.Text)
}

// A new person gets three lines with the ways to begin.
func TestStartIsThreeLines(t *testing.T) {
	for _, lang := range i18n.Languages() {
		w := chattest.NewWorld(t)
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = lang }))
		w.MustHear(t, "/start")
		m := w.Telegram.Last(t)
		assert.Len(t, strings.Split(m.Text.Text, "\n"), 3, lang)
		assert.Equal(t, w.WordsOf(i18n.ButtonOtherFolder, i18n.ButtonHow), chattest.Words(m))
		assert.NotEmpty(t, tapped(t, w, m, w.Word(i18n.ButtonHow)).Buttons)
	}
}

// The lines of the list and its buttons have one order: what asks, what works, what has said
// something, and the rest.
func TestListLinesAndButtonsShareOrder(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.Doing = map[uuid.UUID]view.Status{}
	add := func(name string, l view.Status) session.Record {
		r := w.Session(t, name, session.Running)
		w.Lifecycle.Doing[r.ID] = l
		return r
	}
	idle, works, asks := view.Status{Phase: talk.PhaseIdle}, view.Status{Phase: talk.PhaseWorking}, view.Status{Phase: talk.PhaseWaitingPermission}
	add("idle1", idle)
	add("works1", works)
	unread := add("unread", idle)
	add("asks1", asks)
	add("idle2", idle)
	add("works2", works)
	add("asks2", asks)
	require.NoError(t, w.Chats.NoteNoticed(chattest.AtAlice, unread.ID, talk.Cursor{Path: "t"}))
	text, rows := w.ListText(t, chattest.AtAlice)
	want := []string{"asks1", "asks2", "works1", "works2", "unread", "idle1", "idle2"}
	inOrder := func(parts []string) (names []string) {
		for _, part := range parts {
			for _, word := range strings.Fields(part) {
				if slices.Contains(want, word) {
					names = append(names, word)
				}
			}
		}
		return names
	}
	assert.Equal(t, want, inOrder(strings.Split(text.Text, "\n")))
	assert.Equal(t, want, inOrder(chattest.Words(outbox.Message{Buttons: rows})))
}

func TestHelpAndMenu(t *testing.T) {
	w := chattest.NewWorld(t)
	manual, err := os.ReadFile("../docs/manual.md")
	require.NoError(t, err)
	help := helpPages(t, w)
	for _, published := range w.Menus() {
		assert.NotEmpty(t, published.Commands)
		for _, c := range published.Commands {
			assert.Contains(t, help, "/"+c.Name, "the help names it")
			assert.True(t, strings.Contains(string(manual), "`/"+c.Name), "docs/manual.md has a row of /%s", c.Name)
			assert.NotContains(t, c.Text, "menu_")
			assert.LessOrEqual(t, len(c.Text), 256, "Telegram's limit")
			assert.NotEqual(t, "start", c.Name)
		}
	}
}

// TestCommandsAreListedOnceNeeded: the menu has the commands of loops, schedules and several bots
// once there are any, and those of several bots in groups alone. The help always leads to a first loop.
func TestCommandsAreListedOnceNeeded(t *testing.T) {
	w := chattest.NewWorld(t)
	listed := func(groups bool) (names []string) {
		for _, published := range w.Menus() {
			for _, c := range published.Commands {
				if published.Groups == groups && published.Lang == "" {
					names = append(names, c.Name)
				}
			}
		}
		return names
	}
	loops, schedules, bots := []string{"loop", "loops"}, []string{"at", "every", "schedules"}, []string{"here", "default"}
	before := listed(true)
	for _, name := range slices.Concat(loops, schedules, bots) {
		assert.NotContains(t, before, name)
	}
	assert.Subset(t, before, []string{"new", "list"})
	help := helpPages(t, w)
	for _, name := range []string{"/loop ", "/at ", "/every "} {
		assert.Contains(t, help, name)
	}
	assert.NotContains(t, help, "/here")

	r := w.NewCurrentSession(t, "api", session.Running)
	w.Loops(t, r, port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopPaused, Reason: port.WhyNoProgress}, true)
	w.Work(t)
	assert.Subset(t, listed(false), loops)
	w.MustHear(t, "/every weekday 09:00 look")
	assert.Subset(t, listed(false), schedules)
	require.NoError(t, w.Chats.NoteOthers(chattest.Ours, 1))
	assert.Subset(t, listed(true), bots)
	assert.NotContains(t, listed(false), "here")
	assert.Contains(t, helpPages(t, w), "/here")
}

func TestAge(t *testing.T) {
	w := chattest.NewWorld(t)
	for d, want := range map[time.Duration]string{-time.Hour: "0 s", 0: "0 s", time.Second: "1 s",
		59 * time.Second: "59 s", time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 23 * time.Hour: "23 h", 24 * time.Hour: "1 d", 240 * time.Hour: "10 d"} {
		assert.Equal(t, want, w.In(chattest.AtAlice).Age(d))
	}
}

// A path below a file is a mistake of the person, not of the machine.
func TestPathBelowFileIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := lifecycle.CheckDir(filepath.Join(file, "below"))
	require.Error(t, err)
	w := chattest.NewWorld(t)
	assert.NotEqual(t, w.Word(i18n.InternalError), w.StartFailure(err).Text.Text)
}

func TestFurtherPossibleWritersAreCounted(t *testing.T) {
	w := chattest.NewWorld(t)
	many := make([]port.Writer, chat.MaxListed+3)
	text := w.In(chattest.AtAlice).Failure(port.Session{}, &refusal.Error{Code: refusal.Writers, Writers: many}).Text.Text
	assert.Equal(t, chat.MaxListed+1, strings.Count(text, "• "), "those and the rest")
	assert.Contains(t, text, w.Word(i18n.AndMore, i18n.Args{"Count": 3}))
}
