// Every level goes through C, by forEach or a comparison of sort. It never comes back.
function leaf(n) {
  var made = JSON.stringify({ a: n, b: [1, 2, "x" + n], c: { d: null } });
  made = JSON.stringify(JSON.parse(made));
  return made.replace(/(\d+)/g, function (digits) { return digits + 1; }).length;
}

function fib(n) {
  if (n < 2) { leaf(n); return n; }
  return fib(n - 1) + fib(n - 2);
}

function down(n) {
  var below, done = false;
  while (n === 0) fib(12);  // for ever, down here
  if (n % 2) {
    [1].forEach(function () { below = down(n - 1); });
  } else {
    [3, 1, 2].sort(function (a, b) {
      if (!done) { done = true; below = down(n - 1); }
      return a - b;
    });
  }
  return below + 1;
}

down(12);
