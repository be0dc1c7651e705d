import std/[algorithm, json, sequtils, strutils, tables]

proc leaf(n: int): int =
  let made = %*{"a": n, "b": toSeq(1..60), "c": "x"}
  var seen = initTable[string, int]()
  for word in ($made).split(','): seen[word] = word.len
  result = parseJson($made).len + seen.len

proc down(n: int): int =
  if n == 0: return leaf(7)
  var found = -1
  var list = @[3, 1, 2]
  list.sort(proc (a, b: int): int =
    if found < 0: found = down(n - 1)
    cmp(a, b))
  result = found + 1

while true: discard down(60)
