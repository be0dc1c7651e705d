/* Five bugs of a network service. */
#include "netd.h"

#include "jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bug: an answer to a peer that never asked. */
static int answer(uint32_t id, uint32_t sequence) {
  struct packet *packet = make_packet(sequence ^ 0x5a5a, 7);
  memcpy(packet->body, "ANSWER", 7);
  enqueue(peer_of(id), packet);
  return (int)packet->length;
}

static int answering(unsigned seed) {
  int sent = 0;
  for (uint32_t id = 0; id < 40; id++) sent += answer(id, id * 31 + seed);
  printf("answers: %d bytes\n", sent);
  return sent;
}

/* Bug: news goes round one peer too far, in a thread of its own. */
static void *broadcast(void *argument) {
  unsigned *seed = argument;
  for (uint32_t id = 8; id < 8 + 64; id++) {
    struct packet *news = make_packet(*seed, 99);
    news->flags = 0x80;
    enqueue(peer_of(id), news);
  }
  return NULL;
}

static int broadcasting(unsigned seed) {
  pthread_t thread;
  pthread_create(&thread, NULL, broadcast, &seed);
  pthread_join(thread, NULL);
  puts("broadcast done");
  return 0;
}

/* Bug: a way to the root that has none. */
static int hops_to_root(const struct peer *peer) {
  int hops = 0;
  while (peer->id != 0xffff) {
    peer = peer->parent;
    hops++;
  }
  return hops;
}

static int routing(unsigned seed) {
  for (uint32_t id = 1; id < 16; id++) peer_of(id)->parent = peer_of(id - 1);
  printf("route: %d hops\n", hops_to_root(peer_of(seed % 15 + 1)));
  return 0;
}

/* Bug: a reply that provokes a reply. */
static int on_packet(struct peer *peer, struct packet *packet, int depth);

static int on_echo(struct peer *peer, struct packet *packet, int depth) {
  char copy[128];
  memset(copy, depth, sizeof copy);
  packet->sequence += (uint32_t)copy[5];
  int status = on_packet(peer, packet, depth + 1);
  packet->sequence ^= (uint32_t)copy[status & 127];
  return status;
}

static int on_packet(struct peer *peer, struct packet *packet, int depth) {
  if (packet->kind == 3 && peer->pending >= 0) return on_echo(peer, packet, depth) + 1;
  return (int)packet->sequence;
}

static int echoing(unsigned seed) {
  struct packet *packet = make_packet(seed, 3);
  return on_packet(peer_of(seed % 16), packet, 0);
}

/* Bug: freed by the queue and by its reader. */
static void drop_all(struct peer *peer) {
  for (struct packet *packet; (packet = dequeue(peer));) {
    if (packet->flags & 1) fprintf(stderr, "dropping urgent %u\n", packet->sequence);
    free(packet);
    if (packet->kind == 5 || peer->pending == 0) free(packet);
  }
}

static int shutting_down(unsigned seed) {
  struct peer *peer = peer_of(4);
  for (unsigned i = 0; i < 3 + seed % 4; i++) enqueue(peer, make_packet(i, 6));
  drop_all(peer);
  return peer->pending;
}

#if VERSION > 1
static int pinging(unsigned seed) {
  fprintf(stderr, "ping %u from %d\n", seed, (int)getpid());
  return 0;
}
#endif

const Job jobs[] = {answering, broadcasting, routing, echoing, shutting_down,
#if VERSION > 1
                    pinging
#endif
};
const unsigned job_count = sizeof jobs / sizeof *jobs;
