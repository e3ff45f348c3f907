package i18n

// What agents ask, as taps on it are answered, and the keys of a terminal.
const (
	AskChanged       Key = "ask_changed"
	AskSeeBelow      Key = "ask_see_below" // Name
	AskWriterCut     Key = "ask_writer_cut"
	AskStray         Key = "ask_stray" // Name
	AskNotShown      Key = "ask_not_shown"
	AskWriteNow      Key = "ask_write_now"
	AskTextLost      Key = "ask_text_lost"   // Name
	AskTextUnsure    Key = "ask_text_unsure" // Name
	AskFlood         Key = "ask_flood"       // Name
	HeldAsk          Key = "held_ask"        // Name
	SendAfter        Key = "send_after"      // Name
	DeniedWith       Key = "denied_with"     // Name
	AnsweredWith     Key = "answered_with"   // Name
	KeysRelayed      Key = "keys_relayed"
	KeysNoDialog     Key = "keys_no_dialog" // Name
	KeysChanged      Key = "keys_changed"
	KeysUnseen       Key = "keys_unseen" // Name
	DialogClosed     Key = "dialog_closed"
	DialogNotWhole   Key = "dialog_not_whole"
	ListContext      Key = "list_context" // Percent
	ButtonDenyWith   Key = "button_deny_with"
	ButtonAnswerWith Key = "button_answer_with"
	ButtonSendAfter  Key = "button_send_after"
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
	AskLines           Key = "ask_lines"       // Count
	AskIn              Key = "ask_in"          // Dir
	ProjectAnswers     Key = "project_answers" // What
	AnswersByRules     Key = "answers_by_rules"
	AnswersByHooks     Key = "answers_by_hooks"
	AnswersByPlugins   Key = "answers_by_plugins"
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
