/* Peers and their queues. */
#include "netd.h"

#include <stdlib.h>
#include <string.h>

static struct peer peers[16];

struct peer *peer_of(uint32_t id) {
  if (id >= 16) return NULL;
  peers[id].id = id;
  return &peers[id];
}

struct packet *make_packet(uint32_t sequence, unsigned kind) {
  struct packet *packet = malloc(sizeof *packet);
  memset(packet, 0, sizeof *packet);
  packet->sequence = sequence;
  packet->kind = (uint8_t)kind;
  packet->length = (uint16_t)(sequence % 48);
  return packet;
}

/* Bug of whoever names a peer that is not there: the same place for two of them. */
void enqueue(struct peer *peer, struct packet *packet) {
  packet->next = NULL;
  if (peer->tail) peer->tail->next = packet;
  else peer->head = packet;
  peer->tail = packet;
  peer->pending++;
}

struct packet *dequeue(struct peer *peer) {
  struct packet *packet = peer->head;
  if (packet) {
    peer->head = packet->next;
    if (!peer->head) peer->tail = NULL;
    peer->pending--;
  }
  return packet;
}
