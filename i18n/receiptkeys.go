package i18n

// What becomes of a person's message.
const (
	AgedAsk       Key = "aged_ask"     // Name, Time
	AgedCommand   Key = "aged_command" // Command, Time
	EditIgnored   Key = "edit_ignored"
	PromptWaits   Key = "prompt_waits"
	UnprovenInBox Key = "unproven_in_box"
	ButtonSend    Key = "button_send"
)
