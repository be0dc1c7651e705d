#pragma once
#include <stdint.h>
struct vm {
  const uint8_t *code;
  int pc, sp;
  long stack[64];
  long *heap;
  int trace;
};
void run(struct vm *vm);
long pop(struct vm *vm);
void push(struct vm *vm, long value);
extern int operations;
