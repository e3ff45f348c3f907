// Package limit offers to continue a session after the end of the limit that stopped it.
//
// It guarantees:
//   - A session stopped by a limit gets one card. Its button plans a prompt for the end of the
//     limit or cancels it. By the chat's setting the prompt is planned at once, or never.
//   - The prompt is typed once, even after a kill.
//   - The prompt is typed only if nothing has happened since the limit. If the session has ended,
//     works again or got another prompt, the card reports that nothing was sent.
//   - What people write during the limit goes after the prompt: package prompt holds it, and this one
//     says when to look at it.
//   - Sleep of the machine, or a stop of ccbot, delays the prompt but loses nothing.
//
// Claude Code itself continues up to two minutes after the end of a limit, unless that is turned
// off. The prompt comes later.
package limit
