package i18n

// What agents ask, as taps on it are answered, and the keys of a terminal.
const (
	AskChanged       Key = "ask_changed"
	AskSeeBelow      Key = "ask_see_below" // Name
	AskStray         Key = "ask_stray"     // Name
	AskNotShown      Key = "ask_not_shown"
	AskWriteNow      Key = "ask_write_now"
	AskTextLost      Key = "ask_text_lost"   // Name
	AskTextUnsure    Key = "ask_text_unsure" // Name
	AskFlood         Key = "ask_flood"       // Name
	HeldAsk          Key = "held_ask"        // Name, What
	HeldAskHint      Key = "held_ask_hint"
	WaitsBehind      Key = "waits_behind"  // Count
	SendAfter        Key = "send_after"    // Name
	DeniedWith       Key = "denied_with"   // Name
	AnsweredWith     Key = "answered_with" // Name
	KeysRelayed      Key = "keys_relayed"
	KeysNoDialog     Key = "keys_no_dialog" // Name
	KeysUnseen       Key = "keys_unseen"    // Name
	DialogClosed     Key = "dialog_closed"
	DialogNotWhole   Key = "dialog_not_whole"
	ListContext      Key = "list_context" // Percent
	ButtonDenyWith   Key = "button_deny_with"
	ButtonAnswerWith Key = "button_answer_with"
	ButtonSendAfter  Key = "button_send_after"
)

// What a permission request shows.
const (
	AskBash           Key = "ask_bash"          // Name
	AskEdit           Key = "ask_edit"          // Name
	AskWrite          Key = "ask_write"         // Name
	AskRead           Key = "ask_read"          // Name
	AskSearch         Key = "ask_search"        // Name
	AskFetch          Key = "ask_fetch"         // Name
	AskWebSearch      Key = "ask_web_search"    // Name
	AskTool           Key = "ask_tool"          // Name, Tool
	AskQuestion       Key = "ask_question"      // Name
	AskQuestionPage   Key = "ask_question_page" // Name, Page, Pages
	AskPlan           Key = "ask_plan"          // Name
	AskIn             Key = "ask_in"            // Dir
	ProjectAnswers    Key = "project_answers"   // What
	AnswersByRules    Key = "answers_by_rules"
	AnswersByHooks    Key = "answers_by_hooks"
	AnswersByPlugins  Key = "answers_by_plugins"
	AskSessionRules   Key = "ask_session_rules"
	AskThisCommand    Key = "ask_this_command"
	AskEveryUse       Key = "ask_every_use"
	AskDirectory      Key = "ask_directory"
	AskMoreRules      Key = "ask_more_rules"      // Count
	AskMoreCharacters Key = "ask_more_characters" // Count
	AskAll            Key = "ask_all"
)

// What a request waits for, and what became of it.
const (
	AskTooBig         Key = "ask_too_big"
	AskNotAll         Key = "ask_not_all"
	AskAllowed        Key = "ask_allowed"         // Where
	AskAllowedSession Key = "ask_allowed_session" // Where
	AskApproved       Key = "ask_approved"        // Where
	AskAnswered       Key = "ask_answered"        // Where
	AskDenied         Key = "ask_denied"          // Where
	AskInChat         Key = "ask_in_chat"
	AskAtTerminal     Key = "ask_at_terminal"
	AskByHook         Key = "ask_by_hook"
	AskSubagent       Key = "ask_subagent"
	AskAtDesk         Key = "ask_at_desk"
	AskSent           Key = "ask_sent"  // What
	AskNoted          Key = "ask_noted" // What
	AskAway           Key = "ask_away"
	AskDesk           Key = "ask_desk"
	AskInterrupted    Key = "ask_interrupted"
	AskEnded          Key = "ask_ended"
	AskUnknown        Key = "ask_unknown"
	AskLate           Key = "ask_late"
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
)
