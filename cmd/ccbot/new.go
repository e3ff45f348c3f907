package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/bot/newtext"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/folders"
)

func (c *call) newCommand() *cobra.Command {
	var q running.Start
	var mode, model string
	cmd := &cobra.Command{Use: "new [NAME] [DIR]", Short: "Start a session",
		Long: `Start a session in a folder; without DIR in the current one. An argument that begins with /, ~
or . is the folder. Without NAME the session is named after the folder, and may be named
after its first prompt later: a script should use the id that --json prints, as NAME. The session
belongs to the private chat of the first of ALLOWED_USERS. That chat announces the session and makes
it the current one, or opens a topic for it.`,
		Example: "  ccbot new\n  ccbot new api ~/src/api --model Opus --prompt 'run the tests'",
		Args: func(_ *cobra.Command, args []string) (err error) {
			q.Name, q.Path, err = nameAndPath(args)
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			settings, err := config.LoadForReading(c.environ)
			if err != nil {
				return err
			}
			q.Key, q.Agent = uuid.New(), strings.ToLower(q.Agent)
			if q.With, err = modeAndModel(offline.Agents(settings).Of(q.Agent).Abilities, mode, model); err != nil {
				return exit.Usage(err)
			}
			if q.Base, err = os.Getwd(); err != nil {
				return err
			}
			if !folders.IsText(q.Base) || !folders.IsText(q.Path) {
				return exit.Usage(errors.New("the path of the folder is not UTF-8, so ccbot does not use it"))
			}
			if q.Prompt, err = given(cmd.Context(), q.Prompt, cmd.InOrStdin()); err != nil {
				return err
			}
			did, alone, err := running.Starting.Make(cmd.Context(), c.environ, c.stderr, q)
			if err != nil {
				return err
			}
			return c.show(did, func(p *terminal.Printer) {
				p.Line("%s starts in %s", terminal.Printable(did.Name), terminal.Printable(did.Dir))
				if alone && q.Prompt != "" {
					p.Line("the prompt is sent once ccbot runs")
				}
				p.Line("in a terminal: %s", did.Attach)
			})
		}}
	cmd.Flags().StringVar(&model, "model", "", "the model of Claude Code, such as Opus")
	cmd.Flags().StringVar(&mode, "mode", "", "the permission mode of Claude Code: default, acceptEdits or plan")
	cmd.Flags().StringVar(&q.Agent, "agent", "", "the coding agent: claude, or on Linux codex; without it the one of /new")
	cmd.Flags().StringVar(&q.Prompt, "prompt", "", "the agent's first prompt; - reads it from the standard input")
	return cmd
}

// modeAndModel returns the mode and the model of a new session, or an error if its agent does not
// have them.
func modeAndModel(can port.Abilities, mode, model string) (with port.ModeChange, err error) {
	with = port.ModeChange{Mode: port.Mode(mode), Model: can.Model(model)}
	switch {
	case mode != "" && !can.HasMode(with.Mode):
		return with, notOffered("mode", each.As(can.Modes, func(m port.Mode) string { return string(m) }))
	case model != "" && with.Model == "":
		return with, notOffered("model", can.Models)
	}
	return with, nil
}

// notOffered is the error about a flag whose value the agent does not have.
func notOffered(flag string, all []string) error {
	switch last := len(all) - 1; last {
	case -1:
		return fmt.Errorf("the %s of this agent cannot be chosen: leave out --%s", flag, flag)
	case 0:
		return fmt.Errorf("--%s is %s", flag, all[0])
	default:
		return fmt.Errorf("--%s is %s or %s", flag, strings.Join(all[:last], ", "), all[last])
	}
}

// nameAndPath tells the folder from the name, as /new does.
func nameAndPath(args []string) (name, path string, err error) {
	switch len(args) {
	case 0:
		return "", "", nil
	case 1:
		name, path = newtext.NameAndPath(args[0], noMachine)
		if path == "" && strings.Contains(args[0], "/") {
			return "", "", exit.Usage(fmt.Errorf("is %q the folder? Then write ./%s", args[0], args[0]))
		}
		return name, path, nil
	case 2:
		if name, path = newtext.NameAndPath(args[0], noMachine); name == "" && path != "" {
			return "", "", exit.Usage(fmt.Errorf("%q is not a name: an argument that begins with /, ~ or . is a folder", args[0]))
		}
		return args[0], args[1], nil
	}
	return "", "", exit.Usage(errors.New("one name and one folder: ccbot new [NAME] [DIR]; quote a name with blanks"))
}

// noMachine reports that no other machine has a name: a verb starts sessions here only.
func noMachine(string) bool { return false }

// mostTyped bounds a text that is read for an agent.
const mostTyped = 4 << 20

// given is a text of the command line; "-" stands for the standard input.
func given(ctx context.Context, text string, stdin io.Reader) (string, error) {
	if text != "-" {
		return text, nil
	}
	data, err := io.ReadAll(io.LimitReader(terminal.Input(ctx, stdin), mostTyped+1))
	switch {
	case ctx.Err() != nil:
		return "", errInterrupted
	case err != nil:
		return "", err
	case len(data) > mostTyped:
		return "", errors.New("the text has more than 4 MB: put it into a file, and let the agent read that")
	case strings.TrimSpace(string(data)) == "":
		return " ", nil // it is blank, and not left out
	}
	return strings.TrimRight(string(data), "\r\n"), nil // without the last line's end
}
