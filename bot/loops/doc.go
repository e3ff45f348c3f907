// Package loops shows the loops of sessions, and starts them: /loop asks for task, check and
// bounds; each loop has one card; /loops lists all.
//
// It guarantees:
//   - No loop starts before a person has seen its task, its check, its bounds, and that the check
//     runs outside the agent's permissions and sandbox.
//   - A loop has one card, also after a restart. It is edited in place, and never posted again
//     because the loop has moved.
//   - A message below the card reports an end, and a pause that no person has asked for. It may
//     sound, but not in quiet hours.
//
// It decides nothing about a loop: package loop does.
package loops
