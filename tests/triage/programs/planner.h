#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct Task {
  std::string name;
  std::function<int(int)> work;
  std::vector<std::shared_ptr<Task>> needs;
  std::shared_ptr<Task> follow_up;
  int state = 0;
};

class Plan {
 public:
  std::shared_ptr<Task> add(const std::string &name, std::function<int(int)> work);
  std::shared_ptr<Task> find(const std::string &name) const;
  const std::vector<std::shared_ptr<Task>> &tasks() const { return tasks_; }

 private:
  std::vector<std::shared_ptr<Task>> tasks_;
};

int run_task(Task &task, int input);
