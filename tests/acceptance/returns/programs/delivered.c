/* A thread that waits in the kernel is given something else to do first: below that lies the
 * address behind `syscall` where it will go on, which no call precedes; the function there has a
 * call as well, that may go anywhere. As Wine delivers an APC. */
#include "disturb.h"

int wait_here(int n);
void (*volatile elsewhere)(void);
volatile char by_call;
int* volatile null;
NOINLINE void crash(void) { *null = 1; }
NOINLINE void work(int n) {
  if (n)
    work(n - 1);
  else
    crash();
  __asm__ volatile("");
}
void dispatch(void) {
  work(2);
  __asm__ volatile("");
}
#if defined __x86_64__
#define GIVEN                                                    \
  "lea 2f(%rip),%r11\npush %r11\n.cfi_adjust_cfa_offset 8\njmp " \
  "dispatcher\n.cfi_adjust_cfa_offset -8\n"
#define ENTER "syscall\n"
#define SP "%rsp"
#define BP "%rbp"
#define WORD "8"
#define AT(NAME) #NAME "(%rip)"
#else
#define GIVEN "push $2f\n.cfi_adjust_cfa_offset 4\njmp dispatcher\n.cfi_adjust_cfa_offset -4\n"
#define ENTER "int $0x80\n"
#define SP "%esp"
#define BP "%ebp"
#define WORD "4"
#define AT(NAME) #NAME
#endif
__asm__(".text\n.p2align 8\n.globl wait_here\n.type wait_here,@function\nwait_here:\n.cfi_startproc\n"
        "testb $1," AT(by_call) "\njne 1f\n" GIVEN ENTER "2: ret\n1: call *" AT(elsewhere) "\nret\n"
        ".cfi_endproc\n.size wait_here,.-wait_here\n"
        ".type dispatcher,@function\ndispatcher:\n.cfi_startproc\npush " BP "\n.cfi_adjust_cfa_offset " WORD "\n.cfi_rel_offset " BP ",0\n"
        "mov " SP "," BP "\n.cfi_def_cfa_register " BP "\nand $-16," SP "\ncall dispatch\nint3\n.cfi_endproc\n.size dispatcher,.-dispatcher\n");
NOINLINE int waits(int n) {
  volatile char room[40];
  room[n & 31] = 1;
  return wait_here(n) + room[n & 31];
}
NOINLINE int above(int n) { return waits(n) + 1; }
int main(int count, char** words) { return above(count) + 1; }
