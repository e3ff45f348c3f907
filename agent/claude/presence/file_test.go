package presence

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
)

const sessionID = "0b5c9a1e-7d3f-4c62-9a53-1f7a5b0e9c11"

// recorded is written by 2.1.328 at a permission dialog.
const recorded = `{"pid":4711,"sessionId":"` + sessionID + `","cwd":"/home/u/w","startedAt":1763620000000,"procStart":"169268",` +
	`"version":"2.1.328","peerProtocol":1,"kind":"interactive","entrypoint":"cli","pidDomain":"host","tmux":"ccbot:@3.%5",` +
	`"messagingSocketPath":"/tmp/cc-socks/4711.sock","name":"a-38","nameSource":"derived","status":"waiting",` +
	`"waitingFor":"permission prompt","updatedAt":1763620012345,"statusUpdatedAt":1763620012345}`

// older is written by 2.1.197.
const older = `{"pid":4711,"sessionId":"` + sessionID + `","cwd":"/home/u/w","startedAt":1763620000000,"procStart":169268,` +
	`"version":"2.1.197","peerProtocol":1,"kind":"interactive","entrypoint":"cli","name":"a","nameSource":"derived",` +
	`"status":"idle","updatedAt":1763620012345,"statusUpdatedAt":1763620012345}`

func TestParse(t *testing.T) {
	full := File{PID: 4711, SessionID: uuid.MustParse(sessionID), Dir: "/home/u/w", ProcStart: 169268,
		Status: Waiting, WaitingFor: "permission prompt", Permission: true, Version: "2.1.328",
		UpdatedAt: time.UnixMilli(1763620012345).UTC(), StatusAt: time.UnixMilli(1763620012345).UTC()}
	old := full
	old.Version, old.Status, old.WaitingFor, old.Permission = "2.1.197", Idle, "", false
	oldest := File{PID: 4711, SessionID: full.SessionID, Status: Waiting, WaitingFor: "approve Bash", Permission: true}
	least := File{PID: 4711, SessionID: full.SessionID}

	parked := File{PID: 4711, SessionID: full.SessionID, Status: Idle, Attach: "claude attach 1a5ea56d"}
	listed := parked
	listed.Attach = "claude agents"
	idle := `{"pid":4711,"sessionId":"` + sessionID + `","kind":"interactive","status":"idle"`

	tests := []struct {
		name string
		data string
		want File
		err  string
	}{
		{name: "2.1.328", data: recorded, want: full},
		{name: "2.1.197", data: older, want: old},
		{name: "2.1.128", data: `{"pid":4711,"sessionId":"` + sessionID + `","status":"waiting","waitingFor":"approve Bash"}`, want: oldest},
		{name: "only what must be there", data: `{"pid":4711,"sessionId":"` + sessionID + `"}`, want: least},
		{name: "other shapes are passed over", data: `{"pid":4711,"sessionId":"` + sessionID + `","status":{"is":"idle"},"procStart":"Mon Jan 2","updatedAt":-1,"cwd":"w","kind":7}`, want: least},
		{name: "unknown status", data: `{"pid":4711,"sessionId":"` + sessionID + `","status":"dreaming"}`, want: File{PID: 4711, SessionID: full.SessionID, Status: "dreaming"}},
		{name: "its conversation is in the background", data: idle + `,"parkedJobId":"1a5ea56d"}`, want: parked},
		{name: "the name of a job is no command", data: idle + `,"parkedJobId":"1a5ea56d; rm"}`, want: listed},
		{name: "no session", data: `{"pid":4711}`, err: "not a UUID"},
		{name: "session is no id", data: `{"pid":4711,"sessionId":"{` + sessionID + `}"}`, err: "not a UUID"},
		{name: "nil session", data: `{"pid":4711,"sessionId":"` + uuid.Nil.String() + `"}`, err: "not a UUID"},
		{name: "null", data: `null`, err: "half-written"},
		{name: "empty", data: ``, err: "half-written"},
		{name: "a list", data: `[]`, err: "half-written"},
		{name: "two objects", data: recorded + recorded, err: "half-written"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := parse([]byte(test.data))
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, f)
		})
	}
}

func TestParse_everyBeginningIsTorn(t *testing.T) {
	for n := range len(recorded) {
		_, err := parse([]byte(recorded[:n]))
		require.ErrorIs(t, err, ErrTorn, recorded[:n])
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte(older))
	f.Add([]byte(`{"pid":"4711","sessionId":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := parse(data); err == nil {
			assert.NotEqual(t, uuid.Nil, file.SessionID)
			assert.GreaterOrEqual(t, file.PID, 0)
		}
	})
}

func write(t *testing.T, path, data string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
}

func TestRead(t *testing.T) {
	valid := func(t *testing.T, path string) { write(t, path, recorded) }
	tests := []struct {
		name string
		make func(*testing.T, string)
		is   error
		err  string
	}{
		{name: "a file", make: valid},
		{name: "absent", make: func(*testing.T, string) {}, is: fs.ErrNotExist},
		{name: "half-written for good", make: func(t *testing.T, p string) { write(t, p, recorded[:99]) }, is: ErrTorn},
		{name: "empty for good", make: func(t *testing.T, p string) { write(t, p, "") }, is: ErrTorn},
		{name: "of another pid", make: func(t *testing.T, p string) { write(t, p, strings.Replace(recorded, "4711", "4712", 1)) }, err: "names pid 4712"},
		{name: "too large", make: func(t *testing.T, p string) { write(t, p, recorded+strings.Repeat(" ", maxSize)) }, err: "too many"},
		{name: "a folder", make: func(t *testing.T, p string) { require.NoError(t, os.Mkdir(p, 0o700)) }, err: "regular"},
		{name: "a pipe does not block", make: func(t *testing.T, p string) { require.NoError(t, syscall.Mkfifo(p, 0o600)) }, err: "regular"},
		{name: "a link is not followed", make: func(t *testing.T, p string) {
			write(t, p+".real", recorded)
			require.NoError(t, os.Symlink(p+".real", p))
		}, is: syscall.ELOOP},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := Dir{t.TempDir()}
			test.make(t, filepath.Join(dir.Path, "4711.json"))
			f, err := dir.Read(t.Context(), 4711)
			switch {
			case test.is != nil:
				assert.ErrorIs(t, err, test.is)
			case test.err != "":
				assert.ErrorContains(t, err, test.err)
			default:
				require.NoError(t, err)
				assert.Equal(t, 4711, f.PID)
			}
		})
	}
}

func TestRead_endsWithTheContext(t *testing.T) {
	dir := Dir{t.TempDir()}
	write(t, filepath.Join(dir.Path, "4711.json"), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := dir.Read(ctx, 4711)
	assert.ErrorIs(t, err, context.Canceled)
}

// The writer does what Claude Code does: it truncates and writes the same file, here in two pieces
// and without a pause. Every state has a unique session id, status and length, so a mixture would
// be noticed.
func TestRead_duringRewriteInPlace(t *testing.T) {
	dir := Dir{t.TempDir()}
	path := filepath.Join(dir.Path, "4711.json")
	states := make([][]byte, 8)
	want := map[uuid.UUID]File{}
	for i := range states {
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, i))
		states[i] = fmt.Appendf(nil, `{"pid":4711,"status":"s%d","sessionId":"%s","cwd":"/%s","procStart":%d}`, i, id, bytes.Repeat([]byte("x"), 97*i), i+1)
		f, err := parse(states[i])
		require.NoError(t, err)
		want[id] = f
	}
	write(t, path, string(states[0]))

	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	writing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			rewrite(t, path, states[i%len(states)])
		}
	})
	whole := 0
	for range 300 {
		f, err := dir.Read(ctx, 4711)
		// this writer never rests, so giving up is right now and then; a wrong answer never is
		if err != nil {
			require.ErrorIs(t, err, ErrTorn)
			continue
		}
		whole++
		require.Equal(t, want[f.SessionID], f)
	}
	assert.NotZero(t, whole)
}

func rewrite(t *testing.T, path string, data []byte) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if !assert.NoError(t, err) {
		return
	}
	defer f.Close()
	_, err = f.Write(data[:len(data)/2])
	assert.NoError(t, err)
	_, err = f.Write(data[len(data)/2:])
	assert.NoError(t, err)
}

func TestRead_waitsForTheRest(t *testing.T) {
	dir := Dir{t.TempDir()}
	path := filepath.Join(dir.Path, "4711.json")
	write(t, path, recorded[:200])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = readOnce(path, 4711)
	require.ErrorIs(t, err, ErrTorn)
	var writing sync.WaitGroup
	writing.Go(func() {
		_, err := f.WriteString(recorded[200:])
		assert.NoError(t, err)
	})
	// The rest may be later than 50 ms on a busy machine; then the answer is "torn" and asking
	// again is right.
	waittest.Until(t, func() bool { _, err := dir.Read(t.Context(), 4711); return err == nil })
	writing.Wait()
}

func TestList(t *testing.T) {
	dir := Dir{t.TempDir()}
	write(t, filepath.Join(dir.Path, "4711.json"), recorded)
	write(t, filepath.Join(dir.Path, "12.json"), strings.Replace(older, "4711", "12", 1))
	write(t, filepath.Join(dir.Path, "13.json"), "{}")
	for _, other := range []string{"4711.ab12.key", "x.json", "007.json", "-3.json", ".9.json", "14.json.tmp", "0.json"} {
		write(t, filepath.Join(dir.Path, other), "not mine")
	}
	files, unread, err := dir.List(t.Context())
	require.NoError(t, err)
	require.Len(t, unread, 1)
	assert.ErrorContains(t, unread[13], "13.json")
	require.Len(t, files, 2)
	assert.ElementsMatch(t, []int{4711, 12}, []int{files[0].PID, files[1].PID})

	files, unread, err = Dir{filepath.Join(dir.Path, "none")}.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, files)
	assert.Empty(t, unread)

	_, _, err = Dir{filepath.Join(dir.Path, "13.json")}.List(t.Context())
	assert.Error(t, err, "a file is no folder")
}
