// Package token holds a bot's token so that nothing shows it by accident.
//
// It promises three things. A Token prints as "redacted" in every format, log
// and encoding, also where it lies in a private field of something that is
// printed. Whoever speaks to the Bot API does not have it: a stand-in stands in
// their URLs, and so in their errors and logs, and Transport puts the token in
// its place at the last moment, for the Bot API's own address only. And what was
// written with it all the same is cleaned: Clean, CleanError and Writer take it
// out, whole, with its colon escaped, and the half behind the colon alone.
//
// It does not find a token that was cut, and it keeps nobody out who reads the
// program's memory.
package token
