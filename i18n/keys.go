package i18n

import "strings"

// Help and words of general use.
const (
	Help           Key = "help"
	AttachHint     Key = "attach_hint" // Command
	Cancelled      Key = "cancelled"
	NotForYou      Key = "not_for_you"
	StaleButton    Key = "stale_button"
	SessionGone    Key = "session_gone"
	InternalError  Key = "internal_error"
	UpdateFailed   Key = "update_failed"
	Unreadable     Key = "unreadable"
	FeatureCrashed Key = "feature_crashed" // Feature
)

// How words are joined.
const (
	JoinParts Key = "join_parts" // of one line
	JoinNames Key = "join_names" // of a list
	JoinItems Key = "join_items" // that have parts themselves
	Then      Key = "then"       // First, Next: a sentence behind another
	Named     Key = "named"      // Said, What
	Noted     Key = "noted"      // Note, What
)

// Sentences of Telegram's command menu; MenuKey makes the key of a command.
const (
	MenuNew    Key = "menu_new"
	MenuList   Key = "menu_list"
	MenuStop   Key = "menu_stop"
	MenuKill   Key = "menu_kill"
	MenuDone   Key = "menu_done"
	MenuResume Key = "menu_resume"
	MenuWhy    Key = "menu_why"
	MenuHelp   Key = "menu_help"
)

// Starting a session.
const (
	Started        Key = "started"          // Dir, Name
	NewUnclear     Key = "new_unclear"      // Path
	ButtonAsFolder Key = "button_as_folder" // Dir
	ButtonAsName   Key = "button_as_name"   // Name
	Ready          Key = "ready"            // Name
	ReadyBeside    Key = "ready_beside"     // Name, Current
	PathMissing    Key = "path_missing"     // Path
	PathNotDir     Key = "path_not_dir"     // Path
	PathNotAllowed Key = "path_not_allowed" // Path, Roots
	PathUnreadable Key = "path_unreadable"  // Path
	TmuxMissing    Key = "tmux_missing"
	NoEvidence     Key = "no_evidence"
	ClaudeMissing  Key = "claude_missing"   // Command
	ClaudeNotReady Key = "claude_not_ready" // Name, Seconds
	FailedScreen   Key = "failed_screen"    // Name
)

// Sending text to an agent.
const (
	NoSession          Key = "no_session"
	NoSuchSession      Key = "no_such_session" // Name
	WhichSession       Key = "which_session"
	ChoicePage         Key = "choice_page" // Count, First, Last
	NotDelivered       Key = "not_delivered"
	Queued             Key = "queued"      // Name
	HeldDialog         Key = "held_dialog" // Name
	HeldDraft          Key = "held_draft"  // Name
	HeldDraftHint      Key = "held_draft_hint"
	HeldBash           Key = "held_bash"    // Name
	HeldUnknown        Key = "held_unknown" // Name
	SentAnyway         Key = "sent_anyway"
	DraftCleared       Key = "draft_cleared" // Name
	BoxBusy            Key = "box_busy"      // Name
	DraftHidden        Key = "draft_hidden"  // Name
	DialogOpen         Key = "dialog_open"   // Name
	BlankText          Key = "blank_text"
	Unproven           Key = "unproven" // Name, Time
	Dropped            Key = "dropped"
	SentAgain          Key = "sent_again"          // Name
	StopRefused        Key = "stop_refused"        // Command, Name
	StopNothing        Key = "stop_nothing"        // Name
	StopAsks           Key = "stop_asks"           // Name
	StopStillWorks     Key = "stop_still_works"    // Name
	StopDone           Key = "stop_done"           // Name
	StopAsk            Key = "stop_ask"            // Name
	StopHeld           Key = "stop_held"           // Name
	StopSubagents      Key = "stop_subagents"      // Count, Name
	Interrupted        Key = "interrupted"         // Name
	APIError           Key = "api_error"           // Name, Reason
	RequestFails       Key = "request_fails"       // Name, Reason, Time
	FailedLogin        Key = "failed_login"        // Command, Name, Reason
	FailedLimit        Key = "failed_limit"        // Name, Reason, Time
	FailedHook         Key = "failed_hook"         // Name, Reason
	FailedHookMute     Key = "failed_hook_mute"    // Name
	TranscriptReplaced Key = "transcript_replaced" // Name
)

// The list.
const (
	ListEmpty      Key = "list_empty"
	ListTitle      Key = "list_title"   // Count
	ListEnded      Key = "list_ended"   // Details
	ListCount      Key = "list_count"   // Count, State
	ListUnbound    Key = "list_unbound" // Count
	NoWindows      Key = "no_windows"
	ListAtDesk     Key = "list_at_desk"
	ListAttached   Key = "list_attached"
	ListBackground Key = "list_background"
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
	StateCrashed       Key = "state_crashed" // completed, by a crash
)

// Phases of an agent; PhaseKey makes the key of a phase.
const (
	PhaseIdle              Key = "phase_idle"
	PhaseWorking           Key = "phase_working"
	PhaseWaitingPermission Key = "phase_waiting_permission"
	PhaseWaitingAnswer     Key = "phase_waiting_answer"
	PhaseUnknown           Key = "phase_unknown"
	PhaseLoggedOut         Key = "phase_logged_out"
	PhaseLimitReached      Key = "phase_limit_reached"
	PhaseAPIError          Key = "phase_api_error"
	PhaseBlocked           Key = "phase_blocked"
	WaitsFor               Key = "waits_for"       // What
	LimitUntil             Key = "limit_until"     // Time
	RetryAt                Key = "retry_at"        // Time, What
	AsksPermission         Key = "asks_permission" // Tool
	AsksQuestion           Key = "asks_question"
	AsksPlan               Key = "asks_plan"
)

// Ending a session.
const (
	KillConfirm      Key = "kill_confirm"      // Name
	DoneConfirm      Key = "done_confirm"      // Name
	Archiving        Key = "archiving"         // Name
	ReceiptArchived  Key = "receipt_archived"  // Name
	ReceiptCompleted Key = "receipt_completed" // Name
	ReceiptQuiet     Key = "receipt_quiet"     // Age, Name
	ReceiptStays     Key = "receipt_stays"
	ReceiptWaiting   Key = "receipt_waiting" // Count
	AndMore          Key = "and_more"        // Count
	HowHup           Key = "how_hup"
	HowTerm          Key = "how_term"
	HowKill          Key = "how_kill"
	HowAlreadyGone   Key = "how_already_gone"
	CleanupFailed    Key = "cleanup_failed" // Details, Name
	Retrying         Key = "retrying"
	StillEnding      Key = "still_ending"  // Name
	AlreadyEnded     Key = "already_ended" // Name
	Ended            Key = "ended"         // Name
	EndedAsked       Key = "ended_asked"   // Name
	LastScreen       Key = "last_screen"
	CrashedStatus    Key = "crashed_status" // Name, Status
	CrashedSignal    Key = "crashed_signal" // Name, Signal
	Lost             Key = "lost"           // Name
)

// Why a process was left alone; ReasonKey makes the key of a reason's code.
const (
	ReasonIdentity     Key = "reason_identity"
	ReasonPID1         Key = "reason_pid1"
	ReasonSelf         Key = "reason_self"
	ReasonAncestor     Key = "reason_ancestor"
	ReasonOtherUser    Key = "reason_other_user"
	ReasonTmux         Key = "reason_tmux"
	ReasonNotAnAgent   Key = "reason_not_an_agent"
	ReasonUnreadable   Key = "reason_unreadable"
	ReasonUnproven     Key = "reason_unproven"
	ReasonSecondWriter Key = "reason_second_writer"
	ReasonOtherAgent   Key = "reason_other_agent"
	ReasonUnclear      Key = "reason_unclear"
)

// What an end could not prove; FailureKey makes the key of a kind.
const (
	FailureTmux      Key = "failure_tmux"
	FailureProcesses Key = "failure_processes"
	FailureUnknown   Key = "failure_unknown"  // PID
	FailureSurvived  Key = "failure_survived" // PID
	FailureSpared    Key = "failure_spared"   // PID
	FailureSome      Key = "failure_some"
)

// Bringing a session back.
const (
	ResumeNone        Key = "resume_none"
	ResumePick        Key = "resume_pick"
	Resuming          Key = "resuming"            // Dir, Name
	ResumeAlreadyOpen Key = "resume_already_open" // Name
	AlreadyOpen       Key = "already_open"        // Name
	DirGone           Key = "dir_gone"            // Dir, Name
	DirNotADir        Key = "dir_not_a_dir"       // Dir, Name
	DirNoAccess       Key = "dir_no_access"       // Dir, Name
	TranscriptDamaged Key = "transcript_damaged"  // Details, Name
	TranscriptEmpty   Key = "transcript_empty"    // Name
	FaultHalfLine     Key = "fault_half_line"
	FaultNUL          Key = "fault_nul"
	FaultDuplicate    Key = "fault_duplicate"
)

// Others that write a session's conversation.
const (
	WritersRefused     Key = "writers_refused" // Name
	WritersSecond      Key = "writers_second"  // Name
	WritersGhost       Key = "writers_ghost"   // Name, State
	GhostUnseen        Key = "ghost_unseen"    // Name, State
	WritersNone        Key = "writers_none"    // Name
	WritersChanged     Key = "writers_changed"
	StartUnsure        Key = "start_unsure"
	WriterUnsure       Key = "writer_unsure"  // Process
	WriterSession      Key = "writer_session" // Name
	WriterSource       Key = "writer_source"  // Source
	WriterTmux         Key = "writer_tmux"    // Command, Window
	WriterKept         Key = "writer_kept"    // Reason
	SourcePresence     Key = "source_presence"
	SourceHook         Key = "source_hook"
	SourceBound        Key = "source_bound"
	SourceArgv         Key = "source_argv"
	SourceUnclear      Key = "source_unclear"
	FootTakeBack       Key = "foot_take_back" // Name
	FootTakeOnly       Key = "foot_take_only"
	FootStop           Key = "foot_stop"
	FootFork           Key = "foot_fork"
	FootForkLeave      Key = "foot_fork_leave" // Name
	FootAdopt          Key = "foot_adopt"
	FootAdoptElsewhere Key = "foot_adopt_elsewhere"
	EndConfirm         Key = "end_confirm"    // Processes
	Taking             Key = "taking"         // Processes
	TakingFailed       Key = "taking_failed"  // Processes
	EndingDone         Key = "ending_done"    // How, Process
	EndingSpared       Key = "ending_spared"  // Process, Reason
	EndingUnknown      Key = "ending_unknown" // Process
	ForkStarted        Key = "fork_started"   // Dir, From, Name
	Adopted            Key = "adopted"        // Name, Window
	AdoptedBare        Key = "adopted_bare"   // Name
	AdoptedAsks        Key = "adopted_asks"
)

// What a start found and did.
const (
	RecoveredHead       Key = "recovered_head"
	RecoveredReboot     Key = "recovered_reboot"     // Count, Names
	RecoveredComing     Key = "recovered_coming"     // Count
	RecoveredTmux       Key = "recovered_tmux"       // Count, Names
	RecoveredLost       Key = "recovered_lost"       // Count, Names
	RecoveredAbandoned  Key = "recovered_abandoned"  // Count, Names
	RecoveredFailed     Key = "recovered_failed"     // Count, Names
	RecoveredTrouble    Key = "recovered_trouble"    // Count, Names
	RecoveredUnclear    Key = "recovered_unclear"    // Count, Names
	RecoveredRestored   Key = "recovered_restored"   // Count, Names
	RecoveredNewer      Key = "recovered_newer"      // Count, Dir
	RecoveredUnreadable Key = "recovered_unreadable" // Count, Dir
	RecoveredMessages   Key = "recovered_messages"   // Count, Dir
	RecoveredChat       Key = "recovered_chat"       // Dir
	RecoveredFoot       Key = "recovered_foot"
	RecoveredOver       Key = "recovered_over"
)

// Windows that belong to no session.
const (
	WindowConversation Key = "window_conversation" // ID
	WindowDead         Key = "window_dead"
	WindowIgnored      Key = "window_ignored" // Window
	WindowArchive      Key = "window_archive" // Process, Window
	WindowStays        Key = "window_stays"   // Details
	WindowCloses       Key = "window_closes"
	WindowKept         Key = "window_kept"
	WindowOwned        Key = "window_owned" // Name, State
)

// The history of a session; RuleKey makes the key of a rule.
const (
	WhyTitle   Key = "why_title"   // Name, State
	WhyNothing Key = "why_nothing" // Name, State
	WhyMore    Key = "why_more"    // Command, Count

	RuleStart    Key = "rule_start"
	RuleReady    Key = "rule_ready"
	RuleResume   Key = "rule_resume"
	RuleChat     Key = "rule_chat"
	RuleAdopt    Key = "rule_adopt"
	RuleStop     Key = "rule_stop"
	RuleStopped  Key = "rule_stopped"
	RuleEnded    Key = "rule_ended"
	RuleLost     Key = "rule_lost"
	RuleFailed   Key = "rule_failed"
	RuleRecovery Key = "rule_recovery"
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
	ButtonRetry       Key = "button_retry"
	ButtonMakeDir     Key = "button_make_dir"
	ButtonUseCopy     Key = "button_use_copy"
	ButtonUseAsIs     Key = "button_use_as_is"
	ButtonBeginAnew   Key = "button_begin_anew"
	ButtonResumeAll   Key = "button_resume_all"
	ButtonPick        Key = "button_pick"
	ButtonArchive     Key = "button_archive"
	ButtonIgnore      Key = "button_ignore"
	ButtonYesArchive  Key = "button_yes_archive"
)

// RuleKey is the key of what decided a change, such as "lost"; "recovery.mark_lost" has that of
// "recovery".
func RuleKey(rule string) Key {
	kind, _, _ := strings.Cut(rule, ".")
	return Key("rule_" + kind)
}

// MenuKey is the key of a command's line in the menu, such as "new".
func MenuKey(command string) Key { return Key("menu_" + command) }

// StateKey is the key of a session's state, such as "running".
func StateKey(state string) Key { return Key("state_" + state) }

// PhaseKey is the key of an agent's phase, such as "waiting_answer".
func PhaseKey(phase string) Key { return Key("phase_" + phase) }

// HowKey is the key of how a process ended, such as "term".
func HowKey(how string) Key { return Key("how_" + how) }

// ReasonKey is the key of why a process was left alone, such as "tmux".
func ReasonKey(code string) Key { return Key("reason_" + code) }

// FailureKey is the key of what an end could not prove, such as "survived".
func FailureKey(kind string) Key { return Key("failure_" + kind) }

// SourceKey is the key of what a writer was recognised by, such as "hook".
func SourceKey(source string) Key { return Key("source_" + source) }

// FaultKey is the key of what is wrong with a transcript, such as "nul".
func FaultKey(fault string) Key { return Key("fault_" + fault) }

// AnswererKey says what else answers permission requests, see hooks.Answerer.
func AnswererKey(what string) Key { return Key("answers_by_" + what) }
