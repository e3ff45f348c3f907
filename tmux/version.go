package tmux

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// MinVersion is the oldest tmux that works. 3.2 introduced features that are used here: -N,
// list-panes -f, the n: format, client flags with new-session -f.
const MinVersion = "3.2"

// release matches "3.3a", "next-3.4" and the like; a build without a number ("master") is newer
// than any of them.
var release = regexp.MustCompile(`^(?:next-)?(\d+)\.(\d+)`)

// Installed finds tmux and asks its version, such as "3.5a". The error is ErrNoTmux or ErrTooOld.
func Installed(env []string) (version string, err error) {
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	return checkVersion(binary, env)
}

// checkVersion asks tmux for its version, in the environment that all tmux processes of ccbot get.
func checkVersion(binary string, env []string) (version string, err error) {
	cmd := exec.Command(binary, "-V")
	cmd.Env = append([]string{}, env...) // never nil: for nil os/exec would take ccbot's own
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: ask %s for its version: %w", ErrNoTmux, binary, err)
	}
	version = strings.TrimSpace(strings.TrimPrefix(string(out), "tmux "))
	return version, tooOld(version)
}

// tooOld returns an ErrTooOld with both versions, or nil. OpenBSD's own versions ("openbsd-7.5")
// have no tmux number and pass.
func tooOld(version string) error {
	m := release.FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major > 3 || major == 3 && minor >= 2 {
		return nil
	}
	return fmt.Errorf("%w: it is %s, needed is %s", ErrTooOld, version, MinVersion)
}
