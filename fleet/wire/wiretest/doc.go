// Package wiretest reads the interfaces of the port from their sources. It writes the calls of
// package wire and package router, and its tests compare them with the sources. It also fills a value of
// any type of the port for a test.
package wiretest
