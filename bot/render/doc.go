// Package render turns an agent's Markdown into messages for Telegram, in one of two forms: Entities
// makes text plus entities, for every server; Rich makes Markdown for servers that have rich messages (Bot API 10.1).
// What no chat shows well becomes a file: a wide table a picture, long code a document with its beginning above.
//
// It promises that it never fails and never loses text: what cannot be formatted is shown as it is written, and what a
// file holds is all in it. The entities it makes are sorted, lie inside the text, nest or stand apart, and follow
// Telegram's rules (core.telegram.org/bots/api#formatting-options): code and pre share no character with any other
// entity, quotes are not nested, links hold no links. Split keeps all of that true for every part. Rich Markdown is
// written anew, never passed on: in it nothing of the text is markup, so that what an agent quotes cannot become a button,
// a mention or a picture.
//
// It does not send, and it uses no parse mode but that of rich messages: escaping rules are where text is lost.
package render
