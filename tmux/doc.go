// Package tmux makes, watches and types into tmux windows through one control-mode client.
//
// It promises:
//
//   - A guarded operation acts only while the pane is the intended one, because tmux compares and
//     acts in one command (P7).
//   - A window and its panes are targets by id only, also at a start, so that a hook of a tmux.conf
//     changes nothing.
//   - An error other than the named sentinels means that the outcome is unknown (P6).
//   - A server that it starts inherits none of ccbot's environment (P9).
//   - While it is connected no process is spawned and nothing is polled.
//
// It does not know sessions or agents, and does not know which text is fit to be pasted: callers
// first remove control characters, check presence files and dialogs, and prove processes through
// internal/process. It never closes a window (that would also close a person's split panes), only
// one proven pane.
//
// # The wire
//
// `tmux -C` takes one command list per line and answers each command with a block,
//
//	%begin <time> <number> <flags>
//	…
//	%end <time> <number> <flags>        (%error when it failed; the rest of the list is then skipped)
//
// flags is 1 for commands of this client and 0 for the rest (the attach itself, a user's hooks). A
// list makes one block per command; a command that fails, or a user's hook, changes the number of
// blocks of a line. A body is not escaped: the screen of a pane may hold lines that look like
// guards. Therefore each line is followed by `display-message -p <random>`, and everything up to
// that text belongs to the line; a block ends at the last line that repeats its %begin. A guard
// reports its outcome with the same random text, so neither a screen nor a process name can forge
// an outcome.
//
// # Found by experiment on 3.3a; the named behaviour also on 3.2 and 3.7c
//
//   - A line ends at a newline even inside quotes, an empty line detaches the client, and the raw
//     byte 0xFF ends the parser's input. Therefore quote writes such bytes as \ooo. "~" and "$" are
//     expanded inside double quotes. In double quotes a trailing ";" and "{}" are plain text.
//   - The whole command is kept in the server's message log (`show-messages`, 1,000 entries), a
//     set-buffer with its text. load-buffer of a file leaves only the file's name there.
//   - Without -u a control client gets "_" in place of every non-ASCII character.
//   - kill-server leaves the socket; only a refused connection proves that no server is there.
//   - The server holds the control client's pipes itself: a stopped server keeps them open after
//     the client is dead.
//   - A pane whose process has a strange name still compares right when ",", "}" and "#" of the
//     operand are written "#,", "#}" and "##".
//   - send-keys goes to the mode if the pane is in copy mode, also to the neighbours if the pane is
//     synchronised, and nowhere if its input is off, each without an error. paste-buffer into a
//     dead pane is refused only since 3.4. The guard checks all of these.
//   - A dead pane may stay without its status until another child of the server ends, because
//     libutempter takes the signal away (about 1 in 20 processes that end at once on Debian's 3.3a,
//     none without that library). For each such pane Panes makes a child end, once.
//   - capture-pane -p of a control client leaks its text in the server up to 3.5a, and "q:" leaks
//     up to 3.3a. if-shell leaks the commands of the branch that runs, from 3.3 on. show-buffer
//     escapes control characters up to 3.3a.
//   - If if-shell -F cannot read the command of its branch, it fails, and the rest of the line is
//     skipped (in the sources of 3.2 to 3.7c). Nothing else runs between two commands of a line.
//   - Captures are taken without -J, because readers of the screen were written for rows as shown,
//     and -J would also keep trailing spaces.
package tmux
