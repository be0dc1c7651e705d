"""Writes the input that a program of the trial works on: `hard.py KIND`."""

from __future__ import annotations

import random
import sys

chance = random.Random(1)


def dot() -> None:
    """A graph."""
    print("digraph g {")
    for _ in range(900):
        print(f"n{chance.randrange(400)} -> n{chance.randrange(400)};")
    print("}")


def journal() -> None:
    """Bookings."""
    for n in range(40000):
        print(f"2020-{n % 12 + 1:02}-{n % 28 + 1:02} shop {n % 97}")
        print(f"    expenses:a{n % 13}:b{n % 7}  {n % 1000}.{n % 100:02} EUR")
        print("    assets:cash\n")


def smt() -> None:
    """Pigeons, and a sum of cubes."""
    n = 9
    for p in range(n + 1):
        for h in range(n):
            print(f"(declare-const p{p}_{h} Bool)")
        print("(assert (or " + " ".join(f"p{p}_{h}" for h in range(n)) + "))")
    for h in range(n):
        for p in range(n + 1):
            for q in range(p):
                print(f"(assert (not (and p{p}_{h} p{q}_{h})))")
    print("(declare-const x Int)(declare-const y Int)")
    print("(assert (= (+ (* x x x) (* y y y)) 1000003))")
    print("(check-sat)")


def verilog() -> None:
    """Multipliers."""
    print("module work(input clk, input [31:0] a, b, output reg [63:0] r);")
    for n in range(60):
        print(f"reg [63:0] r{n}; always @(posedge clk)")
        print(f"  r{n} <= (a + {n}) * (b ^ {n * 77}) + (a >> b[4:0]);")
    print("always @(posedge clk) r <= " + " ^ ".join(f"r{n}" for n in range(60)) + ";\nendmodule")


def ninja() -> None:
    """Edges of a build."""
    print("rule cc\n  command = true $in $out")
    for n in range(400000):
        print(f"build out/{n % 100}/{n}.o: cc src/{n % 77}/{n}.c | dep{n % 1000}")


def markdown() -> None:
    """Heads, links, lists and tables."""
    for n in range(6000):
        print(f"# Head {n}\n\nSome *text* with [links](http://x/{n}) and `code`.\n")
        print(f"- a\n- b\n\n| a | b |\n|---|---|\n| 1 | {n} |\n")


def lines() -> None:
    """Lines that differ."""
    for n in range(60000):
        print(f"line {n} {chance.random()}")


def shell() -> None:
    """Functions of bash, with something to find fault with."""
    print("#!/bin/bash")
    for n in range(1500):
        print(f"f{n}() {{ for x in $(ls *.txt); do echo $x | sed 's/a/b/' > out; done;")
        print("  case $1 in a|b) b=`date`;; esac; printf '%s' \"$b\"; }")


globals()[sys.argv[1]]()
