/* Five bugs of book-keeping. */
#include "ledger.h"

#include "jobs.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int log_level = 1;

static void note(const char *what, long value) {
  if (log_level > 3) fprintf(stderr, "ledger: %s %ld\n", what, value);
}

/* Bug: an account that nobody opened is charged. */
static long charge(const char *name, long amount) {
  struct account *a = find_account(name);
  note("charge", amount);
  a->balance -= amount;
  return a->balance;
}

static long charge_all(unsigned seed) {
  long total = 0;
  char name[32];
  for (unsigned i = 0; i < 40; i++) {
    snprintf(name, sizeof name, "acct-%u", i);
    total += charge(name, interest(1000, (int)(seed % 50)));
  }
  return total;
}

static int close_month(unsigned seed) {
  load_sample(seed);
  return charge_all(seed) > 0;
}

static int close_year(unsigned seed) {
  load_sample(seed);
  note("year", (long)seed);
  for (int month = 0; month < 12; month++)
    if (charge_all(seed + (unsigned)month) == 0) return 1;
  return 0;
}

/* Both ways of closing lead to the one bug. */
static int closing(unsigned seed) { return seed % 2 ? close_month(seed) : close_year(seed); }

/* Bug: the owner of an account is not set. */
static int rank_of_owner(struct account *a) {
  if (a->frozen) return -1;
  return a->owner->rank * 3;
}

static int ranking(unsigned seed) {
  load_sample(seed);
  int best = 0;
  for (unsigned i = 0; i < 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "acct-%u", i);
    struct account *a = find_account(name);
    int rank = a ? rank_of_owner(a) : 0;
    if (rank > best) best = rank;
  }
  printf("best rank %d\n", best);
  return best;
}

/* Bug: what cannot happen does. */
static void transfer(struct account *from, struct account *to, long amount) {
  assert(from->balance >= amount && "overdrawn");
  from->balance -= amount;
  to->balance += amount;
}

static int settle(unsigned seed) {
  load_sample(seed);
  for (long step = 1; step < 100000; step *= 4) {
    transfer(find_account("acct-1"), find_account("acct-2"), step);
    note("settled", step);
  }
  return 0;
}

/* Bug: as many days as the data says. */
static int average_day(const int *days, int count) {
  int sum = 0;
  for (int i = 0; i < 7; i++) sum += days[i];
  return sum / count;
}

static int statistics(unsigned seed) {
  int days[7] = {3, 1, 4, 1, 5, 9, (int)seed};
  printf("average %d\n", average_day(days, (int)(seed / 1000)));
  return 0;
}

/* Bug: a statement longer than its line. */
static int width_of(const char *statement) {
  char text[24];
  strcpy(text, statement);
  for (char *each = text; *each; each++)
    if (*each == '\t') *each = ' ';
  return (int)strlen(text);
}

static int statements(unsigned seed) {
  char *line = malloc(4096);
  strcpy(line, "Statement of account");
  for (unsigned i = 0; i < seed % 5 + 12; i++) strcat(line, " and so on");
  int width = width_of(line);
  printf("%s: %d\n", line, width);
  free(line);
  return width;
}

#if VERSION > 1
static int audit(unsigned seed) {
  load_sample(seed);
  note("audit", 1);
  return find_account("acct-3") != NULL;
}
#endif

const Job jobs[] = {closing, ranking, settle, statistics, statements,
#if VERSION > 1
                    audit
#endif
};
const unsigned job_count = sizeof jobs / sizeof *jobs;
