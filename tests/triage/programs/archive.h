#pragma once
#include <stddef.h>
#include <stdint.h>
struct entry {
  char path[32];
  uint64_t offset, size;
  uint32_t crc, mode;
  struct entry *hard_link;
};
struct archive {
  struct entry *entries;
  size_t count, capacity;
  uint8_t *data;
  struct { const char *comment; int level; } options;
};
struct archive *new_archive(void);
struct entry *add_entry(struct archive *archive, const char *path, size_t size);
struct entry *find_entry(struct archive *archive, const char *path);
uint32_t crc_of(const uint8_t *bytes, size_t size);
