function! Leaf(n)
  let l:words = map(range(60), 'v:val * 7919 % 101 . "x"')
  call sort(l:words, {a, b -> a > b ? 1 : -1})
  return len(substitute(join(l:words, ' '), '\(\d\+\)x', '\=submatch(1) * 2', 'g'))
endfunction
function! Down(n)
  if a:n == 0
    return Leaf(3)
  endif
  let l:made = map([a:n], {i, v -> Down(v - 1)})
  return l:made[0] + 1
endfunction
while 1
  call Down(30)
endwhile
