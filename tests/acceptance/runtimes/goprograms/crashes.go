// Crashes in the way that the first argument says. Functions that are not inlined say so; the
// others are left to the compiler, so that inlined calls stand on the stacks too.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

type node struct {
	next  *node
	value int
}

//go:noinline
func inner(n *node) int { return n.next.value }

func small(n *node) int { return inner(n) + 1 }

//go:noinline
func middle(n *node, left int) int {
	if left > 0 {
		return middle(n, left-1) + 1
	}
	return small(n)
}

type shape interface{ area(left int) int }
type square struct{ n *node }

//go:noinline
func (s square) area(left int) int { return middle(s.n, left) + 1 }

//go:noinline
func measure(s shape) int { return s.area(2) + 1 }

//go:noinline
func panics(left int) int {
	if left == 0 {
		panic("asked for")
	}
	return panics(left-1) + 1
}

//go:noinline
func grow(depth int, pad [64]int) int {
	pad[depth%64] = depth
	return grow(depth+1, pad) + pad[0]
}

//go:noinline
func call(function func(int) int) int { return function(3) + 1 }

func wait(channel chan int, done *sync.WaitGroup) {
	defer done.Done()
	<-channel
}

func blocked() {
	var done sync.WaitGroup
	channel := make(chan int)
	for i := 0; i < 50; i++ {
		done.Add(1)
		go wait(channel, &done)
	}
	for i := 0; i < 3; i++ {
		go func() {
			runtime.LockOSThread()
			for {
				time.Sleep(time.Millisecond)
			}
		}()
	}
	println("ready")
	done.Wait()
}

func races() {
	counts := map[int]int{}
	for i := 0; i < 4; i++ {
		go func() {
			for k := 0; ; k++ {
				counts[k%16] = k
			}
		}()
	}
	time.Sleep(time.Hour)
}

//go:noinline
func spin(n int) int {
	for i := 0; i >= 0; i++ {
		n ^= i
	}
	return n
}

func main() {
	switch os.Args[1] {
	case "nil":
		println(measure(square{&node{}}))
	case "panic":
		println(panics(3))
	case "goroutine":
		go func() { println(panics(3)) }()
		time.Sleep(time.Hour)
	case "deferred":
		defer func() { println(middle(&node{}, 1)) }()
		panics(1)
	case "overflow":
		debug.SetMaxStack(1 << 16)
		println(grow(0, [64]int{}))
	case "nilfunc":
		var function func(int) int
		if len(os.Args) > 5 {
			function = panics
		}
		println(call(function))
	case "map":
		races()
	case "blocked":
		blocked()
	case "spin":
		println("ready")
		println(spin(len(os.Args)))
	}
}
