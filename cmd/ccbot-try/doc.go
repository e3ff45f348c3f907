// Ccbot-try implements `ccbot try`: a ccbot that people try in a browser, with a stand-in of
// Telegram, the demo agent for Claude Code (called claude, it is that agent), and a separate tmux
// server and folder.
//
// It promises that it runs the ccbot in its own folder, that a person's settings of ccbot play no
// part, and that nothing is left after Ctrl-C without --keep. With --story it plays a minute of a
// day by itself, and exits with 0 only if each step was seen from outside. It exits as the ccbot
// does, with 2 after wrong usage.
package main
