package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/backup"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
)

func backupCommand(c *call) *cobra.Command {
	var transcripts bool
	cmd := &cobra.Command{Use: "backup FILE", Args: someArgs(1, 1, "the file that is made", ""), Short: "Write the sessions and settings into FILE, for another machine",
		Long: `Write the records of the sessions, the settings of ccbot.env and the data of the chats into FILE,
which must not exist. On another machine, "ccbot recover --restore FILE" restores it. FILE has
neither the token nor loops, schedules and pending prompts; the command names the settings that it
leaves out, such as CLAUDE_FLAGS. Nothing but FILE is written, and a bot may run.

--transcripts adds the conversations of the sessions, without those of subagents.`,
		Example: "  ccbot backup ~/ccbot-backup.tar.gz\n  ccbot backup --transcripts /media/stick/ccbot.tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeBackup(cmd.Context(), c, args[0], transcripts)
		}}
	cmd.Flags().BoolVar(&transcripts, "transcripts", false, "add the conversations")
	return cmd
}

func writeBackup(ctx context.Context, c *call, file string, transcripts bool) error {
	settings, err := config.LoadForReading(c.environ)
	if err != nil {
		return err
	}
	values, hidden, err := config.Portable(c.environ)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	bot, err := statefolder.Bot(settings.Dir)
	if err != nil {
		return err
	}
	made, err := backup.Make(ctx, file, backup.Source{Dir: settings.Dir, Agents: offline.Agents(settings), Settings: values, Transcripts: transcripts,
		Manifest: backup.Manifest{Program: versionText(), Host: host, At: time.Now().UTC(), Projects: settings.ProjectsDir(), LeftOut: hidden,
			Bot: cmp.Or(settings.Token.Bot(), bot)}})
	if err != nil {
		return fmt.Errorf("backup: %w", statefolder.Error(settings.Dir, err))
	}
	lines := []string{fmt.Sprintf("%s: %s, %s, %s, %s", terminal.Printable(file), terminal.Several(made.Sessions, "session"),
		terminal.Several(made.Chats, "chat"), terminal.Several(len(values), "setting"), terminal.Several(made.Transcripts, "conversation"))}
	note := func(is bool, line string) {
		if is {
			lines = append(lines, line)
		}
	}
	note(len(hidden) > 0, leftOut+strings.Join(hidden, ", "))
	note(len(made.Unreadable) > 0, "left out, because a restore would refuse them: "+terminal.Several(len(made.Unreadable), "file"))
	note(made.Without > 0, "without a conversation that could be copied: "+terminal.Several(made.Without, "session"))
	note(made.Open > 0, fmt.Sprintf("%s still open: later messages are not in it; end them before a move", terminal.Several(made.Open, "session")))
	_, err = fmt.Fprintln(c.stdout, strings.Join(lines, "\n"))
	return err
}

// restoreWhole restores the backup of a whole ccbot.
func restoreWhole(ctx context.Context, c *call, settings config.Config, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	held, err := running.Lock(ctx, settings, c.environ, c.stderr)
	if err != nil {
		return err
	}
	defer held.Close()
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	set, err := config.Settings(c.environ)
	if err != nil {
		return err
	}
	there := make(map[string]string)
	for _, s := range set {
		if s.Source != "default" {
			there[s.Name] = s.Value
		}
	}
	bot, err := statefolder.Bot(settings.Dir)
	if err != nil {
		return err
	}
	done, err := backup.Restore(ctx, file, backup.Target{Dir: settings.Dir, File: settings.File, Set: there, Projects: settings.ProjectsDir(), Agents: offline.Agents(settings),
		Host: host, Bot: cmp.Or(settings.Token.Bot(), bot), Now: time.Now().UTC(), Failpoint: engine.Failpoint(c.environ)})
	if err != nil {
		return fmt.Errorf("restore %s: %w", terminal.Printable(name), statefolder.Error(settings.Dir, err))
	}
	return printRestored(c.stdout, done, settings.File)
}

// leftOut precedes the names of the settings that a backup does not have.
const leftOut = "not in it (secrets, command lines, which may contain one, values of several lines, and what only one machine has): "

// mostFolders is the number of missing folders that are named.
const mostFolders = 20

func printRestored(out io.Writer, done backup.Restored, file string) error {
	lines := []string{fmt.Sprintf("restored: %s, %s, %s of the backup that ccbot %s made on %s %s ago", terminal.Several(done.Sessions, "session"),
		terminal.Several(done.Chats, "chat"), terminal.Several(done.Transcripts, "conversation"), terminal.Printable(done.Program),
		terminal.Printable(done.Host), terminal.Age(time.Since(done.At)))}
	if done.Kept > 0 {
		lines = append(lines, fmt.Sprintf("kept, because they were there: %s", terminal.Several(done.Kept, "file")))
	}
	for _, name := range slices.Sorted(maps.Keys(done.Settings)) {
		lines = append(lines, fmt.Sprintf("written into %s: %s", filepath.Base(file), name))
	}
	if len(done.KeptSettings) > 0 {
		lines = append(lines, "kept as it is set here: "+strings.Join(done.KeptSettings, ", "))
	}
	if len(done.LeftOut) > 0 {
		lines = append(lines, leftOut+terminal.Printable(strings.Join(done.LeftOut, ", ")))
	}
	if len(done.NoFolder) > 0 {
		lines = append(lines, "these folders are not here. Claude Code finds a conversation by the path of its folder, so bring them to the same path:")
		for _, dir := range done.NoFolder[:min(len(done.NoFolder), mostFolders)] {
			lines = append(lines, "  "+terminal.Printable(dir))
		}
		if more := len(done.NoFolder) - mostFolders; more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more", more))
		}
	}
	of := ""
	if done.Bot != "" {
		of = " of bot " + terminal.Printable(done.Bot)
	}
	lines = append(lines, "next: stop the other ccbot, for one bot has one ccbot; then `ccbot setup` here asks for the token"+of+", and starts it")
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
