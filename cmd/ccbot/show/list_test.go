package show

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/port"
	"ccbot/port/talk"
)

func alive(process.Identity) process.Liveness { return process.Alive }

// TestListingIsTheRegistry is the whole JSON of one session.
func TestListingIsTheRegistry(t *testing.T) {
	r := sessiontest.Full()
	data, err := json.Marshal(SessionOf(r, alive))
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"`+r.ID.String()+`","name":"api","dir":"/src/api","host":"box","agent":"claude","state":"running",
		"phase":"waiting_permission","phase_at":"2026-03-04T12:01:00Z","claude_session_id":"`+r.AgentSessionID.String()+`",
		"created_at":"2026-03-04T12:00:09Z","updated_at":"2026-03-04T12:00:09Z","started_at":"2026-03-04T12:00:00Z","last_turn_at":"2026-03-04T12:00:00Z","turns":7,
		"model":"Opus 5.5","context_percent":41.6,"cost_usd":3.5,
		"tokens":{"input":1,"cache_creation":2,"cache_read":3,"output":4},"partly_counted":true,
		"git":{"root":"/src","branch":"main","head":"abc","dirty":true,"at":"2026-03-04T12:00:00Z"},
		"tasks":{"done":1,"total":2},"pid":4711,"alive":"alive","window":"@21","held_prompts":2,
		"closed_reason":"reboot"}`, string(data))
}

// Unknown values are omitted: a zero would be a claim.
func TestListingClaimsNothing(t *testing.T) {
	r := sessiontest.Over(1, "web", func(r *session.Record) { r.Usage = &port.Usage{Context: -1} })
	l := SessionOf(r, alive)
	assert.Nil(t, l.Context)
	data, err := json.Marshal(l)
	require.NoError(t, err)
	for _, absent := range []string{"pid", "alive", "window", "context_percent", "git", "phase", "closed_reason", "took_over_from"} {
		assert.NotContains(t, string(data), `"`+absent+`"`)
	}
}

// A lost session was last seen at its last activity, not when the loss was noticed.
func TestListShowsLastActivity(t *testing.T) {
	for state, want := range map[session.State]time.Time{session.Lost: sessiontest.Noon.Add(time.Minute), session.Archived: sessiontest.Noon.Add(time.Hour)} {
		r := session.Record{State: state, CreatedAt: sessiontest.Noon, Run: session.Run{PhaseAt: sessiontest.Noon.Add(time.Minute)}, LastEnd: session.LastEnd{EndedAt: sessiontest.Noon.Add(time.Hour)}}
		assert.Equal(t, want, lastSeen(SessionOf(r, alive)), string(state))
	}
}

// TestP6_AliveIsWhatTheKernelSays includes an unknown answer.
func TestP6_AliveIsWhatTheKernelSays(t *testing.T) {
	for _, is := range []process.Liveness{process.Alive, process.Gone, process.Unknown} {
		l := SessionOf(sessiontest.Full(), func(id process.Identity) process.Liveness {
			assert.Equal(t, sessiontest.Full().Binding.Agent, id)
			return is
		})
		assert.Equal(t, is.String(), l.Alive)
	}
}

// A list with several agents names those that are not the default one.
func TestListNamesAgent(t *testing.T) {
	claude, codex := sessiontest.Over(4, "mine"), sessiontest.Over(5, "cx", func(r *session.Record) { r.AgentName = "codex" })
	rows := []Session{SessionOf(claude, alive), SessionOf(codex, alive)}
	assert.Equal(t, []string{"claude", "codex"}, []string{rows[0].Agent, rows[1].Agent})
	var out strings.Builder
	printList(&terminal.Printer{Out: &out}, rows, sessiontest.Noon.Add(49*time.Hour), "/home/me")
	assert.Regexp(t, `(?m)^mine +00000004  archived +2d ago`, out.String())
	assert.Regexp(t, `(?m)^cx +00000005  archived · codex +2d ago`, out.String())
}

func TestListFitsATerminal(t *testing.T) {
	long := sessiontest.Full()
	long.Name, long.Dir = strings.Repeat("東京", 20), "/home/me/"+strings.Repeat("very/", 30)+"deep"
	long.State, long.Usage.Context = session.CleanupFailed, 100
	long.Launch = &session.Launch{PermissionMode: "ask"}
	for range 200 {
		long.Progress.Tasks = append(long.Progress.Tasks, port.Task{Status: "completed"})
	}
	evil := sessiontest.Over(3, "a\x1b[31m\nb")
	mine := sessiontest.Over(4, "mine", func(r *session.Record) { r.Dir = "/home/me/src" })
	var rows []Session
	for _, r := range []session.Record{long, evil, mine} {
		rows = append(rows, SessionOf(r, alive))
	}
	rows[0].Memory = 412 << 20
	var out strings.Builder
	printList(&terminal.Printer{Out: &out}, rows, sessiontest.Noon.Add(49*time.Hour), "/home/me")
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 4, "one line each")
	for _, line := range lines {
		assert.LessOrEqual(t, ansi.StringWidth(line), listWidth, line)
		assert.NotContains(t, line, "\x1b")
	}
	assert.Regexp(t, `^NAME +ID +STATE +SEEN +MODE +COST +CTX +MEM +TASKS +DIR$`, lines[0])
	assert.Regexp(t, `^東京.*…  00000009  cleanup_failed +2d ago +ask +\$\d+\.\d\d +100% +432 MB +201/202  ….*deep$`, lines[1])
	assert.Regexp(t, `^mine +00000004  archived +2d ago +- +- +- +- +- +~/src$`, lines[3])
}

// A session whose agent crashed is not called completed.
func TestListSaysThatASessionCrashed(t *testing.T) {
	crashed := sessiontest.Over(1, "api", func(r *session.Record) {
		r.State, r.Exit = session.Completed, &session.Exit{Known: true, Status: 3}
	})
	clean := sessiontest.Over(2, "web", func(r *session.Record) { r.State, r.Exit = session.Completed, &session.Exit{Known: true} })
	for _, l := range []struct {
		session.Record
		want string
	}{{crashed, "crashed"}, {clean, "completed"}} {
		assert.Equal(t, l.want, stateText(SessionOf(l.Record, alive)))
	}
}

// TestListSaysWhatTheAgentDoes of a session that runs; its state says the rest.
func TestListSaysWhatTheAgentDoes(t *testing.T) {
	tests := []struct {
		name, phase, alive string
		state              session.State
		want               string
	}{
		{"idle", "idle", "alive", session.Running, "idle"},
		{"working", "working", "alive", session.Running, "working"},
		{"a permission", "waiting_permission", "alive", session.Running, "waiting for an answer"},
		{"a question", "waiting_answer", "alive", session.Running, "asks a question"},
		{"nobody has seen it", "unknown", "alive", session.Running, "running"},
		{"nobody has looked yet", "", "alive", session.Running, "running"},
		{"its agent is gone", "idle", "gone", session.Running, "running, agent gone"},
		{"nobody knows", "idle", "unknown", session.Restoring, "restoring, agent unknown"},
		{"what it did before its restore counts no more", "working", "", session.Restoring, "restoring"},
		{"what it did before its end counts no more", "working", "gone", session.Archived, "archived"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := stateText(Session{State: tt.state, Phase: tt.phase, Alive: tt.alive})
			assert.Equal(t, tt.want, text)
			assert.LessOrEqual(t, len(text), 24, "it is not cut")
		})
	}
}

// TestListShowsReasonOfWait: with one word more than the phase where more is known.
func TestListShowsReasonOfWait(t *testing.T) {
	end := time.Now().Add(time.Hour)
	clock := end.Local().Format("15:04")
	for _, tt := range []struct {
		want string
		now  talk.Activity
	}{
		{"asks permission: Bash", talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		{"asks about a plan", talk.Activity{Phase: talk.PhaseWaitingPermission, What: "ExitPlanMode"}},
		{"asks a question", talk.Activity{Phase: talk.PhaseWaitingAnswer, What: "AskUserQuestion"}},
		{"logged out", talk.Activity{Phase: talk.PhaseLoggedOut, What: "Not logged in"}},
		{"limit reached until " + clock, talk.Activity{Phase: talk.PhaseLimited, Until: end}},
		{"limit reached", talk.Activity{Phase: talk.PhaseLimited}},
		{"idle", talk.Activity{Phase: talk.PhaseLimited, Until: time.Now().Add(-time.Hour)}},
		{"API error", talk.Activity{Phase: talk.PhaseAPIError, What: "400"}},
		{"API error, again " + clock, talk.Activity{Phase: talk.PhaseAPIError, What: "529", Until: end}},
		{"blocked by your hook", talk.Activity{Phase: talk.PhaseBlocked, What: "no"}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			r := session.Record{State: session.Running, Run: session.Run{Phase: string(tt.now.Phase), PhaseWhat: tt.now.What, PhaseUntil: tt.now.Until}}
			text := stateText(SessionOf(r, alive))
			assert.Equal(t, tt.want, text)
			assert.LessOrEqual(t, len(text), 26, "it is not cut")
		})
	}
}

// A lost session differs from the one that continues its conversation.
func TestListTellsTwinsApart(t *testing.T) {
	for closed, want := range map[string]string{"": "lost", session.ClosedReboot: "lost, reboot",
		session.ClosedTmux: "lost, tmux ended", session.ClosedStale: "lost, stale", "of a later ccbot": "lost"} {
		assert.Equal(t, want, stateText(Session{State: session.Lost, Closed: closed}))
	}
	assert.Equal(t, "idle", stateText(Session{State: session.Running, Phase: "idle", Closed: session.ClosedReboot}))
	abandoned := stateText(Session{State: session.Abandoned, Closed: session.ClosedTmux})
	assert.LessOrEqual(t, len(abandoned), 24, "it is not cut")
}

// Missing facts of git are reported as missing.
func TestStatusSaysWhatGitDoesNot(t *testing.T) {
	start := &git.State{Head: "0123456789"}
	for _, tt := range []struct {
		d    Details
		want string
	}{
		{Details{Repository: "unknown"}, "did not answer"},
		{Details{Repository: "yes", Session: Session{Git: &git.State{}}}, "no branch is checked out; the commit at the start is not known"},
		{Details{Repository: "yes", Start: start, Session: Session{Git: &git.State{Branch: "x"}}},
			"branch x; the changes since the start (01234567) are not known"},
	} {
		assert.Equal(t, tt.want, tt.d.gitText())
	}
}
