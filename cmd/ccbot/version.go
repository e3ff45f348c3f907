package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set at build time; a plain `go build` gives the commit instead.
var version string

func versionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: noArgs, Example: "  ccbot version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, versionLine())
			return err
		}}
}

// versionLine is what version and --version print.
func versionLine() string {
	return fmt.Sprintf("ccbot %s %s %s/%s", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return info.Main.Version
}
