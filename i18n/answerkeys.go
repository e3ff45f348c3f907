package i18n

// Answers of agents.
const (
	AnswerNotice Key = "answer_notice" // Name
	AnswersFile  Key = "answers_file"  // Count
	Thought      Key = "thought"
	PartNotShown Key = "part_not_shown" // Name, Command
	ButtonOpen   Key = "button_open"
)
