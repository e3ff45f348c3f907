package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"ccbot/bot/hosts"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/member"
)

// hostVerbs are the verbs of `ccbot host`.
type hostVerbs struct{ *call }

func hostCommand(call *call) *cobra.Command {
	c := hostVerbs{call}
	root := &cobra.Command{Use: "host", Args: noArgs, Short: "Other machines of this chat: hub | add | list | remove | run",
		Example: "  ccbot host hub hub.example.net:4443 PIN > trust.json\n  ccbot host add B",
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage(errors.New("missing verb: ccbot host hub, add, list, remove or run"))
		}}
	root.AddCommand(c.hubCommand(), c.addCommand(), c.listCommand(), c.removeCommand(), c.runCommand())
	return root
}

func (c hostVerbs) hubCommand() *cobra.Command {
	return &cobra.Command{Use: "hub HOST:PORT [PIN]", Args: someArgs(1, 2, "which hub", "; `ccbot-hub pin` prints the pin"), Short: "Name the hub of this chat, and print what the hub needs",
		Long: `Name the hub through which this chat reaches its machines, and print the file trust.json, which
the hub needs; it has no secret. PIN is what ` + "`ccbot-hub pin`" + ` prints on the hub's machine. The keys
of the chat are made at the first call, and stay in ccbot's folder.

Instead of a hub and its pin, tls://HOST:PORT of an existing NATS server with JetStream prints the
account of this chat, which the operator of that server signs, here and after each removal:
` + "`nsc import account --overwrite --file FILE`, `nsc push`" + `.`,
		Example: "  ccbot host hub hub.example.net:4443 \"$(ssh hub ccbot-hub pin)\" | ssh hub 'cat > .local/state/ccbot-hub/trust.json'",
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := offline.Open(c.environ, c.stderr)
			if err != nil {
				return err
			}
			text, err := setHub(running.FleetFolder(d.Dir), args)
			if errors.Is(err, center.ErrAddress) {
				return exit.Usage(err)
			}
			if err == nil {
				_, err = fmt.Fprintln(c.stdout, text)
			}
			return err
		}}
}

// setHub names a hub with its pin, or an existing NATS server, and returns what it has to know.
func setHub(folder string, args []string) (string, error) {
	if len(args) == 1 {
		return center.SetServer(folder, args[0])
	}
	trust, err := center.SetHub(folder, args[0], args[1])
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(trust)
	return string(data), err
}

func (c hostVerbs) addCommand() *cobra.Command {
	return &cobra.Command{Use: "add NAME", Args: someArgs(1, 1, "which name", ""), Short: "Let another machine join under a name",
		Long: `Print a code with which one machine can join within ten minutes, wait for it, and ask whether the
fingerprint is the one that the machine shows. The running bot is needed.`,
		Example: "  ccbot host add B",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			code, err := running.OfferingHost.Ask(ctx, c.environ, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "On the other machine, until %s:\n\n  ccbot join %s\n\n", code.Until.Local().Format("15:04"), code.Text)
			var found running.Candidate
			for !found.Found {
				if time.Now().After(code.Until) {
					return errors.New("no machine has used the code, which is too old now")
				}
				if found, err = running.AwaitingHost.Ask(ctx, c.environ, args[0]); err != nil {
					return err
				}
			}
			fmt.Fprintf(c.stdout, "%s wants to join: %s, user %s, fingerprint %s\n", terminal.Printable(args[0]),
				terminal.Printable(found.Machine.System), terminal.Printable(found.Machine.Owner), found.Fingerprint)
			if found.Rivals > 0 {
				fmt.Fprintf(c.stdout, "warning: %d other machines know the code\n", found.Rivals)
			}
			d := running.Decision{Code: found.Code, Fingerprint: found.Fingerprint}
			refused := c.confirm(cmd, "Does the other machine show the same fingerprint?")
			d.Admit = refused == nil
			host, err := running.DecidingHost.Ask(ctx, c.environ, d)
			switch {
			case err != nil:
				return err
			case errors.Is(refused, errDeclined):
				return fmt.Errorf("%s was refused", terminal.Printable(args[0]))
			case refused != nil:
				return refused
			}
			_, err = fmt.Fprintf(c.stdout, "%s has joined\n", host.Name)
			return err
		}}
}

func (c hostVerbs) listCommand() *cobra.Command {
	return c.printing(&cobra.Command{Use: "list", Args: noArgs, Short: "List the machines of this chat", Example: "  ccbot host list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := running.ListingHosts.Ask(cmd.Context(), c.environ, struct{}{})
			if err != nil {
				return err
			}
			return c.show(all, func(p *terminal.Printer) {
				for _, h := range all {
					heard := "not heard since the start of ccbot"
					if !h.Heard.IsZero() {
						heard = fmt.Sprintf("heard %s ago; ccbot %s, %d agents, load %.2f, %d GB free", time.Since(h.Heard).Round(time.Second),
							terminal.Printable(h.Version), h.Agents, h.Load, h.DiskFree>>30)
					}
					if h.Unread > 0 {
						heard += fmt.Sprintf("; %d of its reports wait for a newer ccbot here", h.Unread)
					}
					if h.Starts != "" {
						heard += "; " + terminal.Printable(h.Starts)
					}
					p.Line("%s  %s  %s; %s", h.Name, h.ID, h.State, heard)
				}
			})
		}})
}

func (c hostVerbs) removeCommand() *cobra.Command {
	return &cobra.Command{Use: "remove NAME", Args: someArgs(1, 1, "which machine", ""), Short: "Take a machine's rights back; its sessions go on there", Example: "  ccbot host remove B",
		RunE: func(cmd *cobra.Command, args []string) error {
			host, err := running.RemovingHost.Ask(cmd.Context(), c.environ, args[0])
			if err == nil {
				_, err = fmt.Fprintln(c.stdout, removedText(host))
			}
			return err
		}}
}

// removedText reports a removal. The hub ends the machine's connection, another server does not.
func removedText(h running.Host) string {
	text := h.Name + " was removed"
	if h.Server != "" {
		text += ", and the chat ignores it. It stays connected to the server until the operator signs the account again:\n\n" + hosts.SignCommands(h.Server)
	}
	return text
}

func (c hostVerbs) runCommand() *cobra.Command {
	return &cobra.Command{Use: "run", Args: noArgs, Short: "Run this machine's sessions for a chat on another machine",
		Long: `Run the sessions of this machine for the chat that it has joined. No token is needed. Recovery,
archive, and permissions in the terminal work without the network.`,
		Example: "  ccbot host run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			outliveLog()
			return running.RunHost(cmd.Context(), c.environ, versionText(), c.stderr)
		}}
}

func joinCommand(c *call) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "join CODE", Args: someArgs(1, 1, "which code", "; `ccbot host add NAME` prints it on the chat's machine"),
		Short: "Let a chat on another machine use this one",
		Long: `Join a chat that runs on another machine. CODE is what ` + "`ccbot host add NAME`" + ` prints there. Compare
the fingerprint that is shown on both machines. The keys of this machine are made here, and never
sent.`,
		Example: "  ccbot join cc1.AbC",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := running.Harden(); err != nil {
				return err
			}
			settings, err := config.LoadForReading(c.environ)
			if err != nil {
				return err
			}
			code, err := join.ParseCode(args[0])
			if err != nil {
				return exit.Usage(err)
			}
			folder := running.FleetFolder(settings.Dir)
			before, leaves, err := member.Membership(folder)
			if err != nil { // it may be a membership
				return err
			}
			if leaves && !yes {
				question := fmt.Sprintf("This machine belongs to the chat of %s as %s, which loses it with its sessions. Join the other chat?", chatOf(before), terminal.Printable(before.Name))
				if err := c.confirm(cmd, question); err != nil {
					return err
				}
			}
			keys, err := member.Keys(folder)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "The fingerprint of this machine is %s. Compare it in the chat, or where you typed `ccbot host add`.\n", keys.Fingerprint())
			a, err := join.Ask(cmd.Context(), code, keys, join.Machine{System: systemName(), Owner: ownerName()})
			if err == nil {
				err = member.Joined(folder, a, keys)
			}
			if errors.Is(err, join.ErrUsed) { // perhaps by these keys: the next attempt has others
				err = errors.Join(err, member.DropKeys(folder))
			}
			if err != nil {
				return err
			}
			next := "To run its sessions: ccbot host run, or as a service: ccbot service install"
			if leaves {
				next = "A ccbot host run that serves the chat of " + chatOf(before) + " ends now: start it again, unless it is a service"
			}
			_, err = fmt.Fprintf(c.stdout, "This machine has joined the chat of %s as %s. %s\n", chatOf(a), terminal.Printable(a.Name), next)
			return err
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask whether to leave another chat")
	return cmd
}

// chatOf names the chat of a membership.
func chatOf(a join.Admission) string { return terminal.Printable(cmp.Or(a.ChatName, a.Hub.Address)) }

// systemName describes this machine to the person who lets it in.
func systemName() string {
	name, err := os.Hostname()
	if err != nil {
		return runtime.GOOS
	}
	return name + " (" + runtime.GOOS + ")"
}

func ownerName() string {
	me, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return me.Username
}
