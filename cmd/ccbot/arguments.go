package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/session"
	"ccbot/port"
)

// call is one call of ccbot: its environment, its outputs and its flags.
type call struct {
	environ        []string
	stdout, stderr io.Writer
	asJSON         bool
}

// show prints what a verb has found or done.
func (c *call) show(v any, print func(*terminal.Printer)) error {
	return terminal.Show(c.stdout, c.asJSON, v, func(p *terminal.Printer) {
		paged, end := terminal.Pager(p.Out, c.environ)
		p.Out = paged
		print(p)
		p.Err = cmp.Or(p.Err, end())
	})
}

// paged shows what print writes, with a pager if it is long. JSON has none.
func paged(c *call, print func(out io.Writer) error) error {
	if c.asJSON {
		return print(c.stdout)
	}
	out, end := terminal.Pager(c.stdout, c.environ)
	return cmp.Or(print(out), end())
}

// printing adds --json to a verb.
func (c *call) printing(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}

// session opens the View and finds the session that a person means, preferably a fitting one.
func (c *call) session(what string, fits func(port.Session) bool) (d offline.View, r port.Session, err error) {
	if d, err = offline.Open(c.environ, c.stderr); err == nil {
		r, err = d.Find(what, fits)
	}
	return d, r, err
}

// record opens the View and finds the whole record that a person means.
func (c *call) record(what string) (d offline.View, r session.Record, err error) {
	if d, err = offline.Open(c.environ, c.stderr); err == nil {
		r, err = d.Record(what)
	}
	return d, r, err
}

// errInterrupted is for what ends while it still reads the input.
var errInterrupted = errors.New("interrupted: nothing was done")

// errDeclined is for a question that was not answered with y.
var errDeclined = errors.New("nothing was done: answer y")

// confirm asks a question that is answered with y.
func (c *call) confirm(cmd *cobra.Command, question string) error {
	p := &terminal.Printer{Out: c.stderr}
	p.Line("%s [y/N]", question)
	said, _ := bufio.NewReader(terminal.Input(cmd.Context(), cmd.InOrStdin())).ReadString('\n')
	if cmd.Context().Err() != nil {
		return errInterrupted
	}
	if said = strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		if cmd.Flags().Lookup("yes") == nil {
			return errDeclined
		}
		return fmt.Errorf("%w, or give --yes", errDeclined)
	}
	return p.Err
}

// noArgs refuses arguments that the verb does not take.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return exit.Usage(fmt.Errorf("unknown command or argument %q%s; see %s --help", args[0], meant, cmd.CommandPath()))
}

// flagError describes the values of a flag in plain words, in place of Go's own.
func flagError(err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		takes := map[string]string{"int": "a number", "int64Slice": "numbers, with commas between them", "bool": "true or false"}
		if text := takes[wrong.GetFlag().Value.Type()]; text != "" {
			// the value may be a token
			return fmt.Errorf("--%s takes %s", wrong.GetFlag().Name, text)
		}
		return fmt.Errorf("--%s: %w", wrong.GetFlag().Name, wrong.Unwrap())
	}
	return err
}

// someArgs requires the arguments in the verb's usage: least to most of them, the first not empty.
// hint is for any other number.
func someArgs(least, most int, what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most || args[0] == "" {
			usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
			return exit.Usage(fmt.Errorf("say %s: %s%s", what, usage, hint))
		}
		return nil
	}
}

// oneSession wants the name of one session.
var oneSession = someArgs(1, 1, "which session", "")
