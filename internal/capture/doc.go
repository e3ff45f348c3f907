// Package capture reads what `tmux capture-pane -p -e` has printed of a pane as the cells of a
// picture, in colours that can be read.
//
// It promises that any bytes give cells, and that each is what a terminal would show: letters and
// accents in their columns, with the styles of SGR. Links and other sequences draw nothing. A
// letter that would be lost on its paper is drawn so that it can be read.
//
// It knows no program: package claudeui interprets screens.
package capture
