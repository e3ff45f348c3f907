package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set at build time; a plain `go build` uses the commit instead.
var version string

// commit is set at build time, with its day, as "0123456789ab of 2026-05-04".
var commit string

// changes says where the changes of each version are listed.
const changes = "Changes: CHANGELOG.md in the archive of each release; a package has it in /usr/share/doc/ccbot"

func (c *call) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Args: noArgs, Short: "Print the version, and where the changes are listed", Example: "  ccbot version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.stdout, "%s\n%s\n", versionLine(), changes)
			return err
		}}
}

// versionLine is the output of --version, and the first line of version.
func versionLine() string {
	return withCommit("ccbot "+versionText(), commit) + fmt.Sprintf(" %s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func withCommit(program, commit string) string {
	if commit == "" {
		return program
	}
	return program + ", commit " + commit + ","
}

func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	return cmp.Or(version, built(info))
}

// built is the version that Go has noted in a program.
func built(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return info.Main.Version
}
