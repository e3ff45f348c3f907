package demoagent

import "syscall"

// suspend handles C-z: it releases the terminal and stops the process, so that the shell in whose
// foreground it was started takes over. Without such a shell the kernel drops the signal: the
// session continues without a screen and without input until it gets SIGCONT. The real one does
// both (seen with 2.1.328).
func (a *agent) suspend() {
	a.suspended = true
	a.term.close()
	a.term.write("\nClaude Code is suspended. Run `fg` to bring it back.\nTo undo typing, press ctrl+_.\n")
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil { // it stops itself
		a.continued()
		a.note(err)
	}
}

// continued takes the terminal again after SIGCONT. In the background ("bg", kill -CONT) taking it
// stops the process once more, as it does the real one.
func (a *agent) continued() {
	if !a.suspended {
		return
	}
	term, err := openTerminal(a.term.in, a.term.out)
	if err != nil {
		a.quit(129, "other")
		return
	}
	a.term, a.suspended = term, false
}
