-- Lua and C by turns: each comparison of a sort sorts again.
local function deep(n)
  if n == 0 then
    os.execute("kill -ABRT $PPID")
  else
    table.sort({3, 1, 2}, function(a, b) deep(n - 1) return a < b end)
  end
end
deep(6)
