package voice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"ccbot/internal/process"
)

const (
	voiceFor = 2 * time.Minute // later messages of the same chat wait for the text
	// how long what the command leaves behind may hold its output, and may take to end
	voiceRest = 2 * time.Second
	voiceMax  = 64 << 10 // bytes of text
)

var (
	errVoiceSlow = errors.New("it takes too long")
	errVoiceLong = errors.New("it writes too much")
)

// Command is VOICE_COMMAND. It gets the name of a file; nothing of a message is ever a part of the
// command.
type Command struct {
	words []string
	env   []string // all that it gets; nothing secret belongs here
	dir   string
	table *process.Table
	limit time.Duration
}

// New is a VOICE_COMMAND that runs in a folder.
func New(words, env []string, dir string, table *process.Table) Command {
	return Command{words: words, env: env, dir: dir, table: table, limit: voiceFor}
}

// Text makes the command transcribe a recording. The recording is a file while the command runs.
func (c Command) Text(ctx context.Context, name string, recording []byte) (string, error) {
	dir, err := os.MkdirTemp("", "ccbot-voice-")
	if err != nil {
		return "", fmt.Errorf("VOICE_COMMAND: %w", err)
	}
	defer os.RemoveAll(dir) // a process that the command left may still write there
	file := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(file, recording, 0o600); err != nil {
		return "", fmt.Errorf("VOICE_COMMAND: %w", err)
	}
	return c.run(ctx, file)
}

// run runs the command with the file as its last argument and returns its output. When it is
// cancelled, no process of the command keeps running.
func (c Command) run(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.limit, errVoiceSlow)
	defer cancel()
	said := &text{}
	cmd := exec.CommandContext(ctx, c.words[0], append(c.words[1:len(c.words):len(c.words)], file)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.WaitDelay = c.env, c.dir, said, voiceRest
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var leader process.Identity // of its group
	identified := make(chan error, 1)
	cmd.Cancel = func() error { // may come before the identity is known
		if err := <-identified; err != nil {
			return nil // os/exec ends the process that it has started
		}
		return c.end(context.WithoutCancel(ctx), leader)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("VOICE_COMMAND: %w", err)
	}
	var err error
	leader, err = c.table.Identify(cmd.Process.Pid)
	identified <- err
	err = cmd.Wait()
	switch {
	case said.over:
		err = errVoiceLong
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay): // it has done its work
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("VOICE_COMMAND: %w", err)
	}
	return said.buffer.String(), nil
}

// end ends the command and all of its process group. While the leader exists, even as a zombie that
// was not collected yet, no other group can get the group's number.
func (c Command) end(ctx context.Context, leader process.Identity) error {
	snap, err := c.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	if p, ok := snap.Find(leader.PID); !ok || p.Identity != leader {
		return nil
	}
	ours := func(p process.Process) error {
		if p.PGID != leader.PID {
			return &process.Spare{Reason: process.ReasonUnproven, Detail: "it has left the command's group"}
		}
		return nil
	}
	var errs []error
	for _, p := range snap.Processes {
		if p.PGID != leader.PID || p.Gone() {
			continue
		}
		_, err := c.table.End(ctx, p.Identity, ours, nil, process.Grace{Kill: voiceRest})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// text is the output of the command. Output that does not fit is an error. The buffer is not
// embedded: io.Copy would use the buffer's own ReadFrom, which knows no limit.
type text struct {
	buffer bytes.Buffer
	over   bool
}

func (t *text) Write(p []byte) (int, error) {
	if t.buffer.Len()+len(p) > voiceMax {
		t.over = true
		return 0, errVoiceLong
	}
	return t.buffer.Write(p)
}
