/* Five bugs of images. */
#include "imgtool.h"

#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bug: no palette was read. */
static void apply_palette(struct image *image) {
  for (uint32_t y = 0; y < image->height; y++) {
    uint8_t *row = row_of(image, y);
    for (uint32_t x = 0; x < image->width; x++) row[x] = (uint8_t)(image->palette[row[x]] >> 8);
  }
}

static int colours(unsigned seed) {
  struct image *image = new_image(32 + seed % 9, 8, 1);
  apply_palette(image);
  fprintf(stderr, "palette of %u entries applied\n", 256u);
  free_image(image);
  return 0;
}

/* Bug: a filter that reaches far outside. */
static void blur(struct image *image, int radius) {
  for (uint32_t y = 0; y < image->height; y++) {
    uint8_t *row = row_of(image, y);
    for (uint32_t x = 0; x < image->width; x++) {
      int sum = 0;
      for (int d = -radius; d <= radius; d++) sum += row[(long)x + d * 4096L];
      row[x] = (uint8_t)(sum / (2 * radius + 1));
    }
  }
}

static int blurred(unsigned seed) {
  struct image *image = new_image(64, 16, 1);
  blur(image, 200000 + (int)(seed % 1000));
  puts("blurred");
  free_image(image);
  return 0;
}

/* Bug: the checksum of a picture that could not be opened. */
static uint32_t thumbnail_sum(struct image *image) {
  uint32_t sum = 0;
  for (uint32_t y = 0; y < 4; y++) sum ^= checksum(image->palette ? row_of(image, y) : NULL, 128);
  return sum * 2654435761u;
}

static int thumbnails(unsigned seed) {
  struct image *image = new_image(128, 4 + seed % 3, 1);
  printf("thumbnail %08x\n", thumbnail_sum(image));
  free_image(image);
  return 0;
}

/* Bug: the checksum of the end of a file that is shorter. */
static int trailer_is_right(const uint8_t *file, size_t size) {
  size_t offset = size > 64 ? size - 64 : (size_t)0x7f0000000000;
  return checksum(file + offset, 60) == 0x4e454420;
}

static int verify(unsigned seed) {
  size_t size = 16 + seed % 32;
  uint8_t *file = malloc(size);
  memset(file, 'P', size);
  if (!trailer_is_right(file, size)) fprintf(stderr, "trailer damaged at %zu\n", size);
  free(file);
  return 0;
}

/* Bug: the function for this kind of picture is missing. */
static void convert_image(struct image *image, int depth) {
  if (depth == 16) image->stride *= 2;
  image->convert(image, depth);
  image->channels = 3;
}

static int converting(unsigned seed) {
  struct image *image = new_image(16, 16, 3);
  convert_image(image, seed % 2 ? 16 : 8);
  printf("converted to %u channels\n", image->channels);
  free_image(image);
  return 0;
}

const Job jobs[] = {colours, blurred, thumbnails, verify, converting};
const unsigned job_count = sizeof jobs / sizeof *jobs;
