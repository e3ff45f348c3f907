package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/archive"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/git"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// known returns a session whose facts are all known.
func known(t *testing.T, w *chattest.World) session.Record {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	first := w.Prompt(t, r, "run the tests\nonce more", inbox.Held)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Phase, r.PhaseAt = "working", chattest.Started.Add(2*time.Hour-3*time.Minute)
		r.Prompts = []string{first.Key}
		r.Binding = &session.Binding{Window: "@3", Agent: process.Identity{PID: 30}}
		r.Launch = &session.Launch{PermissionMode: "ask", Flags: []string{"--model", "opus"}}
		r.GitStart = &git.State{Head: strings.Repeat("ab", 20)}
		r.Progress = history.Progress{Model: "claude-opus-5", PermissionMode: "acceptEdits", Turns: 4, From: 1,
			Tokens: port.Tokens{Input: 600, CacheCreation: 350, CacheRead: 1_240_000, Output: 33_600},
			Tasks: []port.Task{{Text: "find the failing test", Status: "completed"}, {Text: "mend it", Status: "in_progress"},
				{Text: "write\nit down", Status: "pending"}}}
		r.History = []session.Change{{At: chattest.Started, To: session.Starting, Rule: "start", Why: "asked for"},
			{At: chattest.Started.Add(time.Minute), From: session.Starting, To: session.Running, Rule: "ready", Why: "ready"},
			{At: chattest.Started.Add(time.Hour), From: session.Running, To: session.Running, Why: "a note"}}
	})
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWorking, Attachment: view.PersonTyping,
		Usage: &port.Usage{Model: "Opus 5.5", Context: 41.6, Cost: 3.504}}
	w.Lifecycle.Processes = []int{30, 31}
	w.Hosted.Memory = func(_ context.Context, pids ...int) uint64 {
		assert.Equal(t, []int{30, 31}, pids)
		return 412<<20 + 1
	}
	w.Hosted.Git = func(_ context.Context, dir, since string) (*git.State, *git.Changes, error) {
		assert.Equal(t, []string{r.Dir, strings.Repeat("ab", 20)}, []string{dir, since})
		return &git.State{Root: dir, Branch: "main"}, &git.Changes{Files: 5, Insertions: 120, Deletions: 34, Untracked: 2}, nil
	}
	w.Git.Since = map[folders.Since]folders.Changes{folders.SessionStart: {Branch: "main", Files: []folders.ChangedFile{
		{Path: "a.go", Kind: folders.Modified, Added: 120, Deleted: 34}, {Path: "new.go", Kind: folders.Untracked, Added: 7}}}}
	return w.Record(t, r.ID)
}

func at(d time.Duration) string { return chattest.Started.Add(d).Local().Format("15:04") }

// The memory of an agent's processes is read only to show it: /list and messages about a session
// omit it.
func TestMemoryIsReadOnlyForDisplay(t *testing.T) {
	w := chattest.NewWorld(t)
	known(t, w)
	reads := 0
	w.Hosted.Memory = func(context.Context, ...int) uint64 {
		reads++
		return 1 << 20
	}
	w.MustHear(t, "/list")
	w.MustHear(t, "/stop")
	assert.Positive(t, w.Lifecycle.Looked)
	assert.Zero(t, reads)
	w.MustHear(t, "/status")
	assert.Equal(t, 1, reads)
}

func TestStatusTellsAllThatIsKnown(t *testing.T) {
	w := chattest.NewWorld(t)
	r := known(t, w)
	beta := w.Session(t, "beta", session.Running)
	over := w.Session(t, "over", session.Archived)
	for _, id := range []uuid.UUID{beta.ID, over.ID} {
		w.Records.Change(id, func(other *session.Record) { other.Dir = r.Dir })
	}
	w.Lifecycle.OnWriters = func(id uuid.UUID) ([]evidence.Writer, error) {
		assert.Equal(t, r.ID, id)
		return []evidence.Writer{{Process: process.Process{Identity: process.Identity{PID: 31}, Args: []string{"claude"}}, Proven: true}}, nil
	}
	for _, asked := range []string{"/status", "/status api", "/status " + naming.ShortID(r.ID)} {
		w.MustHear(t, asked)
		m := w.Telegram.Last(t)
		assert.Equal(t, chattest.Lines(
			"api: working for 3 min, someone is typing in it",
			"~/api",
			"beta works in this folder, too.",
			"In a terminal: tmux attach -t api",
			"",
			"Model: Opus 5.5",
			"Permission mode: Accept edits",
			"4 turns, 42% of context, $3.50",
			"Tokens: 950 in, 1.2M from the cache, 34k out",
			"Turns, tokens and tasks are not counted from the beginning: the conversation is long.",
			"Memory: 432 MB",
			"Flags: --model opus",
			"",
			"Tasks: 1 of 3 done",
			"▸ mend it",
			"○ write·it down",
			"✓ find the failing test",
			"",
			"Git branch: main",
			"Since the session's start (abababab): 2 files changed, +127 −34 lines",
			"",
			"Also open elsewhere:",
			"• claude (pid 31)",
			"",
			"1 message in the queue:",
			"• run the tests once more",
			"",
			"Last events (all: /why api):",
			at(0)+" It was started.",
			at(time.Minute)+" It became ready for messages."), m.Text.Text, asked)
		assert.Equal(t, []string{w.Word(i18n.ButtonRename)}, labels(m), "its record is not for deleting")
		assert.Equal(t, r.ID, m.Session)
	}
}

// /status and /changes count the same files and lines.
func TestStatusCountsAsChanges(t *testing.T) {
	w := chattest.NewWorld(t)
	known(t, w)
	w.MustHear(t, "/status")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "2 files changed, +127 −34 lines")
	w.MustHear(t, "/changes")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "2 files, +127 −34")
}

// An unknown value is called unknown, and a missing one is omitted.
func TestStatusClaimsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustHear(t, "/status")
	assert.Equal(t, w.Word(i18n.NoSession), w.Telegram.Last(t).Text.Text)
	w.MustHear(t, "/status none such")
	assert.Equal(t, w.Named(i18n.NoSuchSession, "none such"), w.Telegram.Last(t).Text.Text)

	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Background: true}
	w.Records.Change(r.ID, func(r *session.Record) { r.Phase, r.PhaseAt = "working", chattest.Started })
	w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return nil, errors.New("no") }
	w.MustHear(t, "/status")
	assert.Equal(t, chattest.Lines("api: idle, background commands running", "~/api", "", "0 turns", "", "Git did not answer.", "",
		w.Word(i18n.StatusWritersUnknown)), w.Telegram.Last(t).Text.Text)

	w.Lifecycle.OnWriters = nil
	repository := &git.State{Root: r.Dir}
	for _, tt := range []struct {
		name    string
		start   string
		state   *git.State
		changes *git.Changes
		err     error
		want    []string
	}{
		{"no repository", "", nil, nil, nil, []string{"The folder is in no git repository."}},
		{"an older session", "", repository, nil, nil, []string{"Git: no branch is checked out.", w.Word(i18n.StatusNoStart)}},
		{"git is too slow", "0123456789", repository, nil, errors.New("late"),
			[]string{"Git: no branch is checked out.", "What has changed since the session's start (01234567) is not known."}},
		{"nothing has changed", "0123456789", repository, &git.Changes{}, nil,
			[]string{"Git: no branch is checked out.", "Nothing has changed since the session's start (01234567)."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.Records.Change(r.ID, func(r *session.Record) { r.GitStart = &git.State{Head: tt.start} })
			w.Hosted.Git = func(context.Context, string, string) (*git.State, *git.Changes, error) {
				return tt.state, tt.changes, nil
			}
			w.Git.Err = tt.err
			w.MustHear(t, "/status")
			_, said, _ := strings.Cut(w.Telegram.Last(t).Text.Text, "0 turns\n\n")
			assert.Equal(t, chattest.Lines(tt.want...), said)
		})
	}
}

// A permission mode has the name that /mode uses. Before the first prompt only a session that never
// asks has one.
func TestStatusNamesPermissionModeLikeMode(t *testing.T) {
	for _, tt := range []struct {
		name, launched, noted, want string
		inAuto                      bool
	}{
		{"noted", "ask", "default", "Permission mode: Manual\n", false},
		{"asks nobody", "bypass", "", "Permission mode: Bypass\n", false},
		{"began in auto mode instead", "bypass", "bypassPermissions", "Permission mode: Auto\n", true},
		{"switched since", "bypass", "plan", "Permission mode: Plan\n", false},
		{"a newer Claude Code's", "ask", "careful", "Permission mode: “careful”\n", false},
		{"not noted yet", "ask", "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			w.Records.Change(r.ID, func(r *session.Record) {
				r.Launch, r.Progress.PermissionMode = &session.Launch{PermissionMode: tt.launched}, tt.noted
				r.InAuto = tt.inAuto
			})
			w.MustHear(t, "/status")
			_, said, _ := strings.Cut(w.Telegram.Last(t).Text.Text, "~/api\n\n")
			said, _, _ = strings.Cut(said, "0 turns")
			assert.Equal(t, tt.want, said)
		})
	}
}

func TestStatusFitsOneMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	r := known(t, w)
	long := strings.Repeat("👩‍💻", 300)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.Name, r.Launch.Flags, r.Progress.PermissionMode = strings.Repeat("n", 48), []string{long}, long
		for range 100 {
			r.Progress.Tasks = append(r.Progress.Tasks, port.Task{Text: long})
			r.History = append(r.History, session.Change{Why: long})
			r.Prompts = append(r.Prompts, w.Prompt(t, *r, long, inbox.Held).Key)
		}
	})
	var writers []evidence.Writer
	for range 100 {
		writers = append(writers, evidence.Writer{Process: process.Process{Args: []string{long}}})
	}
	w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return writers, nil }
	w.MustHear(t, "/status")
	require.Len(t, w.Telegram.Texts(), 1)
	assert.Len(t, w.Telegram.Last(t).Text.Split(render.Limit), 1)
	for _, more := range []string{"and 91 more", "and 98 more", "and 94 more"} {
		assert.Contains(t, w.Telegram.Last(t).Text.Text, more)
	}
}

// The receipt of a new session names the sessions in its folder.
func TestSharedFolderIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	said := func(name string) string {
		w.MustHear(t, "/new "+name+" ~/src")
		return w.Telegram.Last(t).Text.Text
	}
	assert.NotContains(t, said("alpha"), "too.")
	assert.Contains(t, said("beta"), "\nalpha works in this folder, too.")
	assert.Contains(t, said("gamma"), " work in this folder, too.")
}

// asksToForget returns the question after [Delete record].
func asksToForget(t *testing.T, w *chattest.World, r session.Record) outbox.Message {
	t.Helper()
	w.MustHear(t, "/status "+r.Name)
	require.NoError(t, w.TapShown(t, chattest.Bob, w.Telegram.Last(t), i18n.ButtonForget))
	return w.Telegram.Last(t)
}

// Only the person who asked can confirm, and the reply names the remaining files.
func TestP9_RecordIsDeletedByConfirmingPerson(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived, talk.Cursor{Path: "/home/alice/.claude/projects/x/y.jsonl"})
	q := asksToForget(t, w, r)
	stays := "\nThe conversation's file is kept: ~/.claude/projects/x/y.jsonl"
	assert.Equal(t, w.Named(i18n.ForgetConfirm, "api")+stays, q.Text.Text)
	require.NoError(t, w.TapShown(t, chattest.Alice, q, i18n.ButtonForget))
	assert.Empty(t, w.Lifecycle.Done(), "only who asked may say so")
	require.NoError(t, w.TapShown(t, chattest.Bob, q, i18n.ButtonCancel))
	assert.Empty(t, w.Lifecycle.Done())

	q = asksToForget(t, w, r)
	w.Lifecycle.OnForget = func(id uuid.UUID) error { return w.Forget(t.Context(), id) } // as the program does
	require.NoError(t, w.TapShown(t, chattest.Bob, q, i18n.ButtonForget))
	assert.Equal(t, []string{"forget " + r.ID.String()}, w.Lifecycle.Done())
	said := w.Telegram.Last(t)
	assert.Equal(t, w.Named(i18n.Forgotten, "api")+stays, said.Text.Text)
	assert.Zero(t, said.Session, "there is no such session any more")
}

// TestP6_FailedCleanupIsDeletedOnlyIfNothingCanLive: while that is not proven, no button offers it, and an
// earlier one does nothing.
func TestP6_FailedCleanupIsDeletedOnlyIfNothingCanLive(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.CleanupFailed)
	w.MustHear(t, "/status api")
	assert.NotContains(t, chattest.Words(w.Telegram.Last(t)), w.Word(i18n.ButtonForget))
	w.Lifecycle.AllGone = map[uuid.UUID]bool{r.ID: true}
	early := asksToForget(t, w, r)
	w.Lifecycle.AllGone = nil
	require.NoError(t, w.TapShown(t, chattest.Bob, early, i18n.ButtonForget))
	assert.Empty(t, w.Lifecycle.Done())
	w.Lifecycle.AllGone = map[uuid.UUID]bool{r.ID: true}
	require.NoError(t, w.TapShown(t, chattest.Bob, asksToForget(t, w, r), i18n.ButtonForget))
	assert.Equal(t, []string{"forget " + r.ID.String()}, w.Lifecycle.Done())
}

// TestReopenedSessionIsNotDeleted, neither by an earlier button nor by a tap at the same time.
func TestReopenedSessionIsNotDeleted(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	q := asksToForget(t, w, r)
	w.Records.Change(r.ID, func(r *session.Record) { r.StartedAt = chattest.Started })
	require.NoError(t, w.TapShown(t, chattest.Bob, q, i18n.ButtonForget))
	q = asksToForget(t, w, r)
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
	require.NoError(t, w.TapShown(t, chattest.Bob, q, i18n.ButtonForget))
	assert.Empty(t, w.Lifecycle.Done())

	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
	q = asksToForget(t, w, r)
	w.Lifecycle.OnForget = func(uuid.UUID) error { return archive.ErrNotEnded }
	require.NoError(t, w.TapShown(t, chattest.Bob, q, i18n.ButtonForget))
	assert.Equal(t, w.Named(i18n.AlreadyOpen, "api"), w.Telegram.Last(t).Text.Text)
	_, there := w.Records.Get(r.ID)
	assert.True(t, there)
}

// TestMissingFolderIsReported under each prompt and in /status.
func TestMissingFolderIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	said := w.Word(i18n.FolderMissing, i18n.Args{"Name": "api", "Dir": w.In(chattest.AtAlice).Short(r.Dir)})
	w.MustHear(t, "fix it")
	assert.Empty(t, w.Telegram.Texts())
	w.Gone = map[string]bool{r.Dir: true}
	key := w.MustHear(t, "fix it")
	assert.Equal(t, []string{said}, w.Telegram.Texts())
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String(), "the agent may know what to do")
	w.MustHear(t, "/status")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, said)
}

// TestP6_UnknownFolderIsNotMissing: after a start of the chat the folder of a session on another
// machine is unknown until that machine answers.
func TestP6_UnknownFolderIsNotMissing(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Dir = "" })
	w.Gone = map[string]bool{"": true} // as the chat's own machine sees it
	w.MustHear(t, "fix it")
	assert.Empty(t, w.Telegram.Texts())
}
