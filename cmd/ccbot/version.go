package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/release"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
)

// version is set at build time, as "<<ccbot version v1.2.3>>", so that it is found in the program's
// file; a plain `go build` uses the commit instead.
var version string

// commit is set at build time, with its day, as "0123456789ab of 2026-05-04".
var commit string

func (c *call) versionCommand() *cobra.Command {
	var check string
	cmd := &cobra.Command{Use: "version", Short: "Print the version, or compare it with a release",
		Example: "  ccbot version --check ~/Downloads/ccbot-v1.5.0-linux-amd64.tar.gz\n  ccbot version --check    # the release of CCBOT_RELEASE_URL",
		RunE: func(cmd *cobra.Command, args []string) error {
			compares := cmd.Flags().Changed("check")
			if compares && check == published && len(args) > 0 { // without an equals sign
				check, args = args[0], args[1:]
			}
			if err := noArgs(cmd, args); err != nil {
				return err
			}
			switch {
			case compares && check == published:
				return checkPublished(cmd.Context(), c.environ, c.stdout)
			case compares:
				return checkRelease(c.environ, check, c.stdout)
			}
			_, err := fmt.Fprintln(c.stdout, versionLine())
			return err
		}}
	cmd.Flags().StringVar(&check, "check", "", "compare with a release: a program, its archive, a folder, or the one of CCBOT_RELEASE_URL; runs nothing of it")
	cmd.Flags().Lookup("check").NoOptDefVal = published
	return cmd
}

// published is the value of --check without a file.
const published = "CCBOT_RELEASE_URL"

// checkPublished compares this program with the release of CCBOT_RELEASE_URL by its version.
func checkPublished(ctx context.Context, environ []string, stdout io.Writer) error {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return err
	}
	if c.ReleaseURL == "" {
		return exit.Usage(errors.New("CCBOT_RELEASE_URL is not set; name a file, or set it to the address of the releases"))
	}
	if err := c.TrustCertificates(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{Proxy: c.Proxy()}}
	version, archive, err := release.Published(ctx, client, c.ReleaseURL, release.Platform)
	if err != nil {
		return err
	}
	age, newer := ageOf(release.Release{Version: version})
	p := &terminal.Printer{Out: stdout}
	for _, row := range [][2]string{{"this", versionText()}, {"release", version + ", " + age}, {"archive", archive}} {
		p.Line("%-12s%s", row[0], terminal.Printable(row[1]))
	}
	return cmp.Or(p.Err, newer)
}

// versionLine is the output of version and --version.
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
	if version != "" {
		return release.Version(version)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return release.Built(info)
}

// errUnusable is returned if a release cannot replace this program; the lines before it are the
// reasons.
var errUnusable = errors.New("the release cannot take the place of this ccbot")

// errNewer sets the exit code of a release that can replace this program.
var errNewer = exit.Newer(errors.New("the release can take the place of this ccbot"))

// checkRelease compares this program with a release.
func checkRelease(environ []string, name string, stdout io.Writer) error {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return err
	}
	file, err := release.Find(name, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err
	}
	r, err := release.Read(file)
	if err != nil {
		return err
	}
	sum, err := release.Checksum(file)
	if err != nil {
		return err
	}
	folder, err := statefolder.ReadFormat(c.Dir)
	if err != nil {
		return err
	}
	age, newer := ageOf(r)
	state, fits := fitOf(r, folder)
	platform := r.Platform == release.Platform
	p := &terminal.Printer{Out: stdout}
	row := func(title, format string, args ...any) {
		p.Line("%-12s%s", title, terminal.Printable(fmt.Sprintf(format, args...)))
	}
	row("this", "%s", versionText())
	row("release", "%s, %s", cmp.Or(r.Version, "of no version"), age)
	row("platform", "%s, %s", r.Platform, map[bool]string{true: "fits", false: "this machine is " + release.Platform}[platform])
	row("checksum", "%s", sum)
	row("state", "%s", state)
	if p.Err != nil {
		return p.Err
	}
	if !platform || !fits || sum == release.SumWrong {
		return errUnusable
	}
	return newer
}

// ageOf describes how old a release is, with the error that sets the exit code of a newer one.
func ageOf(r release.Release) (string, error) {
	order, known := release.Order(r.Version, versionText())
	switch {
	case !known:
		return "which may be older or newer", errNewer
	case order > 0:
		return "newer", errNewer
	case order < 0:
		return "older", nil
	}
	return "the same", nil
}

// fitOf reports whether a release fits the version of the state folder, or 0 for no folder.
func fitOf(r release.Release, folder int) (string, bool) {
	this, _ := release.Of([]byte(release.State))
	switch {
	case r.Folder < folder:
		return fmt.Sprintf("does not fit: the folder has version %d, the release knows %d", folder, r.Folder), false
	case r.Records < this.Records:
		return fmt.Sprintf("does not fit: records have version %d, the release knows %d", this.Records, r.Records), false
	}
	return fmt.Sprintf("fits: version %d of the folder, %d of records", cmp.Or(folder, r.Folder), this.Records), true
}
