// Package procstat reads /proc/PID/stat of Linux (proc_pid_stat(5)) and names the clock of the
// start times in it: the process table and the hook read both alike. It uses the standard library
// only, and Parse allocates nothing but the name: there is one such file for each process.
package procstat
