# A function that calls itself.
function deep(n) { return n ? deep(n - 1) + 1 : system("kill -ABRT $PPID") }
BEGIN { deep(9) }
