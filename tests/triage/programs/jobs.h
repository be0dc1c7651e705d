/* What every program has: jobs that a number chooses, each with a seed that varies its data. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef int (*Job)(unsigned seed);
extern const Job jobs[];
extern const unsigned job_count;
#ifdef __cplusplus
}
#endif
