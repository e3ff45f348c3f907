// Package exit decides the exit code of ccbot: 0 after a clean stop, 1 failure, 2 wrong usage or
// configuration, 3 another ccbot is running, 4 a newer release was found, 130 setup was
// interrupted. It ends nothing.
package exit
