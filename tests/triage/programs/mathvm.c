/* Five bugs of programs for a virtual machine, two of them in one function's callers. */
#include "mathvm.h"

#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bug: a division by what a subtraction left. */
static int ratio(unsigned seed) {
  uint8_t code[] = {0, (uint8_t)(seed % 100), 0, 5, 0, 251, 1, 3, 5, 0xff};
  struct vm vm = {.code = code};
  run(&vm);
  return operations;
}

/* Bug: one value too few. */
static int reverse_polish(unsigned seed) {
  uint8_t code[] = {0, (uint8_t)(seed % 100), 0, 3, 2, 1, 5, 0xff};
  struct vm vm = {.code = code, .trace = 0};
  run(&vm);
  puts("polish");
  return operations;
}

/* Bug: a program that reads its heap before it has one. */
static int reading(unsigned seed) {
  uint8_t code[] = {0, (uint8_t)(seed % 32), 4, 5, 0xff};
  struct vm vm = {.code = code};
  run(&vm);
  return operations;
}

/* Bug: a value below the one that was kept. */
static long polynomial(struct vm *vm, const long *factors, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) sum = sum * 7 + factors[i];
  push(vm, sum);
  pop(vm);
  return pop(vm);
}

static int polynomials(unsigned seed) {
  struct vm vm = {.sp = 0};
  long factors[] = {1, 2, 3, seed};
  printf("polynomial %ld\n", polynomial(&vm, factors, 4));
  return 0;
}

/* Bug: terms in terms in terms. */
static long evaluate(const char *text, int depth) {
  volatile long kept[40];
  kept[depth % 40] = depth;
  if (*text == '(') return evaluate(text, depth + 1) * 3 + kept[depth % 40];
  return *text - '0' + kept[0];
}

static int expressions(unsigned seed) {
  char *text = malloc(32);
  memset(text, '(', 31);
  text[31] = 0;
  return (int)evaluate(text + seed % 16, 0);
}

const Job jobs[] = {ratio, reverse_polish, reading, polynomials, expressions};
const unsigned job_count = sizeof jobs / sizeof *jobs;
