// Package i18n holds every sentence that ccbot says in the chat, in English,
// Russian and Chinese.
//
// It promises that every key has a sentence in every language, with the
// same blanks to fill in and the plural forms that the language needs, and that
// saying one never fails. The sentences are plain text: values are not escaped,
// and the sender decides on the formatting. A sentence that names a button
// has the button's own word: {{.Word.button_retry}}.
//
// It does not know who speaks which language and imports nothing of ccbot's.
package i18n
