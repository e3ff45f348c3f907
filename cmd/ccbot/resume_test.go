package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/refusal"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/host"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// TestWhyASessionDoesNotComeBack: in the chat's sentences, and with the chat where there is something to choose.
func TestWhyASessionDoesNotComeBack(t *testing.T) {
	d, err := openDesk([]string{"HOME=/", "CCBOT_DIR=" + stateWith(t, one(1, "api"))}, io.Discard)
	require.NoError(t, err)
	state := func(s session.State) error { return &lifecycle.StateError{State: s, Want: "resumed"} }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"open", state(session.Running), "api is already open. In a terminal: ccbot attach api"},
		{"being ended", state(session.Stopping), "api is still ending. Try again in a moment."},
		{"not clean", state(session.CleanupFailed), "api has not fully ended"},
		{"no folder", &lifecycle.DirError{Dir: "/src/api", Why: lifecycle.DirMissing},
			"choose another folder for api: /resume api PATH\nChoose in the chat: /resume api"},
		{"a writer", &lifecycle.WriterError{Writers: []evidence.Writer{{Process: process.Process{Identity: process.Identity{PID: 7}}, Proven: true}}}, "7"},
		{"damaged", &lifecycle.TranscriptError{Health: transcript.Health{Path: "/t.jsonl"}}, "\nChoose in the chat: /resume api"},
		{"nothing left", &lifecycle.TranscriptError{Nothing: true}, "\nChoose in the chat: /resume api"},
		{"no claude", lifecycle.ErrNoClaude, "Install Claude Code, or set CLAUDE_COMMAND to its path"},
		{"nobody knows", evidence.ErrUnreadable, "I cannot see which conversations are open"},
		{"forgotten", session.ErrNotFound, "There is no session api. ccbot list shows the open ones"},
		{"anything else", errors.New("x"), "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := notResumed(d.words, host.View(one(1, "api")), host.Desk{Records: d.store}.Refused(tt.err))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// moving are sessions whose conversation moves on at each resume.
type moving map[uuid.UUID]uuid.UUID

func (m moving) Restore(_ context.Context, q lifecycle.RestoreRequest) (back lifecycle.Restored, err error) {
	if to, ok := m[q.Session]; ok {
		return back, fmt.Errorf("restore: %w", &lifecycle.MovedError{To: to})
	}
	back.Record = one(0, "back", func(r *session.Record) { r.ID = q.Session })
	return back, nil
}

// TestP1_AResumeFollowsAConversationThatHasJustMoved, once: nobody goes round.
func TestP1_AResumeFollowsAConversationThatHasJustMoved(t *testing.T) {
	get := func(id uuid.UUID) (session.Record, bool) {
		return one(0, "next", func(r *session.Record) { r.ID, r.Dir = id, "/src/"+id.String() }), id != idOf(9)
	}
	tests := []struct {
		name  string
		moves moving
		roots []string
		want  uuid.UUID // who came back
		err   string    // or why nobody did
	}{
		{"it has not", moving{}, nil, idOf(1), ""},
		{"it has", moving{idOf(1): idOf(2)}, nil, idOf(2), ""},
		{"and once more", moving{idOf(1): idOf(2), idOf(2): idOf(3)}, nil, uuid.Nil, "session " + idOf(3).String() + " goes on"},
		{"in a ring", moving{idOf(1): idOf(2), idOf(2): idOf(1)}, nil, uuid.Nil, "session " + idOf(1).String() + " goes on"},
		{"to one that is forgotten", moving{idOf(1): idOf(9)}, nil, uuid.Nil, "session " + idOf(9).String() + " goes on"},
		{"to where none may be opened", moving{idOf(1): idOf(2)}, []string{"/src/api"}, uuid.Nil, string(refusal.DirOutside)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, back, err := bringBack(t.Context(), config.Config{RootFolders: tt.roots}, tt.moves, get, one(1, "api"))
			assert.Equal(t, tt.want, back.Record.ID)
			require.Equal(t, tt.err == "", err == nil)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
			}
		})
	}
}

// TestP9_ChangesComeFromPeople: no verb that changes something is done below an agent, nor what cannot be read.
func TestP9_ChangesComeFromPeople(t *testing.T) {
	person := control.Peer{Chain: []process.Process{{Identity: process.Identity{PID: 9}, TTY: 34816, SID: 9},
		{Identity: process.Identity{PID: 1}}}, Whole: true}
	code := func(err error) string {
		refusal := (*control.Refusal)(nil)
		require.ErrorAs(t, err, &refusal)
		return refusal.Code
	}
	for _, one := range changes() {
		t.Run(one.verb, func(t *testing.T) {
			for name, above := range map[string]evidence.Above{"a session's agent": {Found: true, Session: uuid.New()}, "an agent of nobody's": {Found: true}} {
				called := false
				handle := (&around{above: above}).socket().checked(func(context.Context, caller, hookwire.Call) (any, error) { called = true; return struct{}{}, nil })
				_, err := handle(t.Context(), person, hookwire.Call{Verb: one.verb, Body: json.RawMessage(`{}`)})
				assert.Equal(t, codeForbidden, code(err), name)
				assert.False(t, called, name)
			}
			handle := (&around{}).socket().checked((&system{}).handlers(changes())[one.verb])
			for _, body := range []string{``, `[]`, `{}`} {
				if (one.verb == recovering.verb || one.verb == figures.verb) && body == `{}` {
					continue
				}
				_, err := handle(t.Context(), person, hookwire.Call{Verb: one.verb, Body: json.RawMessage(body)})
				assert.Equal(t, codeMalformed, code(err), "%q", body)
			}
		})
	}
}

// TestAChangeIsMadeByItsVerb: the socket hands on what is asked, and what came of it.
func TestAChangeIsMadeByItsVerb(t *testing.T) {
	person := control.Peer{Chain: []process.Process{{Identity: process.Identity{PID: 9}, TTY: 34816, SID: 9},
		{Identity: process.Identity{PID: 1}}}, Whole: true}
	for name, want := range map[string]error{"it is made": nil, "it is refused": refuse(codeRefused, "no"), "it fails": errors.New("disk")} {
		t.Run(name, func(t *testing.T) {
			one := change[resumeCall, resumed]{verb: "one", do: func(_ context.Context, _ *system, body resumeCall) (resumed, error) {
				return resumed{Name: body.Session, Dir: "/src", Attach: "tmux attach"}, want
			}}
			handle := (&around{}).socket().checked((&system{}).handlers([]served{one.served()})[one.verb])
			body, err := handle(t.Context(), person, hookwire.Call{Verb: one.verb, Body: json.RawMessage(`{"session":"api"}`)})
			if want != nil {
				require.ErrorIs(t, err, want)
				return
			}
			require.NoError(t, err)
			assert.JSONEq(t, `{"id":"00000000-0000-0000-0000-000000000000","name":"api","dir":"/src","attach":"tmux attach"}`, string(body))
		})
	}
}

// botThat answers the verbs of people as it is told to, whoever asks.
func botThat(t *testing.T, dir string, answer func(verb string) (any, error)) {
	t.Helper()
	table, err := process.NewTable()
	require.NoError(t, err)
	a := &around{}
	server := control.NewServer(filepath.Join(dir, hookwire.SocketName), table, a.socket().log)
	for _, verb := range []string{verbPing, recovering.verb, resuming.verb} {
		server.Handle(verb, func(context.Context, control.Peer, hookwire.Call) (json.RawMessage, error) {
			reply, err := answer(verb)
			if err != nil {
				return nil, err
			}
			return json.Marshal(reply)
		})
	}
	runServer(t, server, dir)
}

// TestChangesGoThroughTheBot prints what it answers. No configuration is needed.
func TestChangesGoThroughTheBot(t *testing.T) {
	dir := socketDir(t)
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	var no error
	chat := "its chat goes on with it"
	allowed := refuse(control.CodeUnknown, "I know no ping") // an answer all the same
	botThat(t, dir, func(verb string) (any, error) {
		switch verb {
		case resuming.verb:
			return resumed{Name: "api", Dir: "/src", Attach: "tmux attach", Chat: chat, Ended: []string{"process 7 ended (term), verified gone"}}, no
		case recovering.verb:
			return show.Account{Actions: []show.Action{{Changes: true}, {Changes: true}, {Changes: true, Error: "no room"}},
				Notices: make([]show.Notice, 3), Backup: "2026-03-04T12-00-00.000Z"}, no
		}
		return struct{}{}, allowed
	})
	code, out, errs := ccbot(environ, "resume", "api")
	assert.Equal(t, exit.OK, code, errs)
	assert.Equal(t, "process 7 ended (term), verified gone\napi is back in /src; its chat goes on with it\nin a terminal: tmux attach\n", out)
	chat = "" // of an earlier ccbot, too
	_, out, _ = ccbot(environ, "resume", "api")
	assert.Contains(t, out, "api is back in /src; in the chat, choose it with /list\n")

	code, out, errs = ccbot(environ, "recover")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, out, "2 changed, 1 failed, 3 notices")
	assert.Equal(t, "ccbot: 1 action failed; what could not be done stays as it is, and the next start tries again\n", errs)
	code, out, _ = ccbot(environ, "recover", "--json")
	assert.Equal(t, exit.Failure, code)
	assert.JSONEq(t, `"2026-03-04T12-00-00.000Z"`, backupIn(t, out))

	no = refuse(codeRefused, "api is open already")
	code, out, errs = ccbot(environ, "resume", "api")
	assert.Equal(t, []any{exit.Failure, "", "ccbot: api is open already\n"}, []any{code, out, errs})
	allowed = refuse(codeForbidden, "an agent may not do this")
	code, _, errs = ccbot(environ, "recover")
	assert.Equal(t, []any{exit.Failure, "ccbot: an agent may not do this\n"}, []any{code, errs})
	allowed, no = nil, errors.New("secret")
	code, _, errs = ccbot(environ, "resume", "api")
	assert.Equal(t, []any{exit.Failure, "ccbot: something went wrong in ccbot; its log says what\n"}, []any{code, errs})
}

func backupIn(t *testing.T, out string) string {
	t.Helper()
	var a map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	return string(a["backup"])
}

// TestASilentBotIsNamed: it is stopped, or starts, and holds the lock.
func TestASilentBotIsNamed(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	_, held, err := statefolder.Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer held.Close()
	want := fmt.Sprintf("ccbot runs as process %d for %s and its socket says nothing", os.Getpid(), dir)

	t.Run("no socket", func(t *testing.T) {
		said := installed(t)(t, []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"}, exit.Failure, "resume", "api")
		assert.Contains(t, said, want)
	})
	t.Run("nobody answers", func(t *testing.T) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, hookwire.SocketName), Net: "unix"})
		require.NoError(t, err)
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		assert.ErrorContains(t, askBot(ctx, dir, resuming.verb, struct{}{}, &struct{}{}), want)
	})
}

// Without a bot the whole configuration is needed, as for a start.
func TestChangesWithoutABotNeedTheConfiguration(t *testing.T) {
	home := t.TempDir()
	ccbot := installed(t)
	for _, args := range [][]string{{"resume", "api"}, {"recover"}} {
		said := ccbot(t, []string{"HOME=" + home}, exit.Misuse, args...)
		assert.Contains(t, said, "TELEGRAM_BOT_TOKEN is missing")
	}
	said := ccbot(t, []string{"HOME=" + home}, exit.Misuse, "resume")
	assert.Contains(t, said, "say which session: ccbot resume NAME|ID")
	assert.Empty(t, tree(t, home)[1:])
}
