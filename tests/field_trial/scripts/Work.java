import java.util.*;
import java.util.stream.*;

public class Work {
  static int leaf(int n) {
    Map<String, Integer> seen = new HashMap<>();
    for (int i = 0; i < 60; i++) seen.merge(String.format("%d-%s", i % 7, n), i, Integer::sum);
    return seen.values().stream().sorted(Comparator.reverseOrder()).mapToInt(x -> x).sum();
  }

  static int down(int n) {
    if (n == 0) return leaf(7);
    if (n % 2 == 0) return Stream.of(n).map(x -> down(x - 1) + 1).collect(Collectors.toList()).get(0);
    int[] found = {-1};
    List<Integer> list = new ArrayList<>(List.of(3, 1, 2));
    list.sort((a, b) -> {
      if (found[0] < 0) found[0] = down(n - 1);
      return a - b;
    });
    return found[0] + 1;
  }

  static void forever(int depth) {
    for (;;) down(depth);
  }

  public static void main(String[] words) {
    for (int i = 0; i < 2; i++) new Thread(() -> forever(20)).start();
    forever(60);
  }
}
