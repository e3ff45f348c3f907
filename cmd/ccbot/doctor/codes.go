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
	remedy string // the remedy for a person, as Markdown
	mended string // the effect of --fix; empty: there is none
}

// faults are all that there are, in the order of the checks.
var faults = []fault{
	{"locale_not_utf8", "locale", Warn, "the locale is not UTF-8, so programs in the windows may show other letters", "`export LANG=C.UTF-8` where ccbot starts", ""},
	{"path_writable", "path", Warn, "another user can put a program into a folder of `PATH`", "take the folder out of `PATH`, or take the permission away", ""},
	{"inotify_low", "inotify", Warn, "the kernel lets this user watch few files", "raise the limit with `sysctl`, as the finding names it", ""},
	{"inotify_used_up", "inotify", Fail, "this user has no inotify instance left, so ccbot sees changes of files late", "end programs that watch files, or `sudo sysctl fs.inotify.max_user_instances=512`", ""},
	{"git_missing", "system", Warn, "git is not installed: `/changes` and worktrees do not work", "`sudo apt-get install git`, or your system's package", ""},

	{"settings_wrong", "settings", Fail, "a setting is missing or malformed", "correct the setting that the finding names, in the environment or in `ccbot.env`; `ccbot setup` asks for the token and the people", ""},
	{"settings_partial", "settings", Unknown, "this shell lacks a setting that the running bot has", "run `ccbot doctor` with the bot's environment, or write the setting into `ccbot.env`", ""},
	{"setting_unknown", "settings", Warn, "`ccbot.env` has a name that is no setting", "correct the name or remove the line", ""},
	{"metrics_refused", "settings", Fail, "nothing can listen at `METRICS_ADDR`", "choose another port or an address of this machine in `METRICS_ADDR`, as the finding names it, or end the program that listens there", ""},
	{"ca_unreadable", "settings", Warn, "a file of certificates cannot be read, or has none: the servers that need it are not trusted", "correct `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS`, then restart the bot", ""},
	{"voice_missing", "settings", Warn, "the program of `VOICE_COMMAND` is not there", "set `VOICE_COMMAND` to a program that is there", ""},

	{"font_missing", "fonts", Warn, "a chat is in Chinese, and no font that root has installed has Chinese characters: pictures of terminals show frames", "install the package of fonts that the finding names", ""},

	{"folder_not_writable", "folder", Fail, "this user cannot write ccbot's folder", "give this user the permission, or choose another `CCBOT_DIR`", ""},
	{"folder_refused", "folder", Fail, "other users could have written something that ccbot relies on, or read the token", "the command that the finding names; look first at what others could have written", "closes what others can only read, where it is ccbot's own"},
	{"folder_readable", "folder", Warn, "others may read a folder of ccbot's", "`ccbot doctor --fix`", "closes it"},
	{"instance_damaged", "folder", Fail, "the id of this ccbot cannot be read", "move the file `instance` away while no bot runs: a new id is made, and windows of the old one are shown as unbound", ""},
	{"folder_of_other_bot", "folder", Fail, "the folder was restored from a backup of another bot than the token's, or its file `bot` cannot be read", "use the token of the bot that the finding names, or delete `chats/` and the file `bot` while no bot runs", ""},
	{"folder_newer", "folder", Fail, "a newer ccbot has used the folder, or it cannot be seen which", "use the newer ccbot, or another `CCBOT_DIR`", ""},
	{"quarantined", "folder", Warn, "files could not be read and were set aside", "look at the files, then delete them", ""},
	{"records_unreadable", "folder", Warn, "records of sessions cannot be read", "`ccbot recover --dry-run`", ""},
	{"files_cut_short", "folder", Warn, "writes that were cut short have left files", "`ccbot doctor --fix`", "removes them while no bot runs"},
	{"launches_left", "folder", Warn, "there are settings of launches whose session is forgotten", "`ccbot doctor --fix`", "removes them while no bot runs"},

	{"disk_full", "disk", Fail, "the disk has less room than a start of ccbot needs", "make room on the disk of `CCBOT_DIR`", ""},

	{"bot_down", "bot", Warn, "no bot runs on this folder", "`ccbot run`, or `ccbot service restart`", ""},
	{"bot_silent", "bot", Fail, "a bot runs, and its socket does not answer", "wait if it is still starting; otherwise restart it", ""},
	{"bot_refuses", "bot", Unknown, "the bot does not answer this program: it was started by an agent, or not in a terminal", "run `ccbot doctor` in a terminal of your own", ""},
	{"bot_other_version", "bot", Warn, "the bot that runs is of another version than this program", "restart the bot", ""},
	{"bot_other_program", "bot", Warn, "the bot runs another file, or its file was replaced since its start", "restart the bot", ""},
	{"lock_lost", "bot", Fail, "a bot runs that `ccbot.lock` does not name, as after the file was deleted: verbs cannot tell which process it is; no second bot starts", "restart the bot", ""},
	{"socket_stale", "bot", Warn, "there is a socket that nobody listens at", "`ccbot doctor --fix`", "removes it while no bot runs"},
	{"socket_path_long", "bot", Fail, "the path of the socket is too long", "choose a shorter `CCBOT_DIR`", ""},

	{"tmux_missing", "tmux", Fail, "tmux is not installed", "`sudo apt-get install tmux`, or your system's package", ""},
	{"tmux_too_old", "tmux", Fail, "tmux, or its running server, is too old", "install a newer tmux, and end the running server when no agent needs it", ""},
	{"tmux_folder", "tmux", Fail, "the folder of tmux's sockets is another user's, or others may enter it: ccbot says nothing to a server there", "remove the folder if it is not yours, or `chmod 700` it; `TMUX_TMPDIR` names another place", ""},
	{"tmux_silent", "tmux", Fail, "the tmux server does not answer", "`tmux ls`; a server that hangs has to be ended by hand, and its agents with it", ""},
	{"orphan_windows", "tmux", Warn, "agents run in windows that belong to no session", "`/list` in the chat: connect the window, or hide it", ""},
	{"recovery_due", "tmux", Warn, "records are not as windows and processes are; the next start makes that right", "`ccbot recover --dry-run` shows what the next start does", ""},

	{"claude_missing", "claude", Fail, "there is no Claude Code", "install Claude Code, or set `CLAUDE_COMMAND` to its path", ""},
	{"claude_old", "claude", Fail, "Claude Code is older than the oldest version that works with ccbot", "`claude update`, or `npm install -g @anthropic-ai/claude-code`", ""},
	{"claude_silent", "claude", Warn, "Claude Code does not tell its version", "run `claude --version` in a terminal", ""},
	{"claude_provider", "login", Fail, "a provider of models is chosen, and a variable that Claude Code needs for it is missing", "write the variable into `ccbot.env`, and restart the bot", ""},
	{"claude_no_login", "login", Warn, "there is no sign that Claude Code is logged in", "run `claude` once, and `/login` in it; or write a key into `ccbot.env`", ""},

	{"hook_missing", "hooks", Fail, "`ccbot-hook` is not beside `ccbot`", "copy `ccbot-hook` into the folder of `ccbot`", ""},
	{"hooks_unreadable", "hooks", Warn, "Claude Code's settings file cannot be read", "correct the file", ""},
	{"hooks_off", "hooks", Warn, "Claude Code's settings switch all hooks off", "remove `disableAllHooks` from the file", ""},
	{"hooks_incomplete", "hooks", Warn, "only some of ccbot's hooks are installed, or not as they should be", "`ccbot hooks install`", ""},
	{"hooks_elsewhere", "hooks", Warn, "installed hooks run another file than this ccbot's", "`ccbot hooks install`", "installs them anew where that file is gone"},

	{"telegram_unreachable", "telegram", Fail, "the Bot API does not answer", "look at what the finding names: the network, `HTTPS_PROXY`, `TELEGRAM_API_URL`, the clock, or the certificates that this machine trusts", ""},
	{"token_refused", "telegram", Fail, "Telegram does not know the token", "ask @BotFather for the present token, and write it into `ccbot.env`", ""},
	{"webhook_set", "telegram", Fail, "a webhook is set, so that the messages go elsewhere", "end the program that has set it, and call `deleteWebhook`", ""},
	{"group_privacy", "telegram", Warn, "the bot has privacy mode and is no administrator of an allowed group: plain texts there do not reach it", "make the bot an administrator there, or switch privacy mode off with /setprivacy at @BotFather and add the bot again", ""},
	{"clock_skewed", "clock", Warn, "the clock of this machine differs from Telegram's", "set the clock: `timedatectl set-ntp true`", ""},

	{"unit_unknown", "service", Unknown, "the service manager does not answer", "`systemctl --user status ccbot` in a login of this user", ""},
	{"unit_other_program", "service", Warn, "the service starts another file than this program", "`ccbot service install`", ""},
	{"unit_outdated", "service", Warn, "the file of the service is of another version or environment", "`ccbot service install`", ""},
	{"unit_changed", "service", Warn, "the file of the service was changed by hand", "`ccbot service install --force`, if the change is not wanted", ""},
	{"unit_inactive", "service", Warn, "the service is installed, and does not run", "`ccbot service restart`", ""},
	{"unit_ends_at_logout", "service", Warn, "the service ends when its user logs out", "`loginctl enable-linger`", ""},

	// The running bot's own findings.
	{Code(health.PollsStuck), "health", Fail, "as `/health` says it: the bot has stopped asking for messages", "restart the bot", ""},
	{Code(health.PollsRival), "health", Fail, "as `/health` says it: another program takes the bot's messages", "end the other program, or get a new token with /revoke at @BotFather", ""},
	{Code(health.PollsUnknown), "health", Fail, "as `/health` says it: Telegram does not know the bot's token", "ask @BotFather for the present token, and write it into `ccbot.env`", ""},
	{Code(health.PollsWait), "health", Warn, "as `/health` says it: Telegram has asked for a pause before the next messages", "wait", ""},
	{Code(health.PollsFail), "health", Fail, "as `/health` says it: messages cannot be got", "look at the network, `HTTPS_PROXY` and `TELEGRAM_API_URL`", ""},
	{Code(health.APIFails), "health", Fail, "as `/health` says it: messages cannot be sent", "look at the network; `LOG_LEVEL=debug` shows the answers", ""},
	{Code(health.TmuxHangs), "health", Warn, "as `/health` says it: tmux does not answer; `tmux ls` hangs, too", "end the server by hand if it stays so; its agents end with it", ""},
	{Code(health.DiskLow), "health", Warn, "as `/health` says it: the disk is almost full", "make room on the disk of `CCBOT_DIR`", ""},
	{Code(health.NotClean), "health", Warn, "as `/health` says it: a session has not fully ended", "`ccbot why NAME` names the process; end it", ""},
	{Code(health.APIWaits), "health", Warn, "as `/health` says it: Telegram has asked for a pause", "wait", ""},
	{Code(health.OutboxLong), "health", Warn, "as `/health` says it: many messages wait", "wait; `/health` shows the number", ""},
	{Code(health.FilesUnread), "health", Warn, "as `/health` says it: ccbot ended three times while it read a file of an agent, and leaves it unread", "tap “Try again” in the message about it once its cause is gone", ""},
	{Code(health.NotReadable), "health", Warn, "as `/health` says it: a transcript cannot be read, so its session's answers are only in the terminal", "look at the file that the finding names, and at the permissions of its folders", ""},
	{Code(health.KeysBound), "health", Warn, "as `/health` says it: the person's own key bindings leave no key that submits a text, ends a turn or empties the box", "change the binding that the finding names", ""},
	{Code(health.NoInstances), "health", Warn, "as `/health` says it: the kernel gives ccbot no inotify instance", "`sudo sysctl fs.inotify.max_user_instances=512`", ""},
	{Code(health.NoWatches), "health", Warn, "as `/health` says it: the kernel gives ccbot too few inotify watches", "`sudo sysctl fs.inotify.max_user_watches=65536`", ""},
	{Code(health.Unwatchable), "health", Warn, "as `/health` says it: ccbot cannot watch a folder for changes", "look at the log; `ccbot` reads the files at intervals meanwhile", ""},
	{Code(health.HooksSlow), "health", Warn, "as `/health` says it: hooks are slow", "look at the load of the machine", ""},
	{Code(health.ClaudeUnknown), "health", Warn, "as `/health` says it: Claude Code does not tell its version", "run `claude --version` in a terminal", ""},
	{Code(health.NoPins), "health", Warn, "as `/health` says it: the bot may not pin the line of open questions in a chat", "allow the bot to pin messages there, and restart the bot", ""},
	{Code(health.GroupRefused), "health", Warn, "as `/health` says it: an allowed person wrote in a group that `ALLOWED_CHATS` does not name", "add the id to `ALLOWED_CHATS`, or remove the bot from the group", ""},
}

// preventsStart are the codes of faults with which ccbot ends at its start.
var preventsStart = []Code{"settings_wrong", "metrics_refused", "folder_not_writable", "folder_refused", "instance_damaged", "folder_of_other_bot", "folder_newer", "disk_full", "socket_path_long",
	"tmux_missing", "tmux_too_old", "tmux_folder", "hook_missing", "token_refused"}

// inSummary is the fix of a finding whose summary names the remedy.
const inSummary = "\x00"

// found returns a fault as it is here. fix repairs it: a command, or words if there is none. An
// empty fix stands for the remedy of the document.
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

// Table is the table of docs/doctor.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| Code | Check | Status | Meaning | Remedy | `--fix` |\n|---|---|---|---|---|---|\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.code, f.check, f.status, f.means, f.remedy, f.mended)
	}
	return b.String()
}
