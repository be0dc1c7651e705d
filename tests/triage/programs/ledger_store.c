/* Accounts in a hash table, read from lines of text. */
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct account *buckets[64];

static unsigned hash_of(const char *name) {
  unsigned h = 2166136261u;
  while (*name) h = (h ^ (unsigned char)*name++) * 16777619u;
  return h % 64;
}

struct account *find_account(const char *name) {
  for (struct account *a = buckets[hash_of(name)]; a; a = a->next)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

struct account *add_account(const char *name, long opening) {
  struct account *a = calloc(1, sizeof *a);
  snprintf(a->name, sizeof a->name, "%s", name);
  a->balance = opening;
  unsigned h = hash_of(name);
  a->next = buckets[h];
  buckets[h] = a;
  return a;
}

long interest(long amount, int basis_points) { return amount * basis_points / 10000; }

void load_sample(unsigned seed) {
  char name[32];
  for (unsigned i = 0; i < 10 + seed % 7; i++) {
    snprintf(name, sizeof name, "acct-%u", i);
    add_account(name, 100 * (long)(i + seed));
  }
}

#if VERSION > 1
void dump_accounts(FILE *to) {
  for (int i = 0; i < 64; i++)
    for (struct account *a = buckets[i]; a; a = a->next)
      fprintf(to, "%-20s %12ld %s\n", a->name, a->balance, a->frozen ? "(frozen)" : "");
}
#endif
