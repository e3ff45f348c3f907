package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"ccbot/internal/hookwire"
)

// notRun is a shell's exit code for a command that could not be started.
const notRun = 127

// statusLine notes the status line's JSON on stdin and then becomes the person's own command, as if
// Claude Code had started that. It returns an exit code if there is no such command.
func statusLine(o options) int {
	var in input
	var once sync.Once
	end := func() {
		once.Do(func() {
			if o.wrap == "" {
				os.Exit(0)
			}
			quietly(func() error { return recordOutput(o, os.Getenv) })
			_ = become(o.wrap, in.soFar())
			os.Exit(notRun)
		})
	}
	time.AfterFunc(bound, end) // a hanging disk must not take the person's status line away
	quietly(func() error { return in.readFrom(os.Stdin) })
	quietly(func() error { return record(o, in.soFar(), os.Getenv, time.Now) })
	end()
	return 0
}

// record writes the status of a launch of ccbot.
func record(o options, data []byte, getenv func(string) string, now func() time.Time) error {
	launch := o.launchOf(getenv)
	if launch == "" || !isFolder(o.dir) {
		return nil
	}
	s, err := hookwire.ParseStatusLine(data)
	if err != nil {
		return err
	}
	s.Launch, s.At, s.Boot = launch, now().UTC(), hookwire.BootID()
	s.AgentPID, s.AgentStart, _ = hookwire.ClaudeProcess(getenv) // 0: whose it was stays open
	_, err = hookwire.WriteStatus(o.dir, s)
	return err
}

// recordOutput lets another process of this program keep what the person's command will print, and
// pass it on. ccbot needs it to tell the status line from what else Claude Code draws below its
// prompt box. The command itself stays this process. After an error stdout is as before.
func recordOutput(o options, getenv func(string) string) error {
	launch := o.launchOf(getenv)
	if launch == "" || !isFolder(o.dir) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(read.Close(), write.Close()) }()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	p, err := os.StartProcess(self, []string{self, "--dir", o.dir, "--launch", launch, "--rows"},
		&os.ProcAttr{Files: []*os.File{read, os.Stdout, null}, Env: []string{}})
	if err != nil {
		return err
	}
	// Nothing waits for it: this process becomes another program.
	if err := p.Release(); err != nil {
		return err
	}
	if err := syscall.Close(1); err != nil {
		return err
	}
	_, err = syscall.Dup(int(write.Fd())) // the lowest free number
	return err
}

// passRows stores an output of the person's command and then passes it on, so that it is stored
// before Claude Code shows it. An output longer than hookwire.MaxRows is only passed on.
func passRows(o options) error {
	data, err := io.ReadAll(io.LimitReader(os.Stdin, hookwire.MaxRows+1))
	if err == nil {
		quietly(func() error { return hookwire.WriteRows(o.dir, o.launch, data) })
	}
	_, failed := os.Stdout.Write(data)
	_, rest := io.Copy(os.Stdout, os.Stdin)
	return errors.Join(err, failed, rest)
}

// input is stdin as far as it has come.
type input struct {
	mu   sync.Mutex
	data []byte
}

// readFrom reads to the end, or to hookwire.MaxPayload.
func (in *input) readFrom(r io.Reader) error {
	r = io.LimitReader(r, hookwire.MaxPayload)
	piece := make([]byte, 16<<10)
	for {
		n, err := r.Read(piece)
		in.mu.Lock()
		in.data = append(in.data, piece[:n]...)
		in.mu.Unlock()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (in *input) soFar() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.data
}

// become turns this process into the command, with stdin to read. Exit code, signals and output are
// the command's own, and no second process waits for it. It returns only when that failed.
func become(command string, stdin []byte) error {
	fd, err := piped(stdin)
	if err != nil {
		fd, err = filed(stdin)
	}
	if err != nil {
		return err
	}
	// Dup takes the lowest free number; dup2 is not on every system that Go knows.
	if err := syscall.Close(0); err != nil {
		return err
	}
	if _, err := syscall.Dup(fd); err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	// The exec makes a caught signal deadly again. Those that were ignored before they were caught, as
	// below nohup, are to be ignored by the command too.
	signal.Reset(syscall.SIGHUP, syscall.SIGINT)
	return syscall.Exec("/bin/sh", []string{"/bin/sh", "-c", command}, os.Environ())
}

// piped puts data into a pipe, which holds it until it is read.
func piped(data []byte) (fd int, err error) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return 0, err
	}
	err = syscall.SetNonblock(ends[1], true)
	if err == nil {
		var n int
		if n, err = syscall.Write(ends[1], data); err == nil && n < len(data) {
			err = errors.New("a pipe does not hold it")
		}
	}
	if err = errors.Join(err, syscall.Close(ends[1])); err != nil {
		return 0, errors.Join(err, syscall.Close(ends[0]))
	}
	return ends[0], nil
}

// filed puts data into a file without a name.
func filed(data []byte) (fd int, err error) {
	file, err := os.CreateTemp("", "ccbot-status-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return 0, err
	}
	if _, err := file.Write(data); err != nil {
		return 0, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return syscall.Dup(int(file.Fd()))
}
