package demoagent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// environment looks variables up in a list as os.Environ gives it; the last entry wins.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// configDir is Claude Code's folder: CLAUDE_CONFIG_DIR or ~/.claude.
func (e environment) configDir() string {
	if dir := e.get("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(e.get("HOME"), ".claude")
}

// globalConfig is .claude.json: inside CLAUDE_CONFIG_DIR when that is set, else in HOME.
func (e environment) globalConfig() string {
	if dir := e.get("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(e.get("HOME"), ".claude.json")
}

// projectFolder is the name of a folder's transcripts: every character but ASCII letters and digits
// becomes a dash.
func projectFolder(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

// transcriptPath returns the path of a new session's transcript.
func transcriptPath(config, cwd string, id uuid.UUID) string {
	return filepath.Join(config, "projects", projectFolder(cwd), id.String()+".jsonl")
}

// findTranscript looks in all project folders: a session may be resumed from another folder.
func findTranscript(config string, id uuid.UUID) (string, error) {
	found, err := filepath.Glob(filepath.Join(config, "projects", "*", id.String()+".jsonl"))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fs.ErrNotExist
	}
	return found[0], nil
}

// newestSession is the session of cwd that was written last.
func newestSession(config, cwd string) (uuid.UUID, error) {
	entries, err := os.ReadDir(filepath.Join(config, "projects", projectFolder(cwd)))
	if err != nil {
		return uuid.Nil, err
	}
	var newest fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		if newest == nil || info.ModTime().After(newest.ModTime()) {
			newest = info
		}
	}
	if newest == nil {
		return uuid.Nil, errors.New("no session in this folder")
	}
	return uuid.Parse(strings.TrimSuffix(newest.Name(), ".jsonl"))
}
