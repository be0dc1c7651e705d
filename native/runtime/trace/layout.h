/* What a traced program keeps in memory, for its hooks and for those who read it out of a core.
 *
 * Each thread has a region of whole pages: a header, a shadow stack, a ring of events. Fields have
 * fixed widths and the byte order of the machine; offsets are in bytes from the region's start.
 * A region begins on a page with its magic and its own address, so that it is found by looking at
 * the pages of a core; faster by the list that begins in `struct wct_root`, to which a note leads
 * that stays in stripped files (WCT_NOTE_NAME): its contents are the root's distance from the
 * contents, a signed number of 4 bytes.
 */
#ifndef WHOCALL_RUNTIME_TRACE_LAYOUT_H
#define WHOCALL_RUNTIME_TRACE_LAYOUT_H

/* NOLINTBEGIN: a header of C */
#include <stdint.h>

#define WCT_REGION_MAGIC 0x314e4f4947455257ULL /* "WREGION1" where data is little-endian */
#define WCT_ROOT_MAGIC 0x315f544f4f525457ULL   /* "WTROOT_1" */
#define WCT_FILE_MAGIC 0x315f454c49465457ULL   /* "WTFILE_1" */
#define WCT_VERSION 1U
#define WCT_PAGE 4096U /* of the layout; a machine's own may be larger */
#define WCT_NOTE_NAME "whocall"
#define WCT_NOTE_TYPE 0x54524143U

/* The clock of events. */
#define WCT_CLOCK_NANOSECONDS 0U /* CLOCK_MONOTONIC */
#define WCT_CLOCK_TICKS 1U       /* a counter; two readings beside CLOCK_MONOTONIC tell its rate */

/* Kinds of events. */
#define WCT_ENTER 1U
#define WCT_EXIT 2U
#define WCT_FORK 3U /* the first event of a child; its site is the parent's process id */

/* Of a region: some hooks stand at beginnings of functions alone. Such a call has no event of its
 * end, which is before the next one that begins outside of it. */
#define WCT_RETURNS_UNSEEN 1U

/* An activation. */
struct wct_entry {
  uint64_t function;  /* first byte */
  uint64_t call_site; /* return address of the function; of an inlined one that of the frame */
  uint64_t sp;        /* stack pointer at the call of the hook */
  uint64_t pc;        /* where that call returns to */
  uint64_t cfa;       /* where its frame ends: all below is its own or its callees' */
};

/* time: 56 bits | lap of the ring: 6 bits | kind: 2 bits, from above. function and call site: 48
 * bits each, with the lower and the upper 16 bits of the depth above (0: outermost). The lap tells
 * a record that was being written from one of the lap before. */
struct wct_event {
  uint64_t time;
  uint64_t function;
  uint64_t call_site;
};
#define WCT_KIND_BITS 2U
#define WCT_LAP_BITS 6U
#define WCT_TIME_SHIFT 8U
#define WCT_ADDRESS_BITS 48U

#define WCT_FRAME_SIZES 256U
struct wct_frame_size {
  uint64_t pc;
  uint64_t size;
};

/* A moment by both clocks. */
struct wct_moment {
  uint64_t ticks;
  uint64_t nanoseconds;
};

struct wct_region {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* bytes, as all sizes */
  uint64_t size;
  uint64_t address; /* of this header in the process */
  uint32_t pid;
  uint32_t tid;
  uint64_t serial; /* order of registration, from 1: of two of one tid the later one lives */
  char name[16];
  uint32_t clock;
  uint32_t entry_size;
  uint32_t event_size;
  uint32_t flags; /* WCT_RETURNS_UNSEEN */
  uint64_t stack_offset;
  uint64_t stack_capacity; /* entries; the first one is no activation */
  uint64_t ring_offset;
  uint64_t ring_capacity; /* events; a power of two */
  uint64_t next;          /* address of another region; 0: none */
  uint64_t first_event;   /* those before it are not this process's */
  struct wct_moment began;
  struct wct_moment latest;
  uint64_t began_realtime; /* nanoseconds since 1970 */
  /* In a signal handler that interrupted a hook: the entry that it left out, and what stood there.
   */
  uint64_t gap; /* 0: none */
  struct wct_entry put_aside;
  /* The stack for signals on which a handler was seen to run; size 0: none. */
  uint64_t signals_begin;
  uint64_t signals_size;
  uint64_t reserved_too[3];

  /* What hooks write; a line of the cache. */
  uint64_t busy;  /* the stack pointer of the hook that runs; 0: none */
  uint64_t depth; /* entries of the shadow stack that are in use, with the first */
  uint64_t count; /* events so far */
  uint64_t next_moment;
  uint64_t state;    /* of the library's settings, as the thread last saw them */
  uint64_t overflow; /* activations beyond the shadow stack's capacity */
  uint64_t ring_mask;
  uint64_t ring_shift; /* log2 of the ring's capacity */

  /* Of functions, by where their hooks return to: how far above the stack pointer their frames
   * end. */
  struct wct_frame_size frame_sizes[WCT_FRAME_SIZES];
};

struct wct_root {
  uint64_t magic;
  uint32_t version;
  uint32_t pid;
  uint64_t regions;      /* address of the newest region; 0: none */
  uint64_t serial;       /* how many threads were registered */
  uint64_t lost_threads; /* that got no memory */
  char file[232];        /* path where regions lie in a file; empty: in memory alone */
};

/* The first page of a file; regions follow. Then as many bytes of text as `modules_size` from
 * `modules_offset` on: lines of /proc/PID/maps. */
struct wct_file {
  uint64_t magic;
  uint32_t version;
  uint32_t pid;
  uint64_t modules_offset;
  uint64_t modules_capacity;
  uint64_t modules_size;
  uint64_t used;    /* bytes of the file that are taken */
  char machine[24]; /* as uname says */
  uint32_t pointer_size;
  uint32_t reserved;
  uint64_t started; /* when the process began, as /proc/PID/stat says; 0: not known */
};
/* NOLINTEND */

#endif
