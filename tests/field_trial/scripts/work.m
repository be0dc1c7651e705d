1;
function r = leaf(n)
  a = rand(40) + n; r = sum(svd(a)) + length(regexprep(num2str(rand(1, 20)), '\d', 'x'));
end
function r = down(n)
  if n == 0
    r = leaf(7);
  elseif mod(n, 2)
    r = cellfun(@(x) down(x - 1) + 1, {n});
  else
    r = arrayfun(@(x) down(x - 1) + 1, n);
  end
end
while true, down(20); end
