package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/try/botapi"
	"ccbot/try/demoagent/script"
)

// storyTimeout bounds the story that a person watches; a test has its own time.
const storyTimeout = 90 * time.Second

// teller plays a minute of a day, and looks from outside whether each step has happened: at the messages of the chat, the processes of
// this machine and the windows of tmux. What ccbot or the story say of themselves proves nothing.
type teller struct {
	*bot
	table  *process.Table
	person *botapi.Person
	last   int // the last message that the story has seen
}

// tell plays the story and ends the trial. The error names the first step that was not seen.
func (t *trial) tell(ctx context.Context) error {
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	if !t.fast {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, storyTimeout)
		defer cancel()
	}
	s := &teller{bot: t.bots[0], table: table, person: t.bots[0].api.PagePerson()}
	if err := s.play(ctx); err != nil {
		return fmt.Errorf("the story: %w", err)
	}
	s.fact("Each step was seen in the chat, the process table and tmux. That is all.")
	return context.Canceled // the trial ends
}

func (s *teller) play(ctx context.Context) error {
	first := <-s.running
	s.headline("A session starts")
	s.write(ctx, "/new shop "+s.path("shop"))
	if _, err := s.hear(ctx, "shop is ready"); err != nil {
		return err
	}
	agent, err := s.agent(ctx)
	if err != nil {
		return err
	}

	s.headline("A prompt, and a permission")
	s.write(ctx, script.StoryFix)
	asked, err := s.hear(ctx, script.StoryCommand)
	if err == nil {
		err = s.tap(asked, "Allow")
	}
	if err == nil {
		_, err = s.hear(ctx, "All 42 tests pass.")
	}
	if err != nil {
		return err
	}

	s.headline("ccbot is killed with -9 in the middle of the next turn, and starts again")
	s.write(ctx, script.StoryNotes)
	if err := s.until(ctx, "the agent works", func() bool {
		return strings.Contains(s.tmux(ctx, "capture-pane", "-p", "-t", "=ccbot:=shop"), "git diff")
	}); err != nil {
		return err
	}
	notes := s.tmux(ctx, "new-window", "-d", "-P", "-F", "#{window_id}", "-t", "=ccbot:", "-n", "notes", "-c", s.path("shop"), "exec sleep 1000")
	if err := crash(first); err != nil {
		return err
	}
	second := <-s.running
	s.fact(fmt.Sprintf("the ccbot with pid %d is dead, %d goes on", first.Pid, second.Pid))
	if _, err := s.hear(ctx, "The total of a cart"); err != nil {
		return err
	}
	if !s.lives(agent) {
		return errors.New("the agent has not outlived the ccbot")
	}

	s.headline("A window of somebody else was named when ccbot started, and is spared")
	if _, err := s.hear(ctx, "with no session"); err != nil {
		return err
	}

	s.headline("The session is archived. Its process does not listen to a hang-up")
	s.write(ctx, "/kill shop")
	question, err := s.hear(ctx, "End shop and archive it?")
	if err == nil {
		err = s.tap(question, "Kill")
	}
	var receipt botapi.Message
	if err == nil {
		receipt, err = s.hear(ctx, "shop is archived.")
	}
	if err != nil {
		return err
	}
	if s.lives(agent) {
		return fmt.Errorf("the agent, pid %d, is in the process table after its archive", agent.PID)
	}
	s.fact(fmt.Sprintf("pid %d is gone", agent.PID))
	windows := strings.Fields(s.tmux(ctx, "list-windows", "-t", "=ccbot:", "-F", "#{window_id}"))
	if notes == "" || !slices.Contains(windows, notes) {
		return fmt.Errorf("the window %q of somebody else is not in tmux any more, which has %v", notes, windows)
	}
	s.fact("the window notes is still there")

	s.headline("Undo brings the session back, with its conversation")
	s.read(ctx)
	if err := s.tap(receipt, "Undo"); err != nil {
		return err
	}
	if _, err := s.hear(ctx, "shop is ready"); err != nil {
		return err
	}
	if _, err = s.agent(ctx); err != nil {
		return err
	}
	if said := "All 42 tests pass."; !strings.Contains(s.tmux(ctx, "capture-pane", "-p", "-S", "-", "-t", "=ccbot:=shop"), said) {
		return fmt.Errorf("the conversation in the window shop does not say %q", said)
	}
	s.fact("its window shows what was said before")
	s.read(ctx)
	return nil
}

// headline begins a part of the story.
func (s *teller) headline(text string) { fmt.Fprintf(s.out, "\n  %s\n", text) }

// fact prints what was seen.
func (s *teller) fact(text string) { fmt.Fprintf(s.out, "    %s\n", text) }

// write sends a text of the person.
func (s *teller) write(ctx context.Context, text string) {
	s.read(ctx)
	fmt.Fprintf(s.out, "    you:   %s\n", strings.ReplaceAll(text, s.dir, "…"))
	s.last = s.person.Send(s.person.ID(), text)
}

// hear waits for a message of the bot that came after the last one, and has this text.
func (s *teller) hear(ctx context.Context, text string) (botapi.Message, error) {
	m, err := s.api.WaitMessage(ctx, s.person.ID(), func(m botapi.Message) bool {
		return m.FromBot && m.ID > s.last && strings.Contains(m.Body(), text)
	})
	if err != nil {
		return m, fmt.Errorf("no message says %q", text)
	}
	for _, line := range strings.Split(strings.TrimSpace(m.Body()), "\n") {
		fmt.Fprintf(s.out, "    ccbot: %s\n", strings.ReplaceAll(line, s.dir, "…"))
	}
	s.read(ctx)
	return m, nil
}

// read is the time in which a person reads.
func (s *teller) read(ctx context.Context) {
	if !s.fast {
		_ = pause.For(ctx, 2*time.Second) // what comes next notices the end
	}
}

// tap taps a button of a message.
func (s *teller) tap(m botapi.Message, button string) error {
	title, _, _ := strings.Cut(m.Body(), "\n")
	for _, one := range s.api.Messages(s.person.ID()) { // it may have been brought below a text
		if _, has := one.Find(button); has && one.FromBot && one.ID > m.ID && strings.HasPrefix(one.Body(), title) {
			m = one
		}
	}
	for _, row := range m.Keyboard {
		for _, b := range row {
			if strings.TrimSpace(b.Text) == button {
				fmt.Fprintf(s.out, "    you:   [%s]\n", button)
				if _, err := s.person.Tap(s.person.ID(), m.ID, b.Data); !errors.Is(err, botapi.ErrNoAnswer) { // its effect is awaited
					return err
				}
				return nil
			}
		}
	}
	return fmt.Errorf("the message %q has no button %s", m.Body(), button)
}

// until waits for a fact.
func (s *teller) until(ctx context.Context, what string, is func() bool) error {
	for !is() {
		if pause.For(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("not seen: %s", what)
		}
	}
	return nil
}

// agent is the process in the session's window, as tmux and the kernel see it.
func (s *teller) agent(ctx context.Context) (process.Identity, error) {
	pid, err := strconv.Atoi(s.tmux(ctx, "display-message", "-p", "-t", "=ccbot:=shop", "#{pane_pid}"))
	if err != nil {
		return process.Identity{}, errors.New("tmux has no window shop")
	}
	p, err := s.table.Inspect(pid)
	if err == nil {
		s.fact(fmt.Sprintf("the window shop runs pid %d", pid))
	}
	return p.Identity, err
}

func (s *teller) lives(who process.Identity) bool { return s.table.Liveness(who) == process.Alive }

// tmux is an answer of the trial's tmux server; empty: it gave none.
func (s *teller) tmux(ctx context.Context, args ...string) string {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-L", s.socket}, args...)...)
	cmd.Env = os.Environ()
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
