#pragma once
#include <stddef.h>
#include <stdint.h>
struct image {
  uint32_t width, height, channels, stride;
  uint8_t *pixels;
  uint16_t *palette;
  void (*convert)(struct image *, int);
};
struct image *new_image(uint32_t width, uint32_t height, uint32_t channels);
void free_image(struct image *image);
uint8_t *row_of(struct image *image, uint32_t y);
uint32_t checksum(const uint8_t *bytes, size_t size);
