package brain

import (
	"syscall"

	"ccbot/try/demoagent/terminal"
)

// Suspend is C-z: it releases the terminal, prints text and stops the process, so that the shell in
// whose foreground it was started takes over. Without such a shell the kernel drops the signal: the
// session continues without a screen and without input until it gets SIGCONT.
func (b *Brain) Suspend(text string) {
	b.suspended = true
	b.term.Close()
	b.term.Write(text)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil { // it stops itself
		b.continued()
		b.trouble(err)
	}
}

// continued takes the terminal again after SIGCONT. In the background ("bg", kill -CONT) taking it
// stops the process once more.
func (b *Brain) continued() {
	if !b.suspended {
		return
	}
	term, err := terminal.Open(b.In, b.Out, b.Title)
	if err != nil {
		b.Quit(129, "other")
		return
	}
	b.term, b.suspended = term, false
}
