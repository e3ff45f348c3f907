package tmux

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// closeGrace is how long a control client may take to end, and how long its pipe is read after its
// death.
const closeGrace = 2 * time.Second

// call is one line of commands that is being sent or answered.
type call struct {
	text   string
	marker string   // the text of the line that ends the answer
	lines  []string // the answer so far; only the reader touches it
	answer chan answer
}

// newCall makes a call of a line that may contain the call's own marker: build gets it.
func newCall(build func(marker string) string) *call {
	marker := "ccbot-" + rand.Text()
	return &call{text: build(marker), marker: marker, answer: make(chan answer, 1)}
}

// connection is one attached control client.
type connection struct {
	calls   chan *call    // to the writer; whoever got a call through here must count it as sent
	done    chan struct{} // closed at the end of the connection
	changed func()        // a window came or went, or a late answer has come
	silence func(is bool) // a call has been open for silenceNotice, or an answer has come
	alarm   *time.Timer   // goes off after silenceNotice

	mu      sync.Mutex
	pending []*call   // written or being written, in order
	since   time.Time // when the server began to owe the first answer
}

func newConnection(changed func(), silence func(is bool)) *connection {
	c := &connection{calls: make(chan *call), done: make(chan struct{}), changed: changed, silence: silence}
	c.alarm = time.AfterFunc(silenceNotice, func() {
		if c.silent() { // otherwise the answer came at this moment
			silence(true)
		}
	})
	c.alarm.Stop()
	return c
}

// serve runs the control client until it ends or ctx does. The error is the reason of its end. argv names ccbot's tmux, whichever program
// runs.
func (c *connection) serve(ctx context.Context, program string, argv, env []string) error {
	defer close(c.done)
	defer c.alarm.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdin, stdout, cmd, stderr, err := startControl(ctx, program, argv, env)
	if err != nil {
		return fmt.Errorf("start control client: %w", err)
	}
	defer stdout.Close()
	var group errgroup.Group
	group.Go(func() error {
		defer cancel()
		return c.read(stdout)
	})
	group.Go(func() error {
		defer cancel()
		return c.write(ctx, stdin)
	})
	wait := cmd.Wait()
	// The server also holds the other end of the pipe: after the client has ended there may be no
	// end of file.
	_ = stdout.SetReadDeadline(time.Now().Add(closeGrace))
	cancel()
	err = group.Wait()
	if text := strings.TrimSpace(stderr.String()); text != "" {
		err = errors.Join(err, errors.New(text))
	}
	return fmt.Errorf("control client ended: %w", errors.Join(wait, err))
}

// startControl starts the process. It makes the pipe of the output itself, because Wait would close
// one of os/exec, and Wait has to run concurrently with the reader.
func startControl(ctx context.Context, program string, argv, env []string) (in io.Writer, out *os.File, cmd *exec.Cmd, stderr *strings.Builder, err error) {
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	defer childOut.Close()
	stderr = new(strings.Builder)
	cmd = exec.CommandContext(ctx, program)
	cmd.Args, cmd.Env, cmd.Dir = argv, env, "/"
	cmd.Stdout, cmd.Stderr = childOut, stderr
	// The process gets a separate group: Ctrl-C in ccbot's terminal must not end the control client
	// during a clean stop.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = closeGrace
	stdin, err := cmd.StdinPipe()
	if err == nil {
		cmd.Cancel = stdin.Close // a control client ends when its input ends
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, nil, nil, errors.Join(err, out.Close())
	}
	return stdin, out, cmd, stderr, nil
}

// write sends calls until ctx ends. Each call is pending before its first byte is sent, so the
// reader always knows to which call an answer belongs.
func (c *connection) write(ctx context.Context, w io.Writer) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case call := <-c.calls:
			c.mu.Lock()
			c.pending = append(c.pending, call)
			if len(c.pending) == 1 {
				c.owe()
			}
			c.mu.Unlock()
			if _, err := io.WriteString(w, call.text+"\ndisplay-message -p "+call.marker+"\n"); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
	}
}

// read takes lines until the end of the file.
func (c *connection) read(r io.Reader) error {
	in := bufio.NewReader(r)
	var lines lineState
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		c.readLine(&lines, strings.TrimSuffix(line, "\n"))
	}
}

// lineState is the reader's state between lines.
type lineState struct {
	open   string // the guard of the block we are in
	marked bool   // the previous line was a marker: this one closes its block
}

func (c *connection) readLine(s *lineState, line string) {
	head := c.head()
	switch {
	case s.marked:
		*s = lineState{}
		c.removeAnswered()
		head.answer <- newAnswer(head.lines)
		return
	case head != nil && line == head.marker:
		s.marked = true
		return
	}
	if s.open == "" && isChange(line) {
		c.changed()
	}
	s.track(line)
	if head != nil {
		head.lines = append(head.lines, line)
	}
}

// track follows the blocks only to distinguish notifications from bodies. A body can confuse it;
// the next marker corrects that.
func (s *lineState) track(line string) {
	if s.open == "" {
		if id, ok := strings.CutPrefix(line, "%begin "); ok {
			s.open = id
		}
		return
	}
	if id, ok := closingGuard(line); ok && id == s.open {
		s.open = ""
	}
}

// owe notes that the server owes the first answer from now on. The caller holds mu.
func (c *connection) owe() {
	c.since = time.Now()
	c.alarm.Reset(silenceNotice)
}

// removeAnswered removes the first call, which was answered. An answer so late that other calls
// were refused before it counts as a change.
func (c *connection) removeAnswered() {
	c.mu.Lock()
	late := c.late()
	c.pending = c.pending[1:]
	if c.alarm.Stop(); len(c.pending) > 0 {
		c.owe()
	}
	c.mu.Unlock()
	c.silence(false)
	if late {
		c.changed()
	}
}

// silent reports whether the server has owed an answer for longer than answerTimeout. The open call
// is the probe: its answer ends the silence, and no other call is sent until then.
func (c *connection) silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late()
}

// late is silent for a caller that holds mu.
func (c *connection) late() bool {
	return len(c.pending) > 0 && time.Since(c.since) >= answerTimeout
}

func (c *connection) head() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	return c.pending[0]
}

// isChange recognises the notifications that a window came or went. tmux calls a window "unlinked"
// when it is in any session other than the control client's own.
func isChange(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"%unlinked-window-close", "%unlinked-window-add", "%window-close", "%window-add", "%sessions-changed"}, word)
}

// ended reports that no further call can be sent.
func (c *connection) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// do sends a call and waits for its answer. The error is ErrNotSent or ErrLost.
func (c *connection) do(ctx context.Context, call *call) (answer, error) {
	select {
	case c.calls <- call:
	case <-c.done:
		return answer{}, ErrNotSent
	case <-ctx.Done():
		return answer{}, unanswered(ctx, ErrNotSent)
	}
	select {
	case a := <-call.answer:
		return a, nil
	case <-ctx.Done():
		return answer{}, unanswered(ctx, ErrLost)
	case <-c.done:
	}
	select { // the answer may have come just before the end
	case a := <-call.answer:
		return a, nil
	default:
		return answer{}, ErrLost
	}
}

// unanswered returns the error of a call whose context has ended. ErrSilent is added if its time is
// up: the cancellation of a caller does not mean that tmux is silent.
func unanswered(ctx context.Context, outcome error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		outcome = fmt.Errorf("%w: %w", outcome, ErrSilent)
	}
	return fmt.Errorf("%w: %w", outcome, cause)
}

// block is the answer to one command.
type block struct {
	ours   bool // asked for by this client, not by a user's hook
	failed bool
	lines  []string
}

// parseBlocks reads the lines of one answer. Lines outside of blocks are notifications and are left
// out.
func parseBlocks(lines []string) []block {
	// The last line that closes a block counts: an earlier one is part of a body, such as a
	// captured screen that shows control mode.
	ends := make(map[string]int)
	for i, line := range lines {
		if id, ok := closingGuard(line); ok {
			ends[id] = i
		}
	}
	var blocks []block
	for i := 0; i < len(lines); i++ {
		id, ok := strings.CutPrefix(lines[i], "%begin ")
		if !ok {
			continue
		}
		end, ok := ends[id]
		if !ok || end < i {
			continue
		}
		blocks = append(blocks, block{
			ours:   strings.HasSuffix(id, " 1"),
			failed: strings.HasPrefix(lines[end], "%error "),
			lines:  lines[i+1 : end],
		})
		i = end
	}
	return blocks
}

func closingGuard(line string) (id string, ok bool) {
	if id, ok = strings.CutPrefix(line, "%end "); ok {
		return id, true
	}
	return strings.CutPrefix(line, "%error ")
}

// answer is the result of a line of commands.
type answer struct {
	lines []string // of the commands that succeeded, in order
	fails []string // tmux's own texts
}

func newAnswer(lines []string) (a answer) {
	for _, b := range parseBlocks(lines) {
		switch {
		case !b.ours:
		case b.failed:
			a.fails = append(a.fails, strings.Join(b.lines, "\n"))
		default:
			a.lines = append(a.lines, b.lines...)
		}
	}
	return a
}

// after returns the rest of the first line that starts with the word.
func (a answer) after(word string) (rest string, ok bool) {
	for _, line := range a.lines {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimPrefix(rest, " "), true
		}
	}
	return "", false
}
