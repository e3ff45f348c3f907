package i18n

// What is known of one session.
const (
	MenuStatus           Key = "menu_status"
	SharedFolder         Key = "shared_folder" // Names
	StatusSince          Key = "status_since"  // Age, State
	StatusAgo            Key = "status_ago"    // Age, State
	StatusModel          Key = "status_model"  // Model
	StatusMode           Key = "status_mode"   // Mode
	StatusFlags          Key = "status_flags"
	StatusTurns          Key = "status_turns"  // Count
	StatusTokens         Key = "status_tokens" // Cached, In, Out
	StatusMemory         Key = "status_memory" // Size
	Megabytes            Key = "megabytes"     // Size
	StatusTasks          Key = "status_tasks"  // All, Done
	StatusGit            Key = "status_git"
	StatusGitBare        Key = "status_git_bare"
	StatusGitNone        Key = "status_git_none"
	StatusGitUnknown     Key = "status_git_unknown"
	StatusChanges        Key = "status_changes"   // Added, Commit, Count, Removed
	StatusUnchanged      Key = "status_unchanged" // Commit
	StatusUntracked      Key = "status_untracked" // Count
	StatusNoStart        Key = "status_no_start"
	StatusChangesUnknown Key = "status_changes_unknown" // Commit
	StatusWriters        Key = "status_writers"
	StatusWritersUnknown Key = "status_writers_unknown"
	StatusQueue          Key = "status_queue" // Count
	StatusEvents         Key = "status_events"
)

// Deleting the record of a session.
const (
	ButtonForget  Key = "button_forget"
	ForgetConfirm Key = "forget_confirm" // Name
	Forgetting    Key = "forgetting"     // Name
	Forgotten     Key = "forgotten"      // Name
	ForgetStays   Key = "forget_stays"   // Path
)
