// Package uninstall removes ccbot from a machine, one confirmed step after the other.
//
// It promises:
//   - While an agent of a session lives, or its end is not proven, the hooks and the state folder
//     stay.
//   - No step is taken without a person's yes, and each step is planned on what is there at that
//     moment. So a second run continues after a kill at any moment.
//   - Only what ccbot has made is removed. Everything else that is found is named, and stays.
//   - A ccbot with another state folder keeps its bot, its service, its hooks and its windows.
//
// It ends no process itself: package lifecycle ends agents, and the bot ends itself.
package uninstall
