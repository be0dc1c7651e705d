// Five bugs of tasks, some in threads of their own.
#include "planner.h"

#include "jobs.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

// Bug: tasks that wait for each other.
int circular(unsigned seed) {
  Plan plan;
  auto compile = plan.add("compile", [](int n) { return n * 2; });
  auto link = plan.add("link", [](int n) { return n + 7; });
  compile->needs.push_back(link);
  link->needs.push_back(compile);
  return run_task(*compile, static_cast<int>(seed));
}

// Bug: a follow-up that was not planned.
int run_follow_up(const Task &task) {
  std::printf("after %s\n", task.name.c_str());
  return task.follow_up->state + 1;
}

int following(unsigned seed) {
  Plan plan;
  auto task = plan.add("pack", [seed](int n) { return n + static_cast<int>(seed); });
  run_task(*task, 1);
  return run_follow_up(*task);
}

// Bug: an empty function is called, in a thread.
void work_through(const Plan &plan, int *sum) {
  for (const auto &task : plan.tasks()) *sum += task->work(*sum);
}

int threaded(unsigned seed) {
  Plan plan;
  plan.add("first", [seed](int n) { return n + static_cast<int>(seed); });
  plan.add("second", nullptr);
  int sum = 0;
  std::thread worker([&] { work_through(plan, &sum); });
  worker.join();
  std::printf("sum %d\n", sum);
  return sum;
}

// Bug: an exception that leaves a thread.
void require_task(const Plan &plan, const char *name) {
  if (!plan.find(name)) throw std::string("no task ") + name;
}

int requiring(unsigned seed) {
  Plan plan;
  plan.add("alpha", nullptr);
  std::thread worker([&plan, seed] {
    require_task(plan, "alpha");
    require_task(plan, seed % 2 ? "beta" : "gamma");
  });
  worker.join();
  std::puts("all there");
  return 0;
}

// Bug: a callback that stops at what it cannot do.
[[noreturn]] void refuse(int code) {
  std::fprintf(stderr, "task refused: code %d\n", code);
  std::abort();
}

int refusing(unsigned seed) {
  Plan plan;
  auto task = plan.add("deploy", [](int n) {
    if (n > 40) refuse(n);
    return n;
  });
  int state = 0;
  for (int i = 0; i < 100; i += 1 + static_cast<int>(seed % 5)) state = run_task(*task, i);
  return state;
}

}  // namespace

extern "C" const Job jobs[] = {circular, following, threaded, requiring, refusing};
extern "C" const unsigned job_count = sizeof jobs / sizeof *jobs;
