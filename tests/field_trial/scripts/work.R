leaf <- function(n) nchar(gsub("[0-9]", "x", paste(sort(runif(60)), collapse = " "))) + sum(solve(matrix(runif(900), 30)))
down <- function(n) {
  if (n == 0) return(leaf(7))
  if (n %% 2) return(sapply(n, function(x) down(x - 1) + 1))
  Reduce(function(a, b) down(n - 1) + 1, list(1, 2))
}
repeat tryCatch(down(24), error = function(e) NULL)
