// Package slashcommand finds the slash commands that Claude Code knows in a folder: its own, and
// those that people have written as files. It only reads, and reads a bounded number of names.
package slashcommand

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// own are Claude Code's own commands, as far as they are like one of ccbot's: version 2.1 of the
// CLI.
var own = []string{"add-dir", "agents", "btw", "bug", "clear", "compact", "config", "context", "copy", "cost", "doctor", "exit",
	"export", "fast", "fork", "help", "hooks", "ide", "init", "login", "logout", "loop", "mcp", "memory", "mobile", "model", "permissions",
	"plan", "plugin", "quit", "rename", "resume", "review", "rewind", "skills", "stats", "status", "tag", "tasks", "theme", "todos",
	"usage", "vim", "voice"}

// mostNames bounds the names that one folder of commands is searched for.
const mostNames = 2000

// Has reports whether Claude Code with a configuration folder has a command of a name in a folder.
// Of a command with a namespace, "plugin:name", both forms count.
func Has(config, dir, name string) bool {
	if slices.Contains(own, name) {
		return true
	}
	if name == "" || strings.ContainsAny(name, `/\`) || !filepath.IsLocal(name) {
		return false
	}
	places := []string{config}
	for top := filepath.Clean(dir); ; top = filepath.Dir(top) {
		places = append(places, filepath.Join(top, ".claude"))
		if top == filepath.Dir(top) {
			break
		}
	}
	file := name[strings.LastIndexByte(name, ':')+1:]
	for _, place := range places {
		if isFile(filepath.Join(place, "skills", file, "SKILL.md")) || isFile(filepath.Join(place, "commands", file+".md")) ||
			holds(filepath.Join(place, "commands"), file) {
			return true
		}
	}
	return holds(filepath.Join(config, "plugins"), file)
}

// holds reports whether a command's file is somewhere below a folder.
func holds(folder, name string) (found bool) {
	names := 0
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		names++
		switch {
		case err != nil && path == folder, names > mostNames:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		}
		skill := d.Name() == "SKILL.md" && filepath.Base(filepath.Dir(path)) == name
		command := d.Name() == name+".md" && slices.Contains(strings.Split(path, string(filepath.Separator)), "commands")
		if found = skill || command; found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
