package i18n

// Help and words of general use.
const (
	Help          Key = "help"
	AttachHint    Key = "attach_hint" // Command
	Cancelled     Key = "cancelled"
	NotForYou     Key = "not_for_you"
	StaleButton   Key = "stale_button"
	InternalError Key = "internal_error"
	UpdateFailed  Key = "update_failed"
	Unreadable    Key = "unreadable"
)

// Sentences of Telegram's command menu; MenuKey makes the key of a command.
const (
	MenuNew    Key = "menu_new"
	MenuList   Key = "menu_list"
	MenuStop   Key = "menu_stop"
	MenuKill   Key = "menu_kill"
	MenuDone   Key = "menu_done"
	MenuResume Key = "menu_resume"
	MenuHelp   Key = "menu_help"
)

// Starting a session.
const (
	Started        Key = "started"           // Dir, Name
	Ready          Key = "ready"             // Name
	NameTaken      Key = "name_taken_suffix" // Name, Wanted
	PathMissing    Key = "path_missing"      // Path
	PathNotDir     Key = "path_not_dir"      // Path
	PathNotAllowed Key = "path_not_allowed"  // Path, Roots
	PathUnreadable Key = "path_unreadable"   // Path, Reason
	TmuxMissing    Key = "tmux_missing"
	ClaudeMissing  Key = "claude_missing"   // Command
	ClaudeNotReady Key = "claude_not_ready" // Name, Seconds
	FailedScreen   Key = "failed_screen"    // Name
)

// Sending text to an agent.
const (
	NoSession          Key = "no_session"
	NoSessionArchived  Key = "no_session_archived"
	NoSuchSession      Key = "no_such_session" // Name
	NotDelivered       Key = "not_delivered"
	Queued             Key = "queued"       // Name
	HeldDialog         Key = "held_dialog"  // Name
	HeldDraft          Key = "held_draft"   // Name
	HeldUnknown        Key = "held_unknown" // Name
	DialogOpen         Key = "dialog_open"  // Name
	ScreenOpen         Key = "screen_open"  // Name
	ScreenStopHint     Key = "screen_stop_hint"
	DialogStopHint     Key = "dialog_stop_hint"
	BlankText          Key = "blank_text"
	TextOnly           Key = "text_only"
	Unproven           Key = "unproven" // Name, Time
	Dropped            Key = "dropped"
	SentAgain          Key = "sent_again"          // Name
	StopRefused        Key = "stop_refused"        // Command, Name
	StopNothing        Key = "stop_nothing"        // Name
	Interrupted        Key = "interrupted"         // Name
	InterruptedQueue   Key = "interrupted_queue"   // Count
	APIError           Key = "api_error"           // Name, Reason
	TranscriptReplaced Key = "transcript_replaced" // Name
)

// The list.
const (
	ListEmpty    Key = "list_empty"
	ListTitle    Key = "list_title"    // Count
	ListArchived Key = "list_archived" // Count
	ListUnbound  Key = "list_unbound"  // Count
)

// States of a session; StateKey makes the key of a state.
const (
	StateStarting      Key = "state_starting"
	StateRunning       Key = "state_running"
	StateRestoring     Key = "state_restoring"
	StateStopping      Key = "state_stopping"
	StateArchived      Key = "state_archived"
	StateCompleted     Key = "state_completed"
	StateLost          Key = "state_lost"
	StateFailed        Key = "state_failed"
	StateAbandoned     Key = "state_abandoned"
	StateCleanupFailed Key = "state_cleanup_failed"
)

// Phases of an agent; PhaseKey makes the key of a phase.
const (
	PhaseIdle              Key = "phase_idle"
	PhaseWorking           Key = "phase_working"
	PhaseWaitingPermission Key = "phase_waiting_permission"
	PhaseWaitingAnswer     Key = "phase_waiting_answer"
	PhaseUnknown           Key = "phase_unknown"
)

// Ending a session.
const (
	KillConfirm      Key = "kill_confirm"      // Name
	DoneConfirm      Key = "done_confirm"      // Name
	Archiving        Key = "archiving"         // Name
	ReceiptArchived  Key = "receipt_archived"  // Name
	ReceiptCompleted Key = "receipt_completed" // Name
	ReceiptEnded     Key = "receipt_ended"     // Count, Details
	ReceiptSpared    Key = "receipt_spared"    // Count, Details
	ReceiptSplit     Key = "receipt_split"
	ReceiptWaiting   Key = "receipt_waiting" // Count
	ProcessLine      Key = "process_line"    // How, PID
	HowHup           Key = "how_hup"
	HowTerm          Key = "how_term"
	HowKill          Key = "how_kill"
	HowAlreadyGone   Key = "how_already_gone"
	CleanupFailed    Key = "cleanup_failed" // Count, Details, Name
	AlreadyEnded     Key = "already_ended"  // Name
	Ended            Key = "ended"          // Name
	LastScreen       Key = "last_screen"
	CrashedStatus    Key = "crashed_status" // Name, Status
	CrashedSignal    Key = "crashed_signal" // Name, Signal
	Lost             Key = "lost"           // Name
)

// Bringing a session back.
const (
	ResumeNone          Key = "resume_none"
	ResumePick          Key = "resume_pick"
	Resuming            Key = "resuming"              // Dir, Name
	ResumeAlreadyOpen   Key = "resume_already_open"   // Name
	ResumeRefusedWriter Key = "resume_refused_writer" // PID, Where
	ResumeUnknown       Key = "resume_unknown"        // Reason
	DirGone             Key = "dir_gone"              // Dir, Name
)

// Ages, as in a receipt.
const (
	AgeSeconds Key = "age_seconds" // Count
	AgeMinutes Key = "age_minutes" // Count
	AgeHours   Key = "age_hours"   // Count
	AgeDays    Key = "age_days"    // Count
)

// Words on buttons. They are the ones people and other programs know, also
// where the button itself is still to come.
const (
	ButtonKill        Key = "button_kill"
	ButtonDone        Key = "button_done"
	ButtonCancel      Key = "button_cancel"
	ButtonUndo        Key = "button_undo"
	ButtonResume      Key = "button_resume"
	ButtonSendAgain   Key = "button_send_again"
	ButtonDrop        Key = "button_drop"
	ButtonSendAnyway  Key = "button_send_anyway"
	ButtonSendNow     Key = "button_send_now"
	ButtonShow        Key = "button_show"
	ButtonTakeOver    Key = "button_take_over"
	ButtonForkInstead Key = "button_fork_instead"
	ButtonStopIt      Key = "button_stop_it"
	ButtonAdopt       Key = "button_adopt"
	ButtonRestartHere Key = "button_restart_here"
)

// MenuKey is the key of a command's line in the menu, such as "new".
func MenuKey(command string) Key { return Key("menu_" + command) }

// StateKey is the key of a session's state, such as "running".
func StateKey(state string) Key { return Key("state_" + state) }

// PhaseKey is the key of an agent's phase, such as "waiting_answer".
func PhaseKey(phase string) Key { return Key("phase_" + phase) }

// HowKey is the key of how a process ended, such as "term".
func HowKey(how string) Key { return Key("how_" + how) }
