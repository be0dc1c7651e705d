import std.algorithm, std.array, std.conv, std.format, std.regex, std.range;

int leaf(int n) {
    auto text = iota(n, n + 60).map!(x => to!string(x * 7919)).join(" ");
    int[string] table;
    foreach (word; text.split) table[word] = cast(int) word.length;
    return cast(int)(replaceAll!(m => m.hit ~ "x")(text, regex(`\d+`)).length + table.length + format("%s", table).length);
}

int down(int n) {
    if (n == 0) return leaf(7);
    int found = -1;
    auto list = [3, 1, 2];
    list.sort!((a, b) { if (found < 0) found = down(n - 1); return a < b; });
    return found + 1;
}

void main() { for (;;) down(50); }
