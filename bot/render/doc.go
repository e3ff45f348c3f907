// Package render turns an agent's Markdown into messages for Telegram, in one of two forms:
// Entities makes text plus entities, for every server; Rich makes Markdown for servers that have
// rich messages (Bot API 10.1). Content that no chat shows well becomes a file: a wide table a
// picture, long code a document with its beginning above.
//
// It guarantees:
//   - It never fails and never loses text: source that it cannot format is shown as written, and a
//     file has the whole of what it replaces.
//   - Entities are sorted, lie inside the text, nest or stand apart, and follow Telegram's rules
//     (core.telegram.org/bots/api#formatting-options): code and pre share no character with any
//     other entity, quotes are not nested, links hold no links. Split keeps all of that true for
//     every part.
//   - Rich Markdown is written again, never passed on: in it nothing of the text is markup, so that
//     an agent's quotation cannot become a button, a mention or a picture.
//
// It does not send, and its only parse mode is that of rich messages: escaping rules lose text.
package render
