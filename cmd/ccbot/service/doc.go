// Package service makes ccbot a service of its user: a unit of systemd, an agent of launchd.
//
// The texts are pure functions of paths, and carry a checksum of themselves. It promises that a
// file which a person has changed is neither overwritten nor removed unless that is forced, that no
// secret is in the text, and that installing again changes nothing. It calls the service manager
// through a function of its caller. It decides nothing about ccbot's settings, and implements no
// notify protocol: that is package servicemanager.
package service
