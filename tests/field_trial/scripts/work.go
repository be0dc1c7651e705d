package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
)

var digits = regexp.MustCompile(`\d+`)

func leaf(n int) int {
	made, _ := json.Marshal(map[string]any{"a": n, "b": []int{1, 2, n}, "c": fmt.Sprint(n)})
	var back map[string]any
	_ = json.Unmarshal(made, &back)
	return len(digits.ReplaceAllStringFunc(string(made), func(s string) string { return s + s })) + len(back)
}

type numbers []int

var depth int

//go:noinline
func down(n int) int {
	if n == 0 {
		return leaf(7)
	}
	found := -1
	list := []int{3, 1, 2}
	sort.Slice(list, func(a, b int) bool {
		if found < 0 {
			found = down(n - 1)
		}
		return list[a] < list[b]
	})
	return found + 1
}

func main() {
	for i := 0; i < 3; i++ {
		go func() {
			for {
				down(20)
			}
		}()
	}
	for {
		down(50)
	}
}
