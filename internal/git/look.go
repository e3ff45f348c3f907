package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/wording"
)

const (
	// timeout is how long git may take in all; a huge tree on a cold disk takes longer.
	timeout = 2 * time.Second
	// afterwards is how long what git may have left behind can hold its output. On a busy machine the
	// output of a git that has ended takes a while, too.
	afterwards = 5 * time.Second
	// maxOutput limits the kept output of git. Only the last of very many untracked files are cut
	// off.
	maxOutput = 64 << 10
	// maxMemory limits git's memory: a repository can name an endless file, which git reads as one
	// line.
	maxMemory = 1 << 30
	// maxComplaint limits the kept standard error of git.
	maxComplaint = 1 << 10
)

// errName says that the repository has a filter or a hook that cannot be switched off safely by its
// name.
var errName = errors.New("git: a filter or a hook has a strange name")

// Compare returns the state of the repository that dir is in, and the changes in its work tree
// since a commit; since may be empty. A nil state without an error means that dir is in no
// repository, or that git is not installed. env is git's environment, without variables that would
// lead it elsewhere. Without since the changes are nil. If the repository has no such commit or git
// is too slow, Compare returns the state and an error.
func Compare(ctx context.Context, dir string, env []string, since string) (*State, *Changes, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return comparison(ctx, dir, env, since)
}

// comparison is Compare without its bound in time.
func comparison(ctx context.Context, dir string, env []string, since string) (*State, *Changes, error) {
	g, err := open(ctx, dir, env)
	if g == nil || err != nil {
		return nil, nil, err
	}
	said, err := g.run(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal",
		"--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return nil, nil, err
	}
	s, untracked := parse(said)
	s.Root, s.At = g.dir, time.Now().UTC()
	if since == "" {
		return &s, nil, nil
	}
	if !commitID.MatchString(since) { // git would take it for something else
		return &s, nil, fmt.Errorf("git: invalid commit id %q", since)
	}
	// Its own refresh of the index would be written, in spite of --no-optional-locks (2.39).
	said, err = g.run(ctx, "-c", "diff.autoRefreshIndex=false", "diff", "--shortstat", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=dirty", since, "--")
	if err != nil {
		return &s, nil, err
	}
	c := parseShortstat(string(said))
	c.Untracked = untracked
	return &s, &c, nil
}

// commitID is a commit's whole id, of either of git's hashes.
var commitID = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// figures matches the numbers of " 2 files changed, 3 insertions(+), 1 deletion(-)"; git omits a
// zero.
var figures = lazyregexp.New(`(\d+) (file|insertion|deletion)`)

func parseShortstat(said string) (c Changes) {
	figure := map[string]*int{"file": &c.Files, "insertion": &c.Insertions, "deletion": &c.Deletions}
	for _, m := range figures.FindAllStringSubmatch(said, -1) {
		*figure[m[2]], _ = strconv.Atoi(m[1])
	}
	return c
}

// findRoot looks upwards for what git takes for a repository, so that most directories cost no
// process.
func findRoot(dir string) (string, bool) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "", false
	}
	for ; ; dir = filepath.Dir(dir) {
		mark := filepath.Join(dir, ".git")
		info, err := os.Stat(mark)
		if err == nil && info.IsDir() {
			_, err = os.Lstat(filepath.Join(mark, "HEAD")) // otherwise git ignores it
		}
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// caller runs git in one repository.
type caller struct {
	program, dir string
	env          []string
	options      []string // also precede every command
}

// always precedes every command. It disables locks and writes, hooks, file system monitors and
// programs that verify signatures.
var always = []string{"--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	"-c", "log.showSignature=false"}

// run returns the start of git's output.
func (g caller) run(ctx context.Context, args ...string) ([]byte, error) {
	said := &start{limit: maxOutput}
	err := g.runWithInput(ctx, "", said, args...)
	return said.kept.Bytes(), err
}

// runWithInput runs git with an input, and writes the start of its output to said.
func (g caller) runWithInput(ctx context.Context, input string, said io.Writer, args ...string) error {
	complaint := &start{limit: maxComplaint}
	cmd := exec.CommandContext(ctx, g.program, slices.Concat(always, g.options, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, afterwards
	// The configuration may name another folder for a linked work tree (core.worktree): git would
	// write its files there.
	if mark, err := os.Lstat(filepath.Join(g.dir, ".git")); err == nil && mark.Mode().IsRegular() {
		cmd.Env = append(slices.Clip(cmd.Env), "GIT_WORK_TREE="+g.dir)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), said, complaint
	err := cmd.Start()
	if err == nil {
		boundMemory(cmd.Process.Pid)
		err = cmd.Wait()
	}
	switch late := ctx.Err(); {
	case err == nil:
		return nil
	case late != nil:
		err = late
	case complaint.kept.Len() > 0:
		err = &Refused{complaint.kept.String(), err}
	}
	return wording.Errorf("git in %s: %w", wording.Path(g.dir), err)
}

// Refused is git's refusal of a command.
type Refused struct {
	Output string // its own words, several lines perhaps
	err    error
}

func (e *Refused) Error() string { return e.err.Error() + ": " + strings.TrimSpace(e.Output) }

func (e *Refused) Unwrap() error { return e.err }

// Masked implements wording.Worded: git repeats names of files.
func (e *Refused) Masked(m wording.Mask) string {
	return m.Error(e.err) + ": " + wording.Text(strings.TrimSpace(e.Output)).String()
}

// programsOff are options that switch off the programs that the configuration names for the
// conversion of files, which git would run to see whether a file has changed, and to check it out,
// and those that are hooks (since 2.54). With git-lfs a touched file may then look changed.
func (g caller) programsOff(ctx context.Context) ([]string, error) {
	said, err := g.run(ctx, "config", "-z", "--name-only", "--get-regexp", `^(filter\..*\.(clean|smudge|process)|hook\..*\.command)$`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // no worktrees
	}
	if err != nil {
		return nil, err
	}
	if len(said) == maxOutput {
		return nil, errName // not all of them are known
	}
	var off []string
	for key := range strings.SplitSeq(strings.TrimSuffix(string(said), "\x00"), "\x00") {
		name := key[:max(0, strings.LastIndexByte(key, '.'))]
		if strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("%w: %q", errName, name) // -c would take it for something else
		}
		if strings.HasPrefix(name, "hook.") {
			off = append(off, "-c", name+".enabled=false")
		} else {
			off = append(off, "-c", key+"=", "-c", name+".required=false")
		}
	}
	return off, nil
}

// clean returns env without git's variables; in it git does not prompt and does not fetch.
func clean(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "LC_ALL=")
	})
	// A repository that was cloned in part would fetch what it lacks, by whatever program its
	// configuration names.
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
}

// parse reads the porcelain format, version 2, with NUL after each line.
func parse(said []byte) (s State, untracked int) {
	for line := range bytes.SplitSeq(said, []byte{0}) {
		text := string(line)
		if oid, ok := strings.CutPrefix(text, "# branch.oid "); ok && oid != "(initial)" {
			s.Head = oid
		}
		if branch, ok := strings.CutPrefix(text, "# branch.head "); ok && branch != "(detached)" {
			s.Branch = branch
		}
		s.Dirty = s.Dirty || text != "" && !strings.HasPrefix(text, "# ")
		if strings.HasPrefix(text, "? ") {
			untracked++
		}
	}
	return s, untracked
}

// start keeps the first bytes of what is written to it. The buffer is not embedded: io.Copy would
// use its ReadFrom, which knows no limit.
type start struct {
	kept  bytes.Buffer
	limit int
	cut   bool // there was more
}

func (s *start) Write(p []byte) (int, error) {
	kept, _ := s.kept.Write(p[:min(len(p), s.limit-s.kept.Len())])
	s.cut = s.cut || kept < len(p)
	return len(p), nil
}

// State is a repository at one moment.
type State struct {
	Root   string    `json:"root"`             // its top directory, absolute
	Branch string    `json:"branch,omitempty"` // empty: a detached HEAD
	Head   string    `json:"head,omitempty"`   // commit id; empty before the first commit
	Dirty  bool      `json:"dirty"`            // something is changed or not tracked
	At     time.Time `json:"at"`
}

// Changes counts the changes of a work tree since a commit, committed or not.
type Changes struct {
	Files      int `json:"files"`
	Insertions int `json:"inserted_lines"`
	Deletions  int `json:"deleted_lines"`
	// new files, and folders with nothing else in them, which the others do not count
	Untracked int `json:"untracked"`
}
