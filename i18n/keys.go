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
	EvidenceStart  Key = "evidence_start"
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
	HeldBash           Key = "held_bash"    // Name
	HeldUnknown        Key = "held_unknown" // Name
	SentAnyway         Key = "sent_anyway"
	DraftCleared       Key = "draft_cleared" // Name
	BoxBusy            Key = "box_busy"      // Name
	DraftHidden        Key = "draft_hidden"  // Name
	DialogOpen         Key = "dialog_open"   // Name
	ScreenOpen         Key = "screen_open"   // Name
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
	ListEmpty      Key = "list_empty"
	ListTitle      Key = "list_title"    // Count
	ListArchived   Key = "list_archived" // Count
	ListUnbound    Key = "list_unbound"  // Count
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
	ReceiptQuiet     Key = "receipt_quiet"     // Age, Name
	ReceiptAgent     Key = "receipt_agent"     // How, Process
	ReceiptTermed    Key = "receipt_termed"    // Count, Details
	ReceiptKilled    Key = "receipt_killed"    // Count, Details
	ReceiptSpared    Key = "receipt_spared"    // Count, Details
	ReceiptOthers    Key = "receipt_others"    // Details
	ReceiptSplit     Key = "receipt_split"
	ReceiptAdopted   Key = "receipt_adopted"
	ReceiptWaiting   Key = "receipt_waiting" // Count
	AndMore          Key = "and_more"        // Count
	HowHup           Key = "how_hup"
	HowTerm          Key = "how_term"
	HowKill          Key = "how_kill"
	HowAlreadyGone   Key = "how_already_gone"
	CleanupFailed    Key = "cleanup_failed"   // Details, Name
	EvidenceArchive  Key = "evidence_archive" // Name
	Retrying         Key = "retrying"
	StillEnding      Key = "still_ending"  // Name
	AlreadyEnded     Key = "already_ended" // Name
	Ended            Key = "ended"         // Name
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
	StillCurrent      Key = "still_current"       // Name
	UndoOver          Key = "undo_over"
	DirGone           Key = "dir_gone"           // Dir, Name
	DirNotADir        Key = "dir_not_a_dir"      // Dir, Name
	DirNoAccess       Key = "dir_no_access"      // Dir, Name
	MakeDirFailed     Key = "make_dir_failed"    // Path, Reason
	TranscriptDamaged Key = "transcript_damaged" // Details, Name
	TranscriptEmpty   Key = "transcript_empty"   // Name
	FaultHalfLine     Key = "fault_half_line"
	FaultNUL          Key = "fault_nul"
	FaultDuplicate    Key = "fault_duplicate"
)

// Others that write a session's conversation.
const (
	WritersRefused     Key = "writers_refused"    // Name
	WritersMaybe       Key = "writers_maybe"      // Name
	WritersOver        Key = "writers_over"       // Name, State
	WritersOverMaybe   Key = "writers_over_maybe" // Name, State
	WritersSecond      Key = "writers_second"     // Name
	WritersGhost       Key = "writers_ghost"      // Name, State
	GhostUnseen        Key = "ghost_unseen"       // Name, State
	WritersNone        Key = "writers_none"       // Name
	WritersChanged     Key = "writers_changed"
	WritersUnknown     Key = "writers_unknown" // Name
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
	FootKept           Key = "foot_kept"
	FootTakeBack       Key = "foot_take_back" // Name
	FootTakeOnly       Key = "foot_take_only"
	FootStop           Key = "foot_stop"
	FootFork           Key = "foot_fork"
	FootForkLeave      Key = "foot_fork_leave" // Name
	FootAdopt          Key = "foot_adopt"
	FootAdoptElsewhere Key = "foot_adopt_elsewhere"
	FootAdoptMany      Key = "foot_adopt_many"
	TakeBackConfirm    Key = "take_back_confirm" // Name, Processes
	TakeOnlyConfirm    Key = "take_only_confirm" // Name, Processes
	StopConfirm        Key = "stop_confirm"      // Name, Processes
	StopOnlyConfirm    Key = "stop_only_confirm" // Processes
	Taking             Key = "taking"            // Processes
	TakingFailed       Key = "taking_failed"     // Processes
	EndingDone         Key = "ending_done"       // How, Process
	EndingSpared       Key = "ending_spared"     // Process, Reason
	EndingUnknown      Key = "ending_unknown"    // Process
	SecondLeft         Key = "second_left"       // Name
	ForkStarted        Key = "fork_started"      // Dir, From, Name
	ForkFailed         Key = "fork_failed"       // Name
	Adopted            Key = "adopted"           // Name, Window
	AdoptedBare        Key = "adopted_bare"      // Name, Window
)

// Files that an agent sends.
const (
	FileAsk     Key = "file_ask" // Name, Path, Size
	FileSending Key = "file_sending"
	FileSent    Key = "file_sent"
	FileLeft    Key = "file_left"
	FileChanged Key = "file_changed"
	FileFailed  Key = "file_failed" // Reason
	FileUnsure  Key = "file_unsure"
	FileStale   Key = "file_stale"
)

// What agents ask, as taps on it are answered, and the keys of a terminal.
const (
	AskShowFirst      Key = "ask_show_first"
	AskChanged        Key = "ask_changed"
	AskSeeBelow       Key = "ask_see_below" // Name
	AskWriterCut      Key = "ask_writer_cut"
	AskStray          Key = "ask_stray" // Name
	AskNotShown       Key = "ask_not_shown"
	AskWriteNow       Key = "ask_write_now"
	AskTooLate        Key = "ask_too_late"
	AskTextLost       Key = "ask_text_lost"   // Name
	AskTextUnsure     Key = "ask_text_unsure" // Name
	AskFlood          Key = "ask_flood"       // Name
	HeldAsk           Key = "held_ask"        // Name, What
	HeldAskQuestion   Key = "held_ask_question"
	HeldAskPlan       Key = "held_ask_plan"
	HeldAskPermission Key = "held_ask_permission" // Tool
	HeldAskOver       Key = "held_ask_over"
	HeldAskEnded      Key = "held_ask_ended"
	HeldAskGone       Key = "held_ask_gone"
	SendAfter         Key = "send_after"    // Name
	DeniedWith        Key = "denied_with"   // Name
	AnsweredWith      Key = "answered_with" // Name
	KeysRelayed       Key = "keys_relayed"
	KeysNoDialog      Key = "keys_no_dialog" // Name
	KeysChanged       Key = "keys_changed"
	KeysUnseen        Key = "keys_unseen" // Name
	DialogClosed      Key = "dialog_closed"
	DialogStale       Key = "dialog_stale"
	DialogNotWhole    Key = "dialog_not_whole"
	ListContext       Key = "list_context" // Percent
	ButtonDenyWith    Key = "button_deny_with"
	ButtonAnswerWith  Key = "button_answer_with"
	ButtonSendTo      Key = "button_send_to" // Name
	ButtonSendAfter   Key = "button_send_after"
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
	ButtonRestore     Key = "button_restore"
	ButtonRetry       Key = "button_retry"
	ButtonMakeDir     Key = "button_make_dir"
	ButtonUseCopy     Key = "button_use_copy"
	ButtonUseAsIs     Key = "button_use_as_is"
	ButtonBeginAnew   Key = "button_begin_anew"
	ButtonSendIt      Key = "button_send_it"
	ButtonNo          Key = "button_no"
)

// What a permission request shows.
const (
	AskBash            Key = "ask_bash"          // Name
	AskEdit            Key = "ask_edit"          // Name
	AskWrite           Key = "ask_write"         // Name
	AskRead            Key = "ask_read"          // Name
	AskSearch          Key = "ask_search"        // Name
	AskFetch           Key = "ask_fetch"         // Name
	AskWebSearch       Key = "ask_web_search"    // Name
	AskMCP             Key = "ask_mcp"           // Name, Server, Tool
	AskTool            Key = "ask_tool"          // Name, Tool
	AskQuestion        Key = "ask_question"      // Name
	AskQuestionPage    Key = "ask_question_page" // Name, Page, Pages
	AskPlan            Key = "ask_plan"          // Name
	AskBackground      Key = "ask_background"
	AskReplaceAll      Key = "ask_replace_all"
	AskLines           Key = "ask_lines"    // Count
	AskIn              Key = "ask_in"       // Dir
	AskSubagent        Key = "ask_subagent" // Type
	AskSubagentUnnamed Key = "ask_subagent_unnamed"
	AskSessionRules    Key = "ask_session_rules"
	AskSessionGiven    Key = "ask_session_given"
	AskThisCommand     Key = "ask_this_command"
	AskEveryUse        Key = "ask_every_use"
	AskDirectory       Key = "ask_directory"
	AskMoreRules       Key = "ask_more_rules"      // Count
	AskMoreLines       Key = "ask_more_lines"      // Count
	AskMoreCharacters  Key = "ask_more_characters" // Count
	AskAll             Key = "ask_all"
)

// What a request waits for, and what became of it.
const (
	AskTooLong          Key = "ask_too_long"
	AskConcealed        Key = "ask_concealed"
	AskTooBig           Key = "ask_too_big"
	AskAtDesk           Key = "ask_at_desk"
	AskSayWhy           Key = "ask_say_why"
	AskSayAnswer        Key = "ask_say_answer"
	AskSayWhyBy         Key = "ask_say_why_by"    // Person
	AskSayAnswerBy      Key = "ask_say_answer_by" // Person
	AskUnheard          Key = "ask_unheard"
	AskSent             Key = "ask_sent"  // What
	AskNoted            Key = "ask_noted" // What
	AskDecidedAllow     Key = "ask_decided_allow"
	AskDecidedSession   Key = "ask_decided_session"
	AskDecidedDeny      Key = "ask_decided_deny"
	AskDecidedAnswers   Key = "ask_decided_answers"
	AskDecidedNoAnswer  Key = "ask_decided_no_answer"
	AskDecidedApprove   Key = "ask_decided_approve"
	AskDecidedBack      Key = "ask_decided_back"
	AskAway             Key = "ask_away"
	AskAwayGone         Key = "ask_away_gone"
	AskDesk             Key = "ask_desk"
	AskAllowedChat      Key = "ask_allowed_chat"
	AskAllowedSession   Key = "ask_allowed_session"
	AskAllowedDesk      Key = "ask_allowed_desk"
	AskApprovedChat     Key = "ask_approved_chat"
	AskApprovedEdits    Key = "ask_approved_edits"
	AskApprovedDesk     Key = "ask_approved_desk"
	AskDeniedChat       Key = "ask_denied_chat"
	AskDeniedDesk       Key = "ask_denied_desk"
	AskAnsweredChat     Key = "ask_answered_chat"
	AskAnsweredDesk     Key = "ask_answered_desk"
	AskAllowedHook      Key = "ask_allowed_hook"
	AskDeniedHook       Key = "ask_denied_hook"
	AskAnsweredHook     Key = "ask_answered_hook"
	AskNotAnswered      Key = "ask_not_answered"
	AskNotAnsweredDesk  Key = "ask_not_answered_desk"
	AskSentBack         Key = "ask_sent_back"
	AskSentBackDesk     Key = "ask_sent_back_desk"
	AskInterrupted      Key = "ask_interrupted"
	AskInterruptedChat  Key = "ask_interrupted_chat"
	AskInterruptedAfter Key = "ask_interrupted_after"
	AskExpired          Key = "ask_expired"
	AskEnded            Key = "ask_ended"
	AskUnknown          Key = "ask_unknown"
	AskLate             Key = "ask_late"
)

// Words on the buttons of a request.
const (
	AskAllow        Key = "ask_allow"
	AskAllowSession Key = "ask_allow_session"
	AskDeny         Key = "ask_deny"
	AskDenyWhy      Key = "ask_deny_why"
	AskShowAll      Key = "ask_show_all"
	AskApprove      Key = "ask_approve"
	AskApproveEdits Key = "ask_approve_edits"
	AskKeepPlanning Key = "ask_keep_planning"
	AskDone         Key = "ask_done"
	AskOther        Key = "ask_other"
	AskBack         Key = "ask_back"
	AskCancel       Key = "ask_cancel"
	AskNoAnswer     Key = "ask_no_answer"
	AskSendBack     Key = "ask_send_back"
)

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
