using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public static class Work {
  static int Leaf(int n) {
    var text = string.Join(" ", Enumerable.Range(n, 60).Select(x => (x * 7919).ToString()));
    return Regex.Replace(text, @"\d+", m => m.Value + "x").Length;
  }

  static int Down(int n) {
    if (n == 0) return Leaf(7);
    if (n % 2 == 0) return new[] { n }.Select(x => Down(x - 1) + 1).ToList()[0];
    int found = -1;
    var list = new List<int> { 3, 1, 2 };
    list.Sort((a, b) => {
      if (found < 0) found = Down(n - 1);
      return a - b;
    });
    return found + 1;
  }

  public static void Main() {
    var other = new System.Threading.Thread(() => { for (;;) Down(20); });
    other.Start();
    for (;;) Down(60);
  }
}
