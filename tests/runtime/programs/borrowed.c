/* A function of the code around it uses the frame pointer as a register like others: on a way that
 * is not gone, so that what stands in it is its caller's. It asks who called it. */
#include <stdio.h>
#include <whocall.h>

int borrower(whocall_frame* asked, int way);

#if defined(__x86_64__)
__asm__(".text\n.type borrower,@function\nborrower: push %rbx\n push %rbp\n sub $24,%rsp\n"
        "test %esi,%esi\n je 1f\n mov %rsp,%rbp\n movl $0,(%rbp)\n"
        "1: call who_call_me\n add $24,%rsp\n pop %rbp\n pop %rbx\n ret\n"
        ".size borrower,.-borrower\n");
#elif defined(__i386__)
__asm__(".text\n.type borrower,@function\nborrower: push %ebx\n push %ebp\n sub $20,%esp\n"
        "mov 32(%esp),%eax\n cmpl $0,36(%esp)\n je 1f\n mov %esp,%ebp\n movl $0,(%ebp)\n"
        "1: mov %eax,(%esp)\n call who_call_me\n add $20,%esp\n pop %ebp\n pop %ebx\n ret\n"
        ".size borrower,.-borrower\n");
#elif defined(__aarch64__)
__asm__(".text\n.type borrower,%function\nborrower: stp x29,x30,[sp,#-96]!\n"
        "cbz w1,1f\n add x29,sp,#64\n str x0,[x29]\n"
        "1: bl who_call_me\n ldp x29,x30,[sp],#96\n ret\n.size borrower,.-borrower\n");
#elif defined(__arm__)
__asm__(".text\n.arm\n.type borrower,%function\nborrower: push {r4-r9,r10,fp,lr}\n sub sp,sp,#52\n"
        "cmp r1,#0\n beq 1f\n add fp,sp,#16\n str r0,[fp]\n"
        "1: bl who_call_me\n add sp,sp,#52\n pop {r4-r9,r10,fp,pc}\n.size borrower,.-borrower\n");
#elif defined(__riscv)
__asm__(".text\n.type borrower,@function\nborrower: addi sp,sp,-64\n sd ra,56(sp)\n sd s0,48(sp)\n"
        "beqz a1,1f\n addi s0,sp,16\n sd a0,0(s0)\n"
        "1: call who_call_me\n ld ra,56(sp)\n ld s0,48(sp)\n addi sp,sp,64\n ret\n"
        ".size borrower,.-borrower\n");
#else
__attribute__((noinline)) int borrower(whocall_frame* asked, int way) {
  return way != 0 ? way : who_call_me(asked);
}
#endif

__attribute__((noinline)) int middle(whocall_frame* asked, int way) {
  int told = borrower(asked, way);
  __asm__ volatile("" : "+r"(told));
  return told;
}

__attribute__((noinline)) int outer(whocall_frame* asked, int way) {
  int told = middle(asked, way);
  __asm__ volatile("" : "+r"(told));
  return told;
}

int main(void) {
  whocall_frame asked;
  const int told = outer(&asked, 0);
  printf("%d %s\n", told, told == 0 && asked.function != NULL ? asked.function : "?");
  return 0;
}
