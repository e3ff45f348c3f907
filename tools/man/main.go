// Man makes ccbot's man pages out of what the program says of its commands:
//
//	ccbot describe-commands | go run ./man FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

type command struct {
	Use, Short, Long, Example string
	Flags                     []struct{ Name, Shorthand, Usage, Default, Type string }
	Commands                  []command
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ccbot describe-commands | man FOLDER")
		os.Exit(2)
	}
	if err := pages(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func pages(dir string) error {
	var root command
	if err := json.NewDecoder(os.Stdin).Decode(&root); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root.cobra(), &doc.GenManHeader{Section: "1", Source: "ccbot", Manual: "ccbot"}, dir)
}

// cobra is the command for cobra, which makes the pages.
func (c command) cobra() *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Short, Long: c.Long, Example: c.Example, DisableAutoGenTag: true, Run: func(*cobra.Command, []string) {}}
	for _, f := range c.Flags {
		if f.Name == "help" || f.Name == "version" {
			continue // cobra has them itself
		}
		if f.Type == "bool" {
			cmd.Flags().BoolP(f.Name, f.Shorthand, false, f.Usage)
		} else {
			cmd.Flags().StringP(f.Name, f.Shorthand, f.Default, f.Usage)
		}
	}
	for _, one := range c.Commands {
		cmd.AddCommand(one.cobra())
	}
	return cmd
}
