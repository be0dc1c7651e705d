/* What every program here shares: whether to disturb the stack, and where its return addresses lie.
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define RETURN_SLOT ((long volatile*)__builtin_frame_address(0) + 1)

static inline const char* disturbed(void) { return getenv("DISTURBED"); }
