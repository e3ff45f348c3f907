// Package cuttext finds the messages into which an app has cut a text that is longer than a
// message, and joins their texts. Telegram keeps no sign of the cut.
package cuttext
