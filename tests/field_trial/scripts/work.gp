down(n) = if (n == 0, factor(nextprime(random(10^18)) * nextprime(random(10^17))); 1, vecsum(apply(x -> down(x - 1) + 1, [n])));
while (1, down(40); ellap(ellinit([random(100) + 1, 7]), nextprime(10^11)));
