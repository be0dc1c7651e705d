// Go calls C calls Go calls C, and one of them crashes in the way that the first argument says.
package main

/*
#cgo CFLAGS: -O1
#include <stdlib.h>
extern int goBack(int);
static int __attribute__((noinline)) deep(int left) {
  if (left == 0) { volatile int *nowhere = 0; return *nowhere; }
  return deep(left - 1) + 1;
}
static int __attribute__((noinline)) back(int left) { return goBack(left) + 1; }
static int __attribute__((noinline)) give_up(int left) {
  if (left == 0) abort();
  return give_up(left - 1) + 1;
}
*/
import "C"
import "os"

//export goBack
func goBack(left C.int) C.int {
	if left > 0 {
		return nested(left - 1)
	}
	switch os.Args[1] {
	case "panic":
		panic("in a callback")
	case "abort":
		return C.give_up(2)
	}
	return C.deep(3)
}

//go:noinline
func nested(left C.int) C.int { return C.back(left) + 1 }

//go:noinline
func top(left C.int) int { return int(nested(left)) }

func main() {
	if os.Args[1] == "plain" {
		println(C.deep(3))
	}
	println(top(2))
}
