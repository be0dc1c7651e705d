/* Images, rows and their checksum. */
#include "imgtool.h"

#include <stdlib.h>
#include <string.h>

struct image *new_image(uint32_t width, uint32_t height, uint32_t channels) {
  struct image *image = calloc(1, sizeof *image);
  image->width = width;
  image->height = height;
  image->channels = channels;
  image->stride = (width * channels + 15) & ~15u;
  image->pixels = malloc((size_t)image->stride * height);
  memset(image->pixels, 0x40, (size_t)image->stride * height);
  return image;
}

void free_image(struct image *image) {
  free(image->pixels);
  free(image->palette);
  free(image);
}

#if VERSION > 1
uint32_t pixel_count(const struct image *image) { return image->width * image->height; }
#endif

uint8_t *row_of(struct image *image, uint32_t y) { return image->pixels + (size_t)image->stride * y; }

/* Bug of whoever hands bytes that are not there: the same place for two of them. */
uint32_t checksum(const uint8_t *bytes, size_t size) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < size; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}
