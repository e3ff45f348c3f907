//go:build bench

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// crowd is a world with many sessions: those of several people, in their private chats, so that
// Telegram's pace of one message a second in a chat is not what is measured.
type crowd struct {
	*world
	people   []*botapi.Person
	sessions []benchSession // those of people[i] are i, i+len(people) …; the last one of each is the current one
	server   int            // pid of the tmux server

	mu    sync.Mutex
	calls []botapi.Call // as they came
}

type benchSession struct {
	name, transcript string
	id               uuid.UUID // Claude's
	person           *botapi.Person
}

// newCrowd makes a world with some people, without cards unless env has withCards.
func (b *bench) newCrowd(people int, env ...string) *crowd {
	b.Helper()
	var ids []string
	for i := range people {
		ids = append(ids, strconv.Itoa(1001+i))
	}
	env = append([]string{"LOG_LEVEL=info", "CCBOT_RICH_MESSAGES=off", "ALLOWED_USERS=" + strings.Join(ids, ",")}, env...)
	c := &crowd{world: newWorld(b.T, env...)}
	for i := range people {
		p := c.api.Person(int64(1001+i), "")
		p.Start()
		c.people = append(c.people, p)
	}
	c.api.InjectFaults(func(call botapi.Call) botapi.Fault {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls = append(c.calls, call)
		return botapi.Fault{}
	})
	return c
}

// came waits for a call after a time and returns it.
func (c *crowd) came(since time.Time, what string, is func(botapi.Call) bool) botapi.Call {
	c.t.Helper()
	for deadline := time.Now().Add(3 * waitTimeout); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		for i := len(c.calls) - 1; i >= 0 && !c.calls[i].At.Before(since); i-- {
			if is(c.calls[i]) {
				defer c.mu.Unlock()
				return c.calls[i]
			}
		}
		c.mu.Unlock()
		if time.Now().After(deadline) {
			c.t.Fatalf("did not happen: %s", what)
		}
	}
}

// shows is a call that shows a text in a chat.
func shows(chat *botapi.Person, text string) func(botapi.Call) bool {
	return func(c botapi.Call) bool {
		said, is := c.Params["text"]
		return is && c.Params["chat_id"] == strconv.FormatInt(chat.ID(), 10) && strings.Contains(said, text)
	}
}

// open starts n sessions, one per person at a time, and waits until all are ready. Each gets
// prompt, if given.
func (c *crowd) open(n int, prompt ...string) {
	c.t.Helper()
	for i := 0; i < n; i += len(c.people) {
		since, some := time.Now(), c.people[:min(len(c.people), n-i)]
		for j, p := range some {
			c.sessions = append(c.sessions, benchSession{name: fmt.Sprintf("s%d-", i+j), person: p})
			p.Send(p.ID(), fmt.Sprintf("/new s%d- %s", i+j, c.dir))
		}
		for _, s := range c.sessions[i:] {
			c.came(since, s.name+" is ready", shows(s.person, s.name+" is ready"))
			for _, text := range prompt {
				s.person.Send(s.person.ID(), text)
			}
		}
	}
	c.server, _ = strconv.Atoi(c.tmux("display-message", "-p", "#{pid}"))
	ids := make(map[string]uuid.UUID)
	for _, r := range c.records() {
		ids[r.Name] = r.AgentSessionID
	}
	for i := range c.sessions {
		s := &c.sessions[i]
		s.id = ids[s.name]
		s.transcript = filepath.Join(c.projects(), s.id.String()+".jsonl")
	}
}

// projects is the folder of the transcripts.
func (c *crowd) projects() string {
	dir, err := filepath.EvalSymlinks(c.dir)
	require.NoError(c.t, err)
	return filepath.Join(c.claude, "projects", regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-"))
}

// rest waits until ccbot has nothing left to do.
func (c *crowd) rest() {
	c.t.Helper()
	c.until("nothing is written any more", func() bool {
		left, err := filepath.Glob(filepath.Join(c.state, "*box", "*.json"))
		before := c.files()
		time.Sleep(time.Second)
		return err == nil && len(left) == 0 && maps.Equal(before, c.files())
	})
}

// number returns the sum of the numbers that match pattern in a process's file in /proc.
func number(pid int, file, pattern string) (sum float64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)) // a process that is gone has none
	if m := regexp.MustCompile(pattern).FindSubmatch(data); m != nil {
		for _, word := range strings.Fields(string(m[1])) {
			n, _ := strconv.ParseFloat(word, 64) // the pattern has digits only
			sum += n
		}
	}
	return sum
}

// processor returns the used processor time in seconds.
func processor(pid int) float64 { return number(pid, "stat", `\) \S+(?: \S+){10} (\d+ \d+)`) / 100 }

// memory returns the resident memory of a process, and peak its maximum, in MB.
func memory(pid int) float64 { return number(pid, "status", `VmRSS:\s+(\d+)`) / 1024 }
func peak(pid int) float64   { return number(pid, "status", `VmHWM:\s+(\d+)`) / 1024 }

// forgetPeak resets the peak.
func forgetPeak(pid int) { _ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) }

func (c *crowd) pid() int { return c.bot.cmd.Process.Pid }

// line is a line of a transcript as Claude Code writes it.
func (s *benchSession) line(kind string, content any, stop any) []byte {
	role := map[string]any{"role": kind, "content": content}
	if kind == "assistant" {
		role["id"], role["type"], role["model"] = "msg_"+uuid.NewString(), "message", "claude-opus-5-5"
		role["stop_reason"] = stop
		role["usage"] = map[string]int{"input_tokens": 10, "output_tokens": 100}
	}
	data, _ := json.Marshal(map[string]any{"parentUuid": nil, "isSidechain": false, "type": kind, "uuid": uuid.New(),
		"userType": "external", "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "entrypoint": "cli",
		"cwd": "/", "sessionId": s.id, "version": "2.1.328", "gitBranch": "HEAD", "message": role}) // strings and maps only
	return append(data, '\n')
}

// text is a block of an answer.
func text(words string) []any { return []any{map[string]any{"type": "text", "text": words}} }

// append writes a whole line at once and returns the time.
func (s *benchSession) append(t require.TestingT, data []byte) time.Time {
	require.NoError(t, os.MkdirAll(filepath.Dir(s.transcript), 0o755))
	f, err := os.OpenFile(s.transcript, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer f.Close()
	at := time.Now()
	_, err = f.Write(data)
	require.NoError(t, err)
	return at
}

// answer appends the end of a turn, and measures until it is on the wire.
func (c *crowd) answer(s *benchSession, words string) time.Duration {
	c.t.Helper()
	at := s.append(c.t, s.line("assistant", text(words), "end_turn"))
	return c.came(at, "the answer "+words, shows(s.person, words)).At.Sub(at)
}

// lines parses a file with JSON lines.
func lines[T any](t require.TestingT, file string) (all []T) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(scan.Bytes(), &v))
		all = append(all, v)
	}
	return all
}

// archived writes the records of ended sessions, each with a history of 30 lines.
func (c *crowd) archived(n int) {
	store, now := c.store(), time.Now().UTC()
	for i := range n {
		r := c.past(fmt.Sprint("old-", i), now)
		for line := range 30 {
			r.Note(now, "chat.note", fmt.Sprintf("line %d of the history of session %d", line, i))
		}
		require.NoError(c.t, store.Create(r))
	}
}

// past returns the record of an ended session.
func (c *crowd) past(name string, now time.Time) session.Record {
	return session.Record{ID: uuid.New(), Name: name, Dir: c.dir, Host: "desk", State: session.Archived,
		AgentSessionID: uuid.New(), CreatedAt: now.Add(-time.Hour), Run: session.Run{StartedAt: now.Add(-time.Hour)}, LastEnd: session.LastEnd{EndedAt: now}}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
