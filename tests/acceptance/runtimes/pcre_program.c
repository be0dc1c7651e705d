/* Matches PATTERN against SUBJECT by code that PCRE2 compiles at run time, and dies in the callout
 * number COUNT that the pattern makes. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

static int left;

static int __attribute__((noinline)) callout(pcre2_callout_block* block, void* data) {
  if (--left == 0) {
    *(volatile int*)8 = 1;
  }
  return 0;
}

static int __attribute__((noinline)) match(pcre2_code* code, pcre2_match_context* context) {
  const char* subject = getenv("SUBJECT");
  pcre2_match_data* data = pcre2_match_data_create_from_pattern(code, NULL);
  return pcre2_match(code, (PCRE2_SPTR)subject, strlen(subject), 0, 0, data, context) + 1;
}

int main(void) {
  int error;
  size_t place;
  left = atoi(getenv("COUNT"));
  pcre2_code* code =
      pcre2_compile((PCRE2_SPTR)getenv("PATTERN"), PCRE2_ZERO_TERMINATED, 0, &error, &place, NULL);
  pcre2_match_context* context = pcre2_match_context_create(NULL);
  pcre2_set_callout(context, callout, NULL);
  return pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0 ? match(code, context) : 3;
}
