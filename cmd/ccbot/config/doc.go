// Package config reads the settings of ccbot: from the environment, and from ccbot.env for what the
// environment does not set. Each setting, its default and its sentence of the documentation is one
// field of Config.
//
// It promises that what is set wrong is an error for every verb that needs it, which names the
// variable and the place to set it; that a file which others could write, or could read, is refused
// before it is read; and that no error, no printed setting and no name of an unknown setting shows
// the token, wherever it was pasted. It makes and changes no file.
package config
