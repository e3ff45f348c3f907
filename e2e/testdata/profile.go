// TestBench overlays this file on cmd/ccbot, so that no released program has this endpoint.
package main

import (
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
)

// init has SIGUSR1 begin profiles of the processor and of allocations, and SIGUSR2 end them.
func init() {
	name := os.Getenv("CCBOT_BENCH_PROFILE")
	if name == "" {
		return
	}
	begin, end := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(begin, syscall.SIGUSR1)
	signal.Notify(end, syscall.SIGUSR2)
	go func() {
		<-begin
		allocations(name + ".before.pprof")
		cpu := create(name + ".cpu.pprof")
		must(pprof.StartCPUProfile(cpu))
		<-end
		pprof.StopCPUProfile()
		must(cpu.Close())
		allocations(name + ".after.pprof")
	}()
}

func allocations(name string) {
	f := create(name)
	must(pprof.Lookup("allocs").WriteTo(f, 0))
	must(f.Close())
}

func create(name string) *os.File {
	f, err := os.Create(name)
	must(err)
	return f
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
