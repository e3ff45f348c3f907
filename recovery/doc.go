// Package recovery brings the records and the world into agreement when ccbot starts, and lets a
// session continue when its conversation turns up in another window.
//
// Start-up has three steps. Look collects a World: the records, the panes, which agents live and
// which processes write. Plan asks lifecycle.Decide about each record, and adds what only a start
// can know; both are pure, so that `ccbot recover --dry-run` shows what a start would do. Apply
// carries out each action between two lines of its record's history. Read plan.go first.
//
// reconcileResume (resume.go) decides in the same way about a session whose conversation turns up
// in another window; arrivals.go carries it out.
//
// The package promises that for the same moment, planning again after applying finds nothing to do
// (P8); that a session is called lost only on proof, and that what is unknown changes nothing (P6);
// that windows and processes that do not belong to ccbot are reported once and never touched (P2);
// that a conversation moves to one window at most, and only while no other process writes it (P1).
//
// A Run backs up the records before it changes the first of them. That holds for its own actions,
// and for sessions that move or are set aside because their conversation comes back while the Run
// is under way: these are in its Report too. It does not hold for changes that an agent causes
// itself (the lifecycle follows its conversation, prompts are proven, a history gets a line), and
// there is no backup for changes between two Runs. Backups (backup.go) also keeps each record that
// was removed because of its age (purged.go).
//
// The package itself ends and starts nothing, and it does not talk to the chat: the lifecycle acts,
// and the Report lists what was done. Recovery.Run has the order.
package recovery
