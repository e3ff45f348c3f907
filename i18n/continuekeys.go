package i18n

// What is said of work that was cut short.
const (
	ButtonContinue     Key = "button_continue"
	InterruptedWork    Key = "interrupted_work"
	InterruptedWaiting Key = "interrupted_waiting"
	InterruptedStep    Key = "interrupted_step"  // Step
	InterruptedTasks   Key = "interrupted_tasks" // Done, Tasks
	ContinueSends      Key = "continue_sends"    // the text follows
	Continues          Key = "continues"         // Name; the text follows
	ContinueOver       Key = "continue_over"     // Name
	RecoveredAlone     Key = "recovered_alone"   // Names
	RecoveredBooted    Key = "recovered_booted"  // Time
	DiskLow            Key = "disk_low"          // Dir, Free
	DiskFull           Key = "disk_full"         // Dir
	DiskRoom           Key = "disk_room"         // Dir
)
