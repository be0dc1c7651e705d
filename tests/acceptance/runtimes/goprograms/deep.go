// Goroutines wait at the bottom of a recursion, and another one falls from a deeper one.
package main

import (
	"sync"
)

//go:noinline
func down(left int, ready *sync.WaitGroup, hold chan int) int {
	if left == 0 {
		ready.Done()
		return <-hold
	}
	return down(left-1, ready, hold) + 1
}

//go:noinline
func fall(left int, nowhere *int) int {
	if left == 0 {
		return *nowhere
	}
	return fall(left-1, nowhere) + 1
}

func main() {
	var ready sync.WaitGroup
	hold := make(chan int)
	for i := 0; i < 4; i++ {
		ready.Add(1)
		go down(5000, &ready, hold)
	}
	ready.Wait()
	println(fall(10000, nil))
}
