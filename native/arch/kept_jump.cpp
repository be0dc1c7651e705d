#include "arch/kept_jump.h"

#include "arch/i386.h"
#include "arch/x86_64.h"

namespace whocall {
namespace {

// pointer_guard of tcbhead_t; JB_RSP and JB_PC of jmp_buf; struct pthread_unwind_buf
constexpr KeptJump kKept64 = {.key_offset = 0x30,
                              .rotated = 17,
                              .sp_offset = 48,
                              .pc_offset = 56,
                              .size = 104,
                              .alignment = 16};
constexpr KeptJump kKept32 = {
    .key_offset = 0x18, .rotated = 9, .sp_offset = 16, .pc_offset = 20, .size = 44, .alignment = 4};

}  // namespace

const KeptJump* kept_jump(const Architecture& arch) {
  return &arch == &kX86_64 ? &kKept64 : &arch == &kI386 ? &kKept32 : nullptr;
}

}  // namespace whocall
