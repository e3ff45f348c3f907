package i18n

// Places that change.
const (
	GroupMoved Key = "group_moved" // From, To
	TopicLost  Key = "topic_lost"  // Count, Names
)
