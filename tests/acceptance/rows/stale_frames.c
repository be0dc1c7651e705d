/* A recursion through the C library's qsort that dies. SHIFTED: as many bytes stand before all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SHIFTED
#define TEXT(bytes) #bytes
#define SKIP(bytes) __asm__(".text\n.skip " TEXT(bytes) ", 0x90")
SKIP(SHIFTED);
#endif
#define OUT_OF_LINE __attribute__((noinline))

static int compared;

OUT_OF_LINE static void die(int number) {
  if (number > 3) {
    *(volatile int*)8 = 1;
  }
  printf("%d\n", number);
}

OUT_OF_LINE static int compare(const void* one, const void* other) {
  if (++compared == 20) {
    die(compared);
  }
  return *(const int*)one - *(const int*)other;
}

OUT_OF_LINE static int sorted(int* numbers, int count) {
  int sum = 0;
  qsort(numbers, count, sizeof *numbers, compare);
  for (int i = 0; i < count; ++i) {
    sum += numbers[i];
  }
  return sum;
}

OUT_OF_LINE static int deep(int left, const char* text) {
  char room[64];
  snprintf(room, sizeof room, "%d%s", left, text);
  if (left == 0) {
    int numbers[32];
    for (int i = 0; i < 32; ++i) {
      numbers[i] = i * 7919 % 31;
    }
    return sorted(numbers, 32);
  }
  return deep(left - 1, room) + (int)strlen(room);
}

OUT_OF_LINE static int odd(int number) {
  if ((number & 1) == 0) {
    abort();
  }
  return deep(number, "x") + 1;
}

int main(int count, char** words) { return odd(count * 2 + 3); }
