<?php
function leaf($n) {
  $text = json_encode(range(1, 60));
  return strlen(preg_replace_callback('/\d+/', fn($m) => $m[0] * 2, $text)) + count(json_decode($text));
}
function down($n) {
  if ($n == 0) return leaf(3);
  $found = null;
  if ($n % 2) return array_map(fn($x) => down($x - 1) + 1, [$n])[0];
  $list = [3, 1, 2];
  usort($list, function ($a, $b) use (&$found, $n) {
    $found ??= down($n - 1);
    return $a <=> $b;
  });
  return $found + 1;
}
for (;;) down(40);
