package service

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ccbot/internal/lazyregexp"
)

// Program is the program that the service runs, with its environment.
type Program struct {
	Binary   string // absolute path of ccbot
	Path     string // the whole PATH, literally
	StateDir string // CCBOT_DIR; empty: its default
	Home     string
	Host     bool     // it runs sessions for a chat on another machine
	Needs    []string // programs that ccbot looks for in Path
}

// verb returns the words of the verb that the service runs.
func (p Program) verb() []string {
	if p.Host {
		return []string{"host", "run"}
	}
	return []string{"run"}
}

// finds returns the programs that a PATH leads to.
func (p Program) finds(path string) (all []string) {
	for _, name := range p.Needs {
		found := ""
		for _, dir := range filepath.SplitList(path) {
			if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
				found = program
				break
			}
		}
		all = append(all, found)
	}
	return all
}

// FullPath is a PATH for a service: the folder of claude, what the person's own shell has, and what
// each system has. Entries that are not absolute would mean something else there, and are left out.
func FullPath(claude, shell string) string {
	var all []string
	for _, dir := range append(append([]string{claude}, filepath.SplitList(shell)...), "/usr/local/bin", "/usr/bin", "/bin") {
		if filepath.IsAbs(dir) && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return strings.Join(all, string(filepath.ListSeparator))
}

// check refuses what a file of a service cannot hold in one line, and a program that systemd does
// not start because of its name.
func (p Program) check() error {
	for _, text := range []string{p.Binary, p.Path, p.StateDir, p.Home} {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("a control character in %q cannot be in a service file", text)
		}
		// systemd leaves out such a line, and the service would have another folder
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, so it cannot be in a service file", text)
		}
	}
	if strings.ContainsAny(p.Binary, `"'\`) {
		return fmt.Errorf("systemd starts no program with a quotation mark or a backslash in its path: %s", p.Binary)
	}
	return nil
}

// Unit is the unit of systemd. A host sends no reports to it: nothing there waits for Telegram.
func Unit(p Program) string {
	environment := "Environment=" + unitWord("PATH="+p.Path) + "\n"
	if p.StateDir != "" {
		environment += "Environment=" + unitWord("CCBOT_DIR="+p.StateDir) + "\n"
	}
	kind, reload, watchdog := "notify", "ExecReload=/bin/sh -c 'kill -HUP $$MAINPID'\n", "WatchdogSec=5min\n"
	if p.Host {
		kind, reload, watchdog = "exec", "", ""
	}
	return sign(`# Written by "ccbot service install"; sum ` + noSum + `.
# For changes of your own: systemctl --user edit ccbot
[Unit]
Description=ccbot
StartLimitIntervalSec=10min
StartLimitBurst=5

[Service]
Type=` + kind + `
ExecStart=` + unitWord(p.Binary) + ` ` + strings.Join(p.verb(), " ") + `
` + reload + environment + `Restart=on-failure
RestartSec=5s
RestartPreventExitStatus=2 3
` + watchdog + `TimeoutStartSec=5min
TimeoutStopSec=30s
KillMode=process
LimitCORE=0

[Install]
WantedBy=default.target
`)
}

// PackageUnit returns the unit that a package installs for all users: its PATH has the folder of
// each user's own programs. A unit that Install writes takes its place.
func PackageUnit(binary string) string {
	const home = "/HOME" // unitWord would quote systemd's %h
	text := Unit(Program{Binary: binary, Path: home + "/.local/bin:/usr/local/bin:/usr/bin:/bin"})
	_, text, _ = strings.Cut(text, "\n") // only Install signs what it writes
	return strings.Replace(text, home, "%h", 1)
}

// unitWord quotes a word of a unit: systemd.syntax(7), and % of systemd.unit(5).
func unitWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(word) + `"`
}

// Plist is the agent of launchd. launchd expands nothing, and knows no exit code after which it
// should not start the program again: it waits for half a minute between two starts. Umask is octal
// 077.
func Plist(p Program) string {
	more := ""
	if p.StateDir != "" {
		more = "\n\t\t<key>CCBOT_DIR</key>\n\t\t<string>" + html.EscapeString(p.StateDir) + "</string>"
	}
	return sign(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "ccbot service install"; sum ` + noSum + `. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + html.EscapeString(p.Binary) + `</string>
		<string>` + strings.Join(p.verb(), "</string>\n\t\t<string>") + `</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>` + html.EscapeString(p.Path) + `</string>` + more + `
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>30</integer>
	<key>ExitTimeOut</key>
	<integer>30</integer>
	<key>AbandonProcessGroup</key>
	<true/>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardErrorPath</key>
	<string>` + html.EscapeString(logFile(p)) + `</string>
</dict>
</plist>
`)
}

// label is the name of the service.
const label = "ccbot"

// logFile is the file in which launchd keeps ccbot's log.
func logFile(p Program) string { return filepath.Join(p.Home, "Library", "Logs", "ccbot.log") }

const noSum = "SUM"

var sumOf = lazyregexp.New(`(service install"; sum )[0-9a-f]{16}\.`)

// sign puts the checksum of a text into it.
func sign(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.Replace(text, "sum "+noSum, "sum "+hex.EncodeToString(sum[:8]), 1)
}

// untouched reports whether a text is as some ccbot has written it.
func untouched(text string) bool {
	return sumOf.MatchString(text) && sign(sumOf.ReplaceAllString(text, "${1}"+noSum+".")) == text
}
