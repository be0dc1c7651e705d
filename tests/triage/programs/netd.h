#pragma once
#include <stdint.h>
struct packet {
  uint8_t kind, flags;
  uint16_t length;
  uint32_t sequence;
  struct packet *next;
  uint8_t body[48];
};
struct peer {
  uint32_t id;
  struct packet *head, *tail;
  struct peer *parent;
  int pending;
};
struct peer *peer_of(uint32_t id);
struct packet *make_packet(uint32_t sequence, unsigned kind);
void enqueue(struct peer *peer, struct packet *packet);
struct packet *dequeue(struct peer *peer);
