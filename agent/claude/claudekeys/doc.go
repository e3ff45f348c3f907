// Package claudekeys determines which keys operate Claude Code's prompt box, from the files in
// which a person changes them: keybindings.json, and editorMode in the settings or in .claude.json.
//
// It promises never to name a letter, and never to name a key that keybindings.json gives another
// meaning. If no key is left for a purpose, the Fault names the file and the binding.
//
// It does not see the screen: a person may have switched the editor mode since, so the caller
// passes on what the screen shows. The rules were found by experiment with Claude Code 2.1.328; see
// docs/claude-code.md.
package claudekeys
