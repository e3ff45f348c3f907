// Package render turns an agent's Markdown into messages for Telegram: text plus entities, cut to size.
//
// It promises that it never fails and never loses text: what cannot be formatted is shown as it is written. The
// entities it makes are sorted, lie inside the text, nest or stand apart, and follow Telegram's rules
// (core.telegram.org/bots/api#formatting-options): code and pre share no character with any other entity, quotes are
// not nested, links hold no links. Split keeps all of that true for every part.
//
// It does not send, and it knows nothing of rich messages or parse modes: escaping rules are where text is lost.
package render
