-- Every level goes through C by a way of its own: a comparison of sort, a replacement of gsub,
-- pcall. It never ends.
local function leaf(n)
  local sum = 0
  for i = 1, 50 do sum = sum + i * n end
  return #string.format("%d %s", sum, tostring(n))
end

local function fib(n)
  if n < 2 then leaf(n) return n end
  return fib(n - 1) + fib(n - 2)
end

local function down(n)
  if n == 0 then return fib(20) end
  local below
  if n % 3 == 0 then
    table.sort({5, 3, 8, 1, 9, 2, 7}, function(a, b)
      if not below then below = down(n - 1) end
      return a < b
    end)
  elseif n % 3 == 1 then
    string.gsub("a", "a", function() below = down(n - 1) end)
  else
    local _, result = pcall(down, n - 1)
    below = result
  end
  return 1 + below
end

while true do down(tonumber(arg[1])) end
