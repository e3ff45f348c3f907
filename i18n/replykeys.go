package i18n

// Replies to a session's messages, and commands of bash mode.
const (
	ReplyUnknown        Key = "reply_unknown"
	ResumeAndSend       Key = "resume_and_send" // Name
	PromptSent          Key = "prompt_sent"     // Name
	ButtonResumeAndSend Key = "button_resume_and_send"
	OutputRuns          Key = "output_runs"
	OutputStopped       Key = "output_stopped"
	OutputNone          Key = "output_none"
	OutputMore          Key = "output_more"     // Count
	OutputFull          Key = "output_full"     // Count
	OutputTooLong       Key = "output_too_long" // Size
)
