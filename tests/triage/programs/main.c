/* Runs the job of the number in the first argument with the seed in the second. */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  unsigned job = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  if (job >= job_count) {
    fprintf(stderr, "usage: %s JOB SEED\n", argv[0]);
    return 2;
  }
  int status = jobs[job](seed);
  printf("job %u: %d\n", job, status);
  return 0;
}
