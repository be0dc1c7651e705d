function leaf(n,    i, text, all) {
  for (i = 0; i < 60; i++) { text = text " " (i * 7919 % 101); all[i] = text }
  asort(all)
  return length(gensub(/([0-9]+)/, "<\\1>", "g", text)) + length(all)
}
function compare(i, a, j, b) { if (!found[level]) { found[level] = 1; down(level) } return a < b ? -1 : a > b }
function down(n,    list) {
  if (n == 0) return leaf(7)
  list[1] = 3; list[2] = 1; level = n - 1; found[level] = 0
  asort(list, list, "compare")
  return n
}
BEGIN { for (;;) down(20) }
