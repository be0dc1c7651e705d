proc leaf {n} {
  set all {}
  for {set i 0} {$i < 60} {incr i} { lappend all [format %d-%s [expr {$i * 7919 % 101}] $n] }
  return [string length [regsub -all {\d+} [lsort $all] x]]
}
proc down {n} {
  if {$n == 0} { return [leaf 7] }
  if {$n % 2} { return [eval [list down [expr {$n - 1}]]] }
  set found ""
  lsort -command [list apply {{n a b} {
    upvar found found
    if {$found eq ""} { set found [down [expr {$n - 1}]] }
    return [string compare $a $b] }} $n] {3 1 2}
  return $found
}
while 1 { down 30 }
