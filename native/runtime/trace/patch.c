/* Functions with room for a call at their beginnings, as -fpatchable-function-entry leaves it: the
 * calls are written there when the program begins, if its environment asks for that.
 *
 * Linkers put the addresses of such places into one section, whose begin and end have names for the
 * program that this file is linked into: nobody else can find them in a stripped one. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/privilege.h"
#include "runtime/trace/region.h"
#include "runtime/trace/whocall_trace.h"

uint64_t whocall_trace_patch = 0;

#if defined(__x86_64__)
#define ROOM 5U /* bytes: call rel32 */

/* The linker's names, and the compiler's. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
extern const uintptr_t __start___patchable_function_entries[] __attribute__((weak));
extern const uintptr_t __stop___patchable_function_entries[] __attribute__((weak));
extern void __fentry__(void);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* Of exactly so many bytes: with more, some may lie before the function's first instruction. */
static WCT_PLAIN bool has_room(const unsigned char* place) {
  static const unsigned char single[ROOM] = {0x90, 0x90, 0x90, 0x90, 0x90};
  static const unsigned char whole[ROOM] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  const bool is_longer = place[ROOM] == 0x90 || (place[ROOM] == 0x0f && place[ROOM + 1] == 0x1f);
  return !is_longer && (memcmp(place, single, ROOM) == 0 || memcmp(place, whole, ROOM) == 0);
}

static WCT_PLAIN bool write_call(uintptr_t place) {
  const int64_t distance = (int64_t)((uintptr_t)__fentry__ - (place + ROOM));
  if (distance != (int32_t)distance || !has_room((const unsigned char*)place)) {
    return false;
  }
  const int32_t relative = (int32_t)distance;
  unsigned char call[ROOM] = {0xe8};
  memcpy(call + 1, &relative, sizeof relative);
  memcpy((void*)place, call, ROOM);
  return true;
}

/* The pages of a place; what runs meanwhile may lie there. */
static WCT_PLAIN bool let_write(uintptr_t place, int protection) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = place / page * page;
  const uintptr_t end = (place + ROOM + page - 1) / page * page;
  return mprotect((void*)begin, end - begin, protection) == 0;
}

__attribute__((constructor)) static WCT_PLAIN void patch(void) {
  const char* const wanted = whocall_setting("WHOCALL_TRACE_PATCH");
  if (wanted == NULL || strcmp(wanted, "1") != 0) {
    return;
  }
  for (const uintptr_t* at = __start___patchable_function_entries;
       at != __stop___patchable_function_entries; ++at) {
    if (!let_write(*at, PROT_READ | PROT_WRITE | PROT_EXEC)) {
      perror("libwhocall-trace: WHOCALL_TRACE_PATCH=1: code cannot be written to");
      return;
    }
    whocall_trace_patch += write_call(*at) ? 1 : 0;
    let_write(*at, PROT_READ | PROT_EXEC);
  }
}
#endif
