// Package modes shows the permission mode and the model of a session's agent, with buttons that
// switch them.
//
// It guarantees:
//   - The page shows what was read from the terminal, or marks it as still to come.
//   - Modes without questions (auto, bypass) cannot be switched on.
//   - A person who has to wait for the end of a turn is notified of the switch.
//   - A failure is always a separate message.
//   - The buttons work for the person who asked for the page.
//
// It presses nothing: lifecycle carries out a person's request.
package modes
