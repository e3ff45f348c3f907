// Package news defines the news about sessions that the engine sends to the chat.
//
//   - News are delivered by one call with the session as its record has it: the change itself may
//     not be on disk yet. When the call returns, all that the chat must keep is durable.
//   - After a crash the same news may be sent twice.
//   - The call runs on the session's own worker. Its handler may only call [ccbot/port.Views],
//     which never blocks.
package news
