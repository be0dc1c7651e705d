/* The loop of a small virtual machine, with a table of operations. */
#include "mathvm.h"

#include <stdio.h>
#include <stdlib.h>

int operations;

long pop(struct vm *vm) {
  if (vm->sp == 0) {
    fprintf(stderr, "stack underflow at %d\n", vm->pc);
    abort();
  }
  return vm->stack[--vm->sp];
}

void push(struct vm *vm, long value) { vm->stack[vm->sp++] = value; }

static void op_literal(struct vm *vm) { push(vm, (int8_t)vm->code[vm->pc++]); }
static void op_add(struct vm *vm) { long b = pop(vm); push(vm, pop(vm) + b); }
static void op_multiply(struct vm *vm) { long b = pop(vm); push(vm, pop(vm) * b); }
/* Bug: a divisor is not looked at. */
static void op_divide(struct vm *vm) { long b = pop(vm); push(vm, pop(vm) / b); }
/* Bug: an address on a heap that is not there. */
static void op_load(struct vm *vm) { push(vm, vm->heap[pop(vm)]); }
static void op_print(struct vm *vm) { printf("%ld\n", pop(vm)); }

typedef void (*Operation)(struct vm *);
static Operation const table[] = {op_literal, op_add, op_multiply, op_divide, op_load, op_print};

void run(struct vm *vm) {
  for (;;) {
    uint8_t op = vm->code[vm->pc++];
    if (op == 0xff) return;
    if (vm->trace) fprintf(stderr, "%4d: op %d\n", vm->pc, op);
    operations++;
    table[op](vm);
  }
}
