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

static WCT_PLAIN bool has_room(const unsigned char* place) {
  static const unsigned char single[ROOM] = {0x90, 0x90, 0x90, 0x90, 0x90};
  static const unsigned char whole[ROOM] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  return memcmp(place, single, ROOM) == 0 || memcmp(place, whole, ROOM) == 0;
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

/* From the first place to the last one; what runs meanwhile may lie between. */
static WCT_PLAIN int let_write(uintptr_t first, uintptr_t last, int protection) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t begin = first / page * page;
  const uintptr_t end = (last + ROOM + page - 1) / page * page;
  return mprotect((void*)begin, end - begin, protection);
}

__attribute__((constructor)) static WCT_PLAIN void patch(void) {
  const uintptr_t* const begin = __start___patchable_function_entries;
  const uintptr_t* const end = __stop___patchable_function_entries;
  const char* const wanted = whocall_setting("WHOCALL_TRACE_PATCH");
  if (wanted == NULL || strcmp(wanted, "1") != 0 || begin == end) {
    return;
  }
  uintptr_t first = UINTPTR_MAX;
  uintptr_t last = 0;
  for (const uintptr_t* at = begin; at != end; ++at) {
    first = *at < first ? *at : first;
    last = *at > last ? *at : last;
  }
  if (let_write(first, last, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    perror("libwhocall-trace: WHOCALL_TRACE_PATCH=1: code cannot be written to");
    return;
  }
  for (const uintptr_t* at = begin; at != end; ++at) {
    whocall_trace_patch += write_call(*at) ? 1 : 0;
  }
  let_write(first, last, PROT_READ | PROT_EXEC);
}
#endif
