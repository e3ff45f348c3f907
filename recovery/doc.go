// Package recovery makes the world right when ccbot starts, and a session whole
// again that came back elsewhere.
//
// Start-up is three steps. Look collects a World: the records, the panes, who
// lives and who writes. Plan decides everything from it; it is pure, so that
// `ccbot recover --dry-run` shows what a start would do. Apply does it, each
// action between two lines of its record's history. Read plan.go first.
//
// reconcileResume (resume.go) decides in the same way what becomes of a session
// whose conversation turns up in another window; arrivals.go carries it out.
//
// It promises that for the same moment planning again after applying finds
// nothing to do (P8); that a session is called lost only on proof and that what
// is unknown changes nothing (P6); that windows and processes that are not ours
// are reported once and never touched (P2); that a conversation moves to one window
// at most and only while nobody else writes it (P1).
//
// A Run backs the records up before it changes the first of them. That holds for
// its actions and for sessions that move or are set aside while it is under way,
// because of hook events: these stand in its Report too. It does not
// hold for what an agent tells of itself (the lifecycle follows its conversation,
// prompts are proven, a history gets a line), and there is no backup for what
// happens between two Runs. Backups (backup.go, and backup_file.go for what is in
// the file) also keeps, in purged.go, each record that has left by its age.
//
// It ends and starts nothing itself, and it does not talk to the chat: the
// lifecycle acts, and the Report says what was done. Read run.go for the order.
package recovery
