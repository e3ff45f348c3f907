// Package service makes ccbot a service of its user: a unit of systemd, an agent of launchd.
//
// The texts are pure functions of where things lie, and carry a checksum of themselves. It promises
// that a file which a person has changed is neither overwritten nor removed unless that is forced,
// that no secret stands in the text, and that installing again changes nothing. It asks the service
// manager through a function that its caller gives. It decides nothing about ccbot's settings, and
// speaks no notify protocol: that is package servicemanager.
package service
