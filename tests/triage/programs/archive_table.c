/* The table of an archive's entries. */
#include "archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct archive *new_archive(void) {
  struct archive *archive = calloc(1, sizeof *archive);
  archive->options.level = 6;
  return archive;
}

struct entry *add_entry(struct archive *archive, const char *path, size_t size) {
  if (archive->count == archive->capacity) {
    archive->capacity = archive->capacity * 2 + 4;
    archive->entries = realloc(archive->entries, archive->capacity * sizeof *archive->entries);
  }
  struct entry *entry = &archive->entries[archive->count++];
  memset(entry, 0, sizeof *entry);
  snprintf(entry->path, sizeof entry->path, "%s", path);
  entry->size = size;
  return entry;
}

struct entry *find_entry(struct archive *archive, const char *path) {
  for (size_t i = 0; i < archive->count; i++)
    if (strcmp(archive->entries[i].path, path) == 0) return &archive->entries[i];
  return NULL;
}

uint32_t crc_of(const uint8_t *bytes, size_t size) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  return ~crc;
}
