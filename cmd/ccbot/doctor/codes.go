package doctor

import (
	"fmt"
	"strings"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/health"
)

// Code names a fault. It stays the same for programs; the sentence may change.
type Code string

// fault is what is known of a code.
type fault struct {
	code   Code
	check  string
	status Status
	means  string // for the document
	mended string // what --fix does; empty: a person has to
}

// faults are all that there are, in the order of the checks.
var faults = []fault{
	{"locale_not_utf8", "locale", Warn, "the locale is not UTF-8, so programs in the windows may show other letters", ""},
	{"path_writable", "path", Warn, "another user can put a program into a folder of `PATH`", ""},
	{"inotify_low", "inotify", Warn, "the kernel lets this user watch few files", ""},

	{"settings_wrong", "settings", Fail, "a setting is missing or malformed", ""},
	{"settings_partial", "settings", Unknown, "this shell lacks a setting that the running bot has", ""},
	{"setting_unknown", "settings", Warn, "`ccbot.env` has a name that is no setting", ""},
	{"voice_missing", "settings", Warn, "the program of `VOICE_COMMAND` is not there", ""},

	{"font_missing", "fonts", Warn, "a chat is in Chinese, and no font that root has installed has Chinese characters: pictures of terminals show frames", ""},

	{"folder_not_writable", "folder", Fail, "this user cannot write ccbot's folder", ""},
	{"folder_refused", "folder", Fail, "other users could have written something that ccbot relies on, or read the token", "closes what others can only read, where it is ccbot's own"},
	{"folder_readable", "folder", Warn, "others may read a folder of ccbot's", "closes it"},
	{"instance_damaged", "folder", Fail, "the id of this ccbot cannot be read", ""},
	{"folder_newer", "folder", Fail, "a newer ccbot has used the folder, or it cannot be seen which", ""},
	{"quarantined", "folder", Warn, "files could not be read and were set aside", ""},
	{"records_unreadable", "folder", Warn, "records of sessions cannot be read", ""},
	{"files_cut_short", "folder", Warn, "writes that were cut short have left files", "removes them while no bot runs"},
	{"launches_left", "folder", Warn, "there are settings of launches whose session is forgotten", "removes them while no bot runs"},

	{"bot_down", "bot", Warn, "no bot runs on this folder", ""},
	{"bot_silent", "bot", Fail, "a bot runs, and its socket does not answer", ""},
	{"bot_refuses", "bot", Unknown, "the bot does not answer this program: it was started by an agent, or not in a terminal", ""},
	{"bot_other_version", "bot", Warn, "the bot that runs is of another version than this program", ""},
	{"bot_other_program", "bot", Warn, "the bot runs another file, or its file was replaced since its start", ""},
	{"lock_lost", "bot", Fail, "a bot runs that `ccbot.lock` does not name, as after the file was deleted: verbs cannot tell which process it is; no second bot starts", ""},
	{"socket_stale", "bot", Warn, "there is a socket that nobody listens at", "removes it while no bot runs"},
	{"socket_path_long", "bot", Fail, "the path of the socket is too long", ""},

	{"tmux_missing", "tmux", Fail, "tmux is not installed", ""},
	{"tmux_too_old", "tmux", Fail, "tmux, or its running server, is too old", ""},
	{"tmux_folder", "tmux", Fail, "the folder of tmux's sockets is another user's, or others may enter it: ccbot says nothing to a server there", ""},
	{"tmux_silent", "tmux", Fail, "the tmux server does not answer", ""},
	{"orphan_windows", "tmux", Warn, "agents run in windows that belong to no session", ""},
	{"recovery_due", "tmux", Warn, "records are not as windows and processes are; the next start makes that right", ""},

	{"claude_missing", "claude", Fail, "there is no Claude Code", ""},
	{"claude_silent", "claude", Warn, "Claude Code does not tell its version", ""},
	{"claude_no_login", "login", Warn, "there is no sign that Claude Code is logged in", ""},

	{"hook_missing", "hooks", Fail, "`ccbot-hook` is not beside `ccbot`", ""},
	{"hooks_unreadable", "hooks", Warn, "Claude Code's settings file cannot be read", ""},
	{"hooks_off", "hooks", Warn, "Claude Code's settings switch all hooks off", ""},
	{"hooks_incomplete", "hooks", Warn, "only some of ccbot's hooks are installed, or not as they should be", ""},
	{"hooks_elsewhere", "hooks", Warn, "installed hooks run another file than this ccbot's", "installs them anew where that file is gone"},

	{"telegram_unreachable", "telegram", Fail, "the Bot API does not answer", ""},
	{"token_refused", "telegram", Fail, "Telegram does not know the token", ""},
	{"webhook_set", "telegram", Fail, "a webhook is set, so that the messages go elsewhere", ""},
	{"clock_skewed", "clock", Warn, "the clock of this machine differs from Telegram's", ""},

	{"unit_unknown", "service", Unknown, "the service manager does not answer", ""},
	{"unit_other_program", "service", Warn, "the service starts another file than this program", ""},
	{"unit_outdated", "service", Warn, "the file of the service is of another version or environment", ""},
	{"unit_changed", "service", Warn, "the file of the service was changed by hand", ""},
	{"unit_inactive", "service", Warn, "the service is installed, and does not run", ""},
	{"unit_ends_at_logout", "service", Warn, "the service ends when its user logs out", ""},

	// What the running bot says of itself.
	{Code(health.PollsStuck), "health", Fail, "as `/health` says it: the bot has stopped asking for messages", ""},
	{Code(health.PollsRival), "health", Fail, "as `/health` says it: another program takes the bot's messages", ""},
	{Code(health.PollsUnknown), "health", Fail, "as `/health` says it: Telegram does not know the bot's token", ""},
	{Code(health.PollsWait), "health", Warn, "as `/health` says it: Telegram has asked for a pause before the next messages", ""},
	{Code(health.PollsFail), "health", Fail, "as `/health` says it: messages cannot be got", ""},
	{Code(health.APIFails), "health", Fail, "as `/health` says it: messages cannot be sent", ""},
	{Code(health.TmuxHangs), "health", Warn, "as `/health` says it: tmux does not answer; `tmux ls` hangs, too", ""},
	{Code(health.DiskLow), "health", Warn, "as `/health` says it: the disk is almost full", ""},
	{Code(health.NotClean), "health", Warn, "as `/health` says it: a session has not fully ended", ""},
	{Code(health.APIWaits), "health", Warn, "as `/health` says it: Telegram has asked for a pause", ""},
	{Code(health.OutboxLong), "health", Warn, "as `/health` says it: many messages wait", ""},
	{Code(health.NoInstances), "health", Warn, "as `/health` says it: the kernel gives ccbot no inotify instance", ""},
	{Code(health.NoWatches), "health", Warn, "as `/health` says it: the kernel gives ccbot too few inotify watches", ""},
	{Code(health.Unwatchable), "health", Warn, "as `/health` says it: ccbot cannot watch a folder for changes", ""},
	{Code(health.HooksSlow), "health", Warn, "as `/health` says it: hooks are slow", ""},
	{Code(health.ClaudeUnknown), "health", Warn, "as `/health` says it: Claude Code does not tell its version", ""},
}

// found is a fault, as it is here. fix mends it: a command, or words where there is none.
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
		}
	}
	return f
}

// Table is the table of docs/doctor.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| Code | Check | Status | What is so | `--fix` |\n|---|---|---|---|---|\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.code, f.check, f.status, f.means, f.mended)
	}
	return b.String()
}
