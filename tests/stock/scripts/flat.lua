-- Calls C functions from one run of the interpreter, for ever.
local words = {}
while true do
  for i = 1, 50 do words[i] = string.format("%d %s", i, tostring(i)) end
  table.sort(words)
  string.rep(table.concat(words, ","), 100)
end
