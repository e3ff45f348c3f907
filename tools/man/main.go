// Man makes ccbot's man pages from the program's description of its commands:
//
//	ccbot describe-commands | go run ./man FOLDER
//	ccbot-hub describe-commands | go run ./man FOLDER
//
// The pages of ccbot-hub come second, because a run completes all pages whose names begin with its
// program's.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

type command struct {
	Use, Short, Long, Example string
	Flags                     []struct{ Name, Shorthand, Usage, Default, Type string }
	Commands                  []command
	More                      []section // of the root: sections of all pages
}

type section struct {
	Title string
	Rows  [][2]string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: PROGRAM describe-commands | man FOLDER")
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
	if err := doc.GenManTree(root.cobra(), &doc.GenManHeader{Section: "1", Source: "ccbot", Manual: "ccbot"}, dir); err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(dir, root.name()+"*.1"))
	for _, page := range all {
		err = errors.Join(err, appendTo(page, root.More))
	}
	return err
}

// appendTo appends sections to a page, before its section SEE ALSO.
func appendTo(page string, sections []section) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "\n.SH %s\n", s.Title)
		for _, row := range s.Rows {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", escaped(row[0]), escaped(row[1]))
		}
	}
	before, after, also := strings.Cut(string(data), ".SH SEE ALSO")
	text := before + strings.TrimPrefix(b.String(), "\n")
	if also {
		text += "\n.SH SEE ALSO" + after
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// escaped is a text in which man reads no request and no escape.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// name returns the first word of the usage line.
func (c command) name() string {
	name, _, _ := strings.Cut(c.Use, " ")
	return name
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
