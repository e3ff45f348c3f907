// Package news defines the news about sessions and machines that the engine sends to the chat.
//
//   - News are delivered by one call, with the session as its record has it. When the call returns,
//     all that the chat must keep is durable.
//   - News that are Kept are stored with the change that they report, and delivered after it, in
//     order. With others the change may not be on disk yet.
//   - After a crash the same news may be sent twice. Kept news then have the same number,
//     [ccbot/port.Session].News.
//   - The call runs on the session's own worker. Its handler may only call [ccbot/port.Views],
//     which never blocks. News of the machine run on no worker, and neither do Opened and
//     FileOffered.
package news
