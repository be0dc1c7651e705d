#include "tracing/merged_steps.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"

namespace whocall {

ShownSteps::ShownSteps(const Trace& trace, std::size_t thread, const CallChoice& choice)
    : replay_(trace.replay(thread)),
      filter_(trace, thread, choice),
      thread_(thread),
      before_(replay_.open()) {
  has_front_ = read(front_);
  has_second_ = has_front_ && read(second_);
}

bool ShownSteps::read(ShownStep& into) {
  while (told_ < before_.size()) {
    const OpenCall& call = before_[told_++];
    if (const auto depth = filter_.begin(call.function)) {
      into = {.step = {.call = call, .time = call.began}, .depth = *depth};
      return true;
    }
  }
  while (const CallStep* step = replay_.next()) {
    const auto depth = filter_.place(*step);
    if (!depth) {
      continue;
    }
    const auto& open = replay_.open();
    const std::size_t own = step->kind == CallStep::Kind::begin ? 1 : 0;
    into = {.step = *step, .depth = *depth};
    if (open.size() > own) {
      const OpenCall& around = open[open.size() - 1 - own];
      into.around = around.function;
      into.inlined =
          around.call_site == step->call.call_site && around.function != step->call.function;
    }
    return true;
  }
  return false;
}

void ShownSteps::pop() {
  front_ = second_;
  has_front_ = has_second_;
  has_second_ = has_front_ && read(second_);
}

MergedSteps::MergedSteps(const Trace& trace, const std::vector<std::size_t>& threads,
                         const CallChoice& choice) {
  heap_.reserve(threads.size());
  for (const std::size_t thread : threads) {
    check_interrupt();
    auto steps = std::make_unique<ShownSteps>(trace, thread, choice);
    if (steps->front() != nullptr) {
      heap_.push_back(std::move(steps));
    }
  }
  std::ranges::make_heap(heap_, is_later);
}

bool MergedSteps::is_later(const Steps& left, const Steps& right) {
  const std::uint64_t one = left->front()->step.time;
  const std::uint64_t other = right->front()->step.time;
  return one != other ? one > other : left->thread() > right->thread();
}

// The first goes down to its place: nearly always it stays where it is.
void MergedSteps::sink() {
  std::size_t at = 0;
  while (true) {
    std::size_t least = at;
    for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
      if (child < heap_.size() && is_later(heap_[least], heap_[child])) {
        least = child;
      }
    }
    if (least == at) {
      return;
    }
    std::swap(heap_[at], heap_[least]);
    at = least;
  }
}

ShownSteps* MergedSteps::earliest() {
  if (is_stale_ && !heap_.empty()) {
    if (heap_.front()->front() == nullptr) {
      std::swap(heap_.front(), heap_.back());
      heap_.pop_back();
    }
    sink();
  }
  is_stale_ = true;
  return heap_.empty() ? nullptr : heap_.front().get();
}

}  // namespace whocall
