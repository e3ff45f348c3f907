// Package token holds a bot's token so that nothing shows it by accident.
//
// It makes three promises:
//
//   - A Token prints as "redacted" in every format, log and encoding, even in a private field of a
//     printed value.
//   - Clients of the Bot API do not have the token: their URLs, and so their errors and logs,
//     contain a stand-in, which Transport replaces at the last moment, only for the Bot API's
//     address.
//   - Clean, CleanError and Writer remove the token from any text: whole, with its colon escaped,
//     and its second half alone.
//
// It does not find a token that was cut, and does not protect the program's memory.
package token
