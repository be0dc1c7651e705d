# A command that a sort calls, and which calls itself.
proc deep n {
  if {$n} {
    return [expr {1 + [deep [expr {$n - 1}]]}]
  }
  exec sh -c {kill -ABRT $PPID}
}
lsort -command {apply {{a b} {deep 4; return 0}}} {3 1 2}
