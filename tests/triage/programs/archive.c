/* Five bugs of an archiver. */
#include "archive.h"

#include "jobs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct archive *sample(unsigned seed) {
  struct archive *archive = new_archive();
  char path[32];
  for (unsigned i = 0; i < 3 + seed % 5; i++) {
    snprintf(path, sizeof path, "src/file%u.c", i);
    add_entry(archive, path, 100 * i);
  }
  return archive;
}

/* Bug: the entry that a link names is not there. */
static uint64_t size_of_link(const struct entry *entry) {
  if (entry->mode & 0120000) return 0;
  return entry->hard_link->size + 512;
}

static int listing(unsigned seed) {
  struct archive *archive = sample(seed);
  uint64_t sum = 0;
  for (size_t i = 0; i < archive->count; i++) sum += size_of_link(&archive->entries[i]);
  printf("total %llu\n", (unsigned long long)sum);
  return 0;
}

/* Bug: a comment that was never given is measured. */
static size_t header_size(const struct archive *archive) {
  return 46 + strlen(archive->options.comment) * (size_t)archive->options.level;
}

static int sizing(unsigned seed) {
  struct archive *archive = sample(seed);
  printf("header: %zu bytes\n", header_size(archive));
  return 0;
}

/* Bug: a chunk's end is written over. */
static void unpack_into(uint8_t *out, size_t room, unsigned seed) {
  memset(out, (int)(0x41 + seed % 8), room + 24);
}

static int unpacking(unsigned seed) {
  uint8_t *first = malloc(1200), *second = malloc(1400), *third = malloc(64);
  unpack_into(first, 1200, seed);
  uint32_t crc = crc_of(first, 1200);
  free(first);
  free(second);
  free(third);
  fprintf(stderr, "unpacked %08x\n", crc);
  return (int)(crc & 0x7f);
}

/* Bug: a pointer into the table, kept while the table moves. */
static int rename_all(struct archive *archive, unsigned seed) {
  struct entry *kept = &archive->entries[0];
  struct entry *old = archive->entries;
  archive->entries = NULL;
  free((char *)old + 16);
  snprintf(kept->path, sizeof kept->path, "renamed-%u", seed);
  return (int)strlen(kept->path);
}

static int renaming(unsigned seed) {
  struct archive *archive = sample(seed);
  int length = rename_all(archive, seed);
  printf("renamed, %d\n", length);
  return length;
}

/* Bug: gives up where it should go on. */
static void check_entry(struct archive *archive, const char *path) {
  struct entry *entry = find_entry(archive, path);
  if (!entry) {
    fprintf(stderr, "archive: %s is missing\n", path);
    abort();
  }
  entry->crc = crc_of((const uint8_t *)entry->path, sizeof entry->path);
}

static int checking(unsigned seed) {
  struct archive *archive = sample(seed);
  char path[32];
  for (unsigned i = 0; i < 12; i++) {
    snprintf(path, sizeof path, "src/file%u.c", i);
    check_entry(archive, path);
  }
  return 0;
}

const Job jobs[] = {listing, sizing, unpacking, renaming, checking};
const unsigned job_count = sizeof jobs / sizeof *jobs;
