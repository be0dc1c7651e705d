-- Inside redis: commands from Lua, recursion through pcall and sort. It never ends.
local function down(n)
  if n == 0 then
    for i = 1, 200 do redis.call('RPUSH', 'list', tostring((i * 7919) % 1000)) end
    for _ = 1, 20 do redis.call('SORT', 'list') cjson.encode(redis.call('LRANGE', 'list', 0, -1)) end
    redis.call('DEL', 'list')
    return 0
  end
  local ok, below = pcall(down, n - 1)
  table.sort({3, 1, 2}, function(a, b) return a < b end)
  return below + 1
end
while true do down(40) end
