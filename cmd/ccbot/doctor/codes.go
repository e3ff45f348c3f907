package doctor

import (
	"fmt"
	"strings"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/health"
)

// Code names a fault. It stays the same for programs; the sentence may change.
type Code string

// fault describes a code.
type fault struct {
	code   Code
	check  string
	status Status
	means  string // for the document
	remedy string // for a finding without a fix, as Markdown
	mended string // the effect of --fix; empty: no effect
}

// faults are all that there are, in the order of the checks.
var faults = []fault{
	{"locale_not_utf8", "locale", Warn, "the locale is not UTF-8: windows may show wrong letters", "", ""},
	{"path_writable", "path", Warn, "another user can put a program into a folder of `PATH`", "", ""},
	{"inotify_low", "inotify", Warn, "the kernel lets this user watch few files", "", ""},
	{"inotify_used_up", "inotify", Fail, "no inotify instance is left: ccbot sees changes of files late", "end programs that watch files, or `sudo sysctl fs.inotify.max_user_instances=512`", ""},
	{"git_missing", "system", Warn, "git is not installed: `/changes` and worktrees do not work", "install git", ""},

	{"settings_wrong", "settings", Fail, "a setting is missing or malformed", "correct the named setting in the environment or in `ccbot.env`; `ccbot setup` asks for token and people", ""},
	{"settings_partial", "settings", Unknown, "with the settings of this shell and `ccbot.env` no bot would start; the running one has others", "use the bot's environment, or write the setting into `ccbot.env`", ""},
	{"setting_unknown", "settings", Warn, "`ccbot.env` has an unknown name", "", ""},
	{"metrics_refused", "settings", Fail, "nothing can listen at `METRICS_ADDR`", "", ""},
	{"ca_unreadable", "settings", Warn, "a file of certificates is unreadable or empty: servers that need it are not trusted", "correct `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS`, then restart the bot", ""},
	{"voice_missing", "settings", Warn, "the program of `VOICE_COMMAND` does not exist", "", ""},

	{"font_missing", "fonts", Warn, "no font of root has letters of a chat's language, such as Chinese: `/screenshot` shows frames", "", ""},

	{"folder_not_writable", "folder", Fail, "this user cannot write ccbot's folder", "", ""},
	{"folder_refused", "folder", Fail, "other users could have written ccbot's files, or read the token", "", "closes ccbot's own files that others can only read"},
	{"folder_readable", "folder", Warn, "others may read a folder of ccbot", "", "closes it"},
	{"instance_damaged", "folder", Fail, "the file `instance` is unreadable", "move it away while no bot runs; its windows then belong to no session", ""},
	{"folder_of_other_bot", "folder", Fail, "the folder is of another bot's backup, or its file `bot` is unreadable", "use the named bot's token, or delete `chats/` and the file `bot` while no bot runs", ""},
	{"folder_newer", "folder", Fail, "a newer or unknown ccbot has used the folder", "", ""},
	{"quarantined", "folder", Warn, "unreadable files are in `quarantine/`", "", ""},
	{"records_unreadable", "folder", Warn, "records of sessions are unreadable", "", ""},
	{"files_cut_short", "folder", Warn, "interrupted writes have left files", "", "removes them while no bot runs"},
	{"launches_left", "folder", Warn, "settings of launches of forgotten sessions are left", "", "removes them while no bot runs"},

	{"disk_full", "disk", Fail, "the disk has no room for a start", "make room on the disk of `CCBOT_DIR`", ""},

	{"bot_down", "bot", Warn, "no bot runs on this folder", "", ""},
	{"bot_silent", "bot", Fail, "the bot's socket does not answer", "", ""},
	{"bot_refuses", "bot", Unknown, "the bot does not answer a program of an agent, or without a terminal", "", ""},
	{"bot_other_version", "bot", Warn, "the running bot has another version", "", ""},
	{"bot_other_program", "bot", Warn, "the running bot's file is another one, or was replaced", "restart the bot", ""},
	{"lock_lost", "bot", Fail, "`ccbot.lock` does not name the running bot, as after its deletion: verbs do not find it; no second bot starts", "", ""},
	{"socket_stale", "bot", Warn, "a socket is left from an ended bot", "", "removes it while no bot runs"},
	{"socket_path_long", "bot", Fail, "the path of the socket is too long", "", ""},

	{"tmux_missing", "tmux", Fail, "tmux is not installed", "", ""},
	{"tmux_too_old", "tmux", Fail, "tmux, or its running server, is too old", "", ""},
	{"tmux_folder", "tmux", Fail, "the folder of tmux's sockets is another user's, or open to others: ccbot uses no server there", "remove it if it is not yours, or `chmod 700` it; `TMUX_TMPDIR` names another place", ""},
	{"tmux_silent", "tmux", Fail, "the tmux server does not answer", "`tmux ls`; end a hanging server by hand, with its agents", ""},
	{"orphan_windows", "tmux", Warn, "windows in ccbot's tmux session belong to no session", "", ""},
	{"recovery_due", "tmux", Warn, "records differ from windows and processes; the next start corrects them", "", ""},

	{"claude_missing", "claude", Fail, "Claude Code is not found", "", ""},
	{"claude_old", "claude", Fail, "Claude Code is too old for ccbot", "`claude update`, or `npm install -g @anthropic-ai/claude-code`", ""},
	{"claude_silent", "claude", Warn, "Claude Code does not report its version", "", ""},
	{"claude_provider", "login", Fail, "a variable of the chosen provider of models is missing", "", ""},
	{"claude_no_login", "login", Warn, "no login of Claude Code is found", "", ""},

	{"hook_missing", "hooks", Fail, "`ccbot-hook` is not next to `ccbot`", "", ""},
	{"hooks_unreadable", "hooks", Warn, "Claude Code's settings file is unreadable", "", ""},
	{"hooks_off", "hooks", Warn, "Claude Code's settings disable all hooks", "", ""},
	{"hooks_incomplete", "hooks", Warn, "ccbot's hooks are incomplete or changed", "", ""},
	{"hooks_elsewhere", "hooks", Warn, "installed hooks run another file", "", "installs them again if that file is gone"},

	{"telegram_unreachable", "telegram", Fail, "the Bot API does not answer", "", ""},
	{"token_refused", "telegram", Fail, "Telegram does not know the token", "", ""},
	{"webhook_set", "telegram", Fail, "a webhook gets the messages", "", ""},
	{"group_privacy", "telegram", Warn, "privacy mode, and no administrator in an allowed group: plain texts there do not reach the bot", "make the bot an administrator, or disable privacy mode with /setprivacy at @BotFather and add the bot again", ""},
	{"clock_skewed", "clock", Warn, "the clock differs from Telegram's", "", ""},

	{"unit_unknown", "service", Unknown, "the service manager does not answer", "`systemctl --user status ccbot` in a login of this user", ""},
	{"unit_other_program", "service", Warn, "the service starts another file", "", ""},
	{"unit_outdated", "service", Warn, "the unit is of another version or environment", "", ""},
	{"unit_changed", "service", Warn, "the unit was changed by hand", "", ""},
	{"unit_inactive", "service", Warn, "the installed service does not run", "", ""},
	{"unit_ends_at_logout", "service", Warn, "the service ends when its user logs out", "", ""},

	// The running bot's own findings.
	{Code(health.PollsStuck), "health", Fail, "the bot no longer asks for messages", "restart the bot", ""},
	{Code(health.PollsRival), "health", Fail, "another program takes the bot's messages", "end it, or get a new token with /revoke at @BotFather", ""},
	{Code(health.PollsUnknown), "health", Fail, "Telegram does not know the bot's token", "ask @BotFather for the present token, and write it into `ccbot.env`", ""},
	{Code(health.PollsWait), "health", Warn, "Telegram asked for a pause of polls", "wait", ""},
	{Code(health.PollsFail), "health", Fail, "polls fail", "check the network, `HTTPS_PROXY` and `TELEGRAM_API_URL`", ""},
	{Code(health.APIFails), "health", Fail, "messages cannot be sent", "check the network; `LOG_LEVEL=debug` shows the answers", ""},
	{Code(health.TmuxHangs), "health", Warn, "tmux does not answer", "if it stays, end the server by hand, with its agents", ""},
	{Code(health.DiskLow), "health", Warn, "the disk is almost full", "make room on the disk of `CCBOT_DIR`", ""},
	{Code(health.NotClean), "health", Warn, "a session has not fully ended", "end the process that `ccbot why NAME` names", ""},
	{Code(health.APIWaits), "health", Warn, "Telegram asked for a pause", "wait", ""},
	{Code(health.OutboxLong), "health", Warn, "many messages wait", "wait; `/health` shows the number", ""},
	{Code(health.FilesUnread), "health", Warn, "ccbot ended three times at a file of an agent, and leaves it unread", "remove the cause, then tap “Try again” in its message", ""},
	{Code(health.NotReadable), "health", Warn, "a transcript is unreadable: its session's answers are only in the terminal", "check the named file, and the permissions of its folders", ""},
	{Code(health.KeysBound), "health", Warn, "your key bindings leave no key that submits a text, ends a turn or empties the box", "change the named binding", ""},
	{Code(health.NoInstances), "health", Warn, "no inotify instance is left", "`sudo sysctl fs.inotify.max_user_instances=512`", ""},
	{Code(health.NoWatches), "health", Warn, "too few inotify watches are left", "`sudo sysctl fs.inotify.max_user_watches=65536`", ""},
	{Code(health.Unwatchable), "health", Warn, "ccbot cannot watch a folder for changes", "the log has the cause; ccbot reads the files at intervals", ""},
	{Code(health.HooksSlow), "health", Warn, "hooks are slow", "check the load of the machine", ""},
	{Code(health.ClaudeUnknown), "health", Warn, "Claude Code does not report its version", "run `claude --version` in a terminal", ""},
	{Code(health.NoPins), "health", Warn, "the bot may not pin the line of open questions", "permit it there, restart the bot", ""},
	{Code(health.GroupRefused), "health", Warn, "an allowed person wrote in a group that is not allowed", "add its id to `ALLOWED_CHATS`, or remove the bot", ""},
}

// preventsStart are the codes of faults with which ccbot ends at its start.
var preventsStart = []Code{"settings_wrong", "metrics_refused", "folder_not_writable", "folder_refused", "instance_damaged", "folder_of_other_bot", "folder_newer", "disk_full", "socket_path_long",
	"tmux_missing", "tmux_too_old", "tmux_folder", "hook_missing", "token_refused"}

// inSummary is the fix of a finding whose summary names the remedy.
const inSummary = "\x00"

// found returns a fault as it is here. fix repairs it: a command, or words if there is none. An
// empty fix stands for the remedy of the code.
func found(code Code, fix, format string, args ...any) Finding {
	for i, arg := range args {
		if err, is := arg.(error); is {
			args[i] = terminal.Plain(err)
		}
	}
	f := Finding{Code: code, Status: Unknown, Summary: fmt.Sprintf(format, args...), Fix: fix}
	for _, known := range faults {
		if known.code == code {
			f.ID, f.Status = known.check, known.status
			if fix == "" {
				f.Fix = strings.ReplaceAll(known.remedy, "`", "")
			}
		}
	}
	if fix == inSummary {
		f.Fix = ""
	}
	return f
}

// Table returns the table of docs/doctor.md. `ccbot doctor` prints the remedies.
func Table() string {
	var b strings.Builder
	b.WriteString("| Code | Meaning |\n|---|---|\n")
	for _, f := range faults {
		means := f.means
		if f.mended != "" {
			means += "; `--fix` " + f.mended
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.code, means)
	}
	return b.String()
}
