package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/caarlos0/env/v11"
	"golang.org/x/term"
)

// Pager returns a writer for a text that may be longer than the terminal. end shows the text: with
// PAGER, or less, if out is a terminal with fewer lines. An empty PAGER, or cat, means no pager.
// The pager gets the environment.
func Pager(out io.Writer, environ []string) (text io.Writer, end func() error) {
	f, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return out, func() error { return nil }
	}
	all := new(bytes.Buffer)
	return all, func() error {
		_, height, err := term.GetSize(int(f.Fd()))
		words := pagerOf(env.ToMap(environ))
		if err != nil || len(words) == 0 || bytes.Count(all.Bytes(), []byte("\n")) < height {
			_, err := f.Write(all.Bytes())
			return err
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, all, f, os.Stderr
		// a person may leave it early
		if err := cmd.Run(); err == nil || errors.Is(err, syscall.EPIPE) || cmd.ProcessState != nil {
			return nil
		}
		_, err = f.Write(all.Bytes()) // there is no such program
		return err
	}
}

// pagerOf returns the pager's words, or nil for no pager.
func pagerOf(vars map[string]string) []string {
	pager, is := vars["PAGER"]
	if !is {
		return []string{"less", "-FRX"}
	}
	words := strings.Fields(pager)
	if len(words) == 1 && words[0] == "cat" {
		return nil
	}
	return words
}
