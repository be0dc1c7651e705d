set terminal svg
set output '/dev/null'
f(n, x) = n < 1 ? sin(x) : f(n - 1, x * 0.9) + cos(n * x)
set samples 200
set isosamples 60
do for [i = 1:100000] {
  splot f(60, x * y) with pm3d title sprintf("%d", i)
}
