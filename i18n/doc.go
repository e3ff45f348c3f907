// Package i18n holds the sentences that ccbot says in the chat. Each file of locales is a language.
//
// It promises that saying a sentence never fails. A sentence that a language lacks, or whose blanks
// differ from those of the English sentence, is replaced by the English one. The sentences are
// plain text: values are not escaped, and the sender decides on the formatting. A sentence that
// names a button has the button's own word: {{.Word.button_retry}}.
//
// It does not know who speaks which language and imports nothing of ccbot's.
package i18n
