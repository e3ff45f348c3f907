//go:build bench

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// sizes measures the program files of a release.
func (b *bench) sizes() {
	for _, name := range []string{"ccbot", "ccbot-hook"} {
		info, err := os.Stat(filepath.Join(binaries, name))
		require.NoError(b, err)
		b.sample("size "+name, float64(info.Size())/1e6)
	}
}

// hook runs the whole hook as each prompt does.
func (b *bench) hook() {
	dir := shortDir(b.T)
	payload := `{"hook_event_name":"UserPromptSubmit","session_id":"` + uuid.NewString() +
		`","cwd":"/","prompt":"a prompt of a usual length"}`
	for range size(200, 50) {
		cmd := exec.Command(filepath.Join(binaries, "ccbot-hook"), "--dir", dir)
		cmd.Env = []string{"CCBOT_LAUNCH=" + uuid.NewString(), "CLAUDE_PID=" + strconv.Itoa(os.Getpid())}
		cmd.Stdin = strings.NewReader(payload)
		began := time.Now()
		require.NoError(b, cmd.Run())
		b.sample("hook", ms(time.Since(began)))
	}
}

// prompts measures prompts to idle sessions.
func (b *bench) prompts() {
	c := b.newCrowd(5)
	c.start()
	c.open(5)
	c.rest()
	sent := make(map[string]time.Time)
	for i := range size(60, 20) {
		s := &c.sessions[i%len(c.sessions)]
		word, began := fmt.Sprintf("prompt-%d-", i), time.Now()
		sent["say "+word] = began
		s.person.Send(s.person.ID(), "say "+word)
		c.came(began, "the answer to "+word, shows(s.person, word))
	}
	type arrival struct {
		Text       string
		Pasted, At time.Time
	}
	for _, a := range lines[arrival](b, c.sent) {
		b.sample("pasted", ms(a.Pasted.Sub(sent[a.Text])))
		b.sample("submitted", ms(a.At.Sub(sent[a.Text])))
	}
	c.stop()
}

// answers measures answers within the pace of their chat.
func (b *bench) answers() {
	c := b.newCrowd(10)
	c.start()
	c.open(10)
	c.rest()
	for i := range size(100, 40) {
		b.sample("answer", ms(c.answer(&c.sessions[i%10], fmt.Sprintf("answer-%d-", i))))
		time.Sleep(150 * time.Millisecond) // each chat has room for one message a second
	}
	c.stop()
}

// approvals measures requests of ten sessions, allowed by a tap. The time of the decision is in the
// agent's transcript.
func (b *bench) approvals() {
	people := size(10, 5)
	c := b.newCrowd(people)
	c.start()
	c.open(people)
	c.rest()
	for i := range size(30, 5) {
		s := &c.sessions[i%people]
		began := time.Now()
		s.person.Send(s.person.ID(), fmt.Sprintf("bash echo %d", i))
		var asked botapi.Message
		data := ""
		c.until("the chat is asked", func() bool {
			for _, m := range c.api.Messages(s.person.ID()) {
				if m.FromBot && strings.Contains(m.Text, fmt.Sprintf("echo %d", i)) && likeButton(m, "Allow") != "" {
					asked, data = m, likeButton(m, "Allow")
				}
			}
			return data != ""
		})
		tapped := time.Now()
		_, err := s.person.Tap(s.person.ID(), asked.ID, data)
		require.NoError(b, err)
		b.sample("tap answered", ms(time.Since(tapped)))
		c.came(began, "the command has run", shows(s.person, "pretended to run it"))
		all := c.decided(s)
		b.sample("approval", ms(all[len(all)-1].Sub(tapped)))
	}
	c.stop()
}

// decided returns the times of a session's hook decisions.
func (c *crowd) decided(s *benchSession) (all []time.Time) {
	type entry struct {
		Timestamp  time.Time
		Attachment struct{ Type string }
	}
	for _, l := range lines[entry](c.t, s.transcript) {
		if l.Attachment.Type == "hook_permission_decision" {
			all = append(all, l.Timestamp)
		}
	}
	return all
}
