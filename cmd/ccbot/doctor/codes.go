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
	remedy string // for a finding without an own one, as Markdown
}

// faults are all that there are, in the order of the checks.
var faults = []fault{
	{"locale_not_utf8", "locale", Warn, ""},
	{"path_writable", "path", Warn, ""},
	{"inotify_low", "inotify", Warn, ""},
	{"inotify_used_up", "inotify", Fail, "end programs that watch files, or `sudo sysctl fs.inotify.max_user_instances=512`"},
	{"git_missing", "system", Warn, "`sudo apt-get install git`"},

	{"settings_wrong", "settings", Fail, "correct the named setting in the environment or in `ccbot.env`; `ccbot setup` asks for token and people"},
	{"settings_partial", "settings", Unknown, "use the bot's environment, or write the setting into `ccbot.env`"},
	{"setting_unknown", "settings", Warn, ""},
	{"metrics_refused", "settings", Fail, ""},
	{"ca_unreadable", "settings", Warn, "correct `SSL_CERT_FILE` or `NODE_EXTRA_CA_CERTS`, then restart the bot"},
	{"voice_missing", "settings", Warn, ""},

	{"font_missing", "fonts", Warn, ""},

	{"folder_not_writable", "folder", Fail, ""},
	{"folder_refused", "folder", Fail, "set `CCBOT_DIR` to a folder of this user"},
	{"folder_readable", "folder", Warn, ""},
	{"instance_damaged", "folder", Fail, "move it away while no bot runs; its windows then belong to no session"},
	{"folder_newer", "folder", Fail, ""},
	{"part_unusable", "folder", Fail, "give it back to this user, or move it away while no bot runs: the next start makes it again, empty"},
	{"folder_older", "folder", Warn, "restart ccbot, or run `ccbot recover`: the next start brings the folder up to date"},
	{"quarantined", "folder", Warn, ""},
	{"records_unreadable", "folder", Warn, ""},

	{"disk_full", "disk", Fail, "make room on the disk of `CCBOT_DIR`"},

	{"bot_down", "bot", Warn, ""},
	{"bot_silent", "bot", Fail, ""},
	{"bot_refuses", "bot", Unknown, ""},
	{"bot_other_version", "bot", Warn, ""},
	{"bot_other_program", "bot", Warn, "restart the bot"},
	{"lock_lost", "bot", Fail, ""},
	{"socket_path_long", "bot", Fail, ""},

	{"tmux_missing", "tmux", Fail, ""},
	{"tmux_too_old", "tmux", Fail, ""},
	{"tmux_folder", "tmux", Fail, "remove it if it is not yours, or `chmod 700` it; `TMUX_TMPDIR` names another place"},
	{"tmux_silent", "tmux", Fail, "`tmux ls`; end a hanging server by hand, with its agents"},
	{"orphan_windows", "tmux", Warn, ""},
	{"recovery_due", "tmux", Warn, ""},

	{"claude_missing", "claude", Fail, ""},
	{"claude_old", "claude", Fail, "`claude update`, or `npm install -g @anthropic-ai/claude-code`"},
	{"claude_silent", "claude", Warn, ""},
	{"claude_provider", "login", Fail, ""},
	{"claude_no_login", "login", Warn, ""},

	{"codex_missing", "codex", Warn, ""},
	{"codex_part_missing", "codex", Warn, "copy ccbot-codex next to ccbot"},
	{"codex_unfit", "codex", Warn, "install Codex 0.169.0 or newer; `CODEX_COMMAND` names it"},
	{"codex_settings", "codex", Warn, ""},
	{"codex_no_login", "codex", Warn, ""},

	{"hook_missing", "hooks", Fail, ""},
	{"hooks_unreadable", "hooks", Warn, ""},
	{"hooks_off", "hooks", Warn, ""},
	{"hooks_incomplete", "hooks", Warn, ""},
	{"hooks_elsewhere", "hooks", Warn, ""},

	{"telegram_unreachable", "telegram", Fail, ""},
	{"token_refused", "telegram", Fail, ""},
	{"webhook_set", "telegram", Fail, ""},
	{"group_privacy", "telegram", Warn, "make the bot an administrator, or disable privacy mode with /setprivacy at @BotFather and add the bot again"},
	{"clock_skewed", "clock", Warn, ""},

	{"unit_unknown", "service", Unknown, "`systemctl --user status ccbot` in a login of this user"},
	{"unit_other_program", "service", Warn, ""},
	{"unit_outdated", "service", Warn, ""},
	{"unit_changed", "service", Warn, ""},
	{"unit_inactive", "service", Warn, ""},
	{"unit_ends_at_logout", "service", Warn, ""},

	// The running bot's own findings.
	{Code(health.PollsStuck), "health", Fail, "restart the bot"},
	{Code(health.PollsRival), "health", Fail, "end it, or get a new token with /revoke at @BotFather"},
	{Code(health.PollsUnknown), "health", Fail, "ask @BotFather for the present token, and write it into `ccbot.env`"},
	{Code(health.PollsWait), "health", Warn, "wait"},
	{Code(health.PollsFail), "health", Fail, "check the network, `HTTPS_PROXY` and `TELEGRAM_API_URL`"},
	{Code(health.APIFails), "health", Fail, "check the network; `LOG_LEVEL=debug` shows the answers"},
	{Code(health.TmuxHangs), "health", Warn, "if it stays, end the server by hand, with its agents"},
	{Code(health.DiskLow), "health", Warn, "make room on the disk of `CCBOT_DIR`"},
	{Code(health.NotClean), "health", Warn, "end the process that `ccbot why NAME` names"},
	{Code(health.AgentSilent), "health", Warn, "`ccbot list` names them as unknown; if they stay so, archive and resume them"},
	{Code(health.APIWaits), "health", Warn, "wait"},
	{Code(health.OutboxLong), "health", Warn, "wait; `/health` shows the number"},
	{Code(health.FilesUnread), "health", Warn, "remove the cause, then tap “Try again” in its message"},
	{Code(health.NotReadable), "health", Warn, "check the named file, and the permissions of its folders"},
	{Code(health.FleetFails), "health", Fail, "the log has the file; put it back from a backup, then restart the bot"},
	{Code(health.HubSilent), "health", Warn, "start the hub again, or repair the network between"},
	{Code(health.MachineUnread), "health", Warn, "put the file back from a backup, or delete it; then restart the bot"},
	{Code(health.MachineHeld), "health", Warn, "look into the log of `ccbot-hub`; restart it if it names no cause"},
	{Code(health.MachineName), "health", Warn, "give the chat's machine another name with `CCBOT_MACHINE`"},
	{Code(health.MachineClock), "health", Warn, "`sudo timedatectl set-ntp true` there"},
	{Code(health.MachineCopies), "health", Warn, "end all but one of them; `/hosts` in the chat names them"},
	{Code(health.MachineElse), "health", Fail, "end one of the two starts, then restart the one that stays"},
	{Code(health.ClaudeGone), "health", Warn, "`ccbot service install` in a new shell gives the service the present PATH; or install Claude Code"},
	{Code(health.HooksShut), "health", Warn, "ask the machine's administrator; without the hooks the chat has only [Yes] and [No] of the terminal"},
	{Code(health.Anonymous), "health", Warn, "switch off “Remain anonymous” in your administrator's rights there"},
	{Code(health.KeysBound), "health", Warn, "change the named binding"},
	{Code(health.NoInstances), "health", Warn, "`sudo sysctl fs.inotify.max_user_instances=512`"},
	{Code(health.NoWatches), "health", Warn, "`sudo sysctl fs.inotify.max_user_watches=65536`"},
	{Code(health.Unwatchable), "health", Warn, "the log has the cause; ccbot reads the files at intervals"},
	{Code(health.HooksSlow), "health", Warn, "check the load of the machine"},
	{Code(health.ClaudeUnknown), "health", Warn, "run `claude --version` in a terminal"},
	{Code(health.WordUnknown), "health", Warn, "a newer ccbot may know the word; until then look at the terminal if messages wait"},
	{Code(health.NoPins), "health", Warn, "permit it there, restart the bot"},
	{Code(health.GroupRefused), "health", Warn, "add its id to `ALLOWED_CHATS`, or remove the bot"},
	{Code(health.NoReactions), "health", Warn, "allow 👀 ✍ 👌 in the group's settings under Reactions"},
	{Code(health.GroupShut), "health", Warn, "add the bot there again and write a message, or tap “Move them here” in a private chat"},
	{Code(health.GroupClosed), "health", Warn, "open General or the topic again, or write there"},
}

// preventsStart are the codes of faults with which ccbot ends at its start.
var preventsStart = []Code{"settings_wrong", "metrics_refused", "folder_not_writable", "folder_refused", "instance_damaged", "folder_newer", "part_unusable", "disk_full", "socket_path_long",
	"tmux_missing", "tmux_too_old", "tmux_folder", "hook_missing", "token_refused"}

// inSummary is the remedy of a finding whose summary names it.
const inSummary = "\x00"

// found returns a fault as it is here, with what a person can do about it: a command, or words if
// there is none. An empty remedy stands for that of the code.
func found(code Code, remedy, format string, args ...any) Finding {
	for i, arg := range args {
		if err, is := arg.(error); is {
			args[i] = terminal.Plain(err)
		}
	}
	f := Finding{Code: code, Status: Unknown, Summary: fmt.Sprintf(format, args...), Fix: remedy}
	for _, known := range faults {
		if known.code == code {
			f.ID, f.Status = known.check, known.status
			if remedy == "" {
				f.Fix = strings.ReplaceAll(known.remedy, "`", "")
			}
		}
	}
	if remedy == inSummary {
		f.Fix = ""
	}
	return f
}
