#include "tracing/profile.h"

#include <algorithm>
#include <optional>

#include "base/hex.h"
#include "base/interrupt.h"
#include "base/printable_text.h"

namespace whocall {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10U;  // bytes

std::uint64_t difference(std::uint64_t later, std::uint64_t earlier) {
  return later > earlier ? later - earlier : 0;
}

}  // namespace

Profile::Profile(const Trace& trace, const std::vector<std::size_t>& threads,
                 const CallChoice& choice)
    : nodes_(1) {
  for (const std::size_t thread : threads) {
    add_thread(trace, thread, choice);
  }
}

void Profile::add_thread(const Trace& trace, std::size_t thread, const CallChoice& choice) {
  CallReplay replay = trace.replay(thread);
  CallFilter filter(trace, thread, choice);
  active_.clear();
  running_.clear();
  const std::uint64_t first = trace.measure(thread).first;
  const std::vector<OpenCall> before = replay.open();
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (filter.begin(before[at].function)) {
      begin(before[at], first, at == 0 ? nullptr : &before[at - 1], false);
    }
  }
  std::size_t turn = 0;
  while (const CallStep* step = replay.next()) {
    check_interrupt_at(turn++, kManyEntries);
    if (!filter.place(*step)) {
      continue;
    }
    const auto& open = replay.open();
    if (step->kind == CallStep::Kind::begin) {
      begin(step->call, step->time, open.size() > 1 ? &open[open.size() - 2] : nullptr, true);
    } else if (step->kind == CallStep::Kind::end) {
      end(step->time);
    }
  }
}

std::uint32_t Profile::child(std::uint32_t parent, Address function, bool& is_own) {
  std::vector<std::uint32_t>& known =
      children_[(function ^ (std::uint64_t{parent} << 40U)) * 0x9e3779b97f4a7c15U];
  for (const std::uint32_t node : known) {
    if (nodes_[node].parent == parent && nodes_[node].function == function) {
      return node;
    }
  }
  if (nodes_[parent].depth >= kDeepest || nodes_.size() >= kMostNodes) {
    is_folded_ = true;
    is_own = false;
    return parent;
  }
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  known.push_back(node);
  nodes_.push_back(
      {.parent = parent, .depth = nodes_[parent].depth + 1, .function = function, .count = {}});
  return node;
}

void Profile::begin(const OpenCall& call, std::uint64_t time, const OpenCall* around, bool counts) {
  const bool inlined =
      around != nullptr && around->call_site == call.call_site && around->function != call.function;
  Active active{.began = time, .has_node = true};
  active.edge = {inlined ? around->function : call.call_site, inlined, call.function};
  active.node = child(active_.empty() ? 0 : active_.back().node, call.function, active.has_node);
  active.function = &functions_[call.function];
  active.by_edge = &edges_[active.edge];
  active.running = &running_[call.function];
  ++*active.running;
  if (counts) {
    ++active.function->calls;
    ++active.by_edge->calls;
    nodes_[active.node].count.calls += active.has_node ? 1 : 0;
  }
  active_.push_back(active);
}

void Profile::end(std::uint64_t time) {
  if (active_.empty()) {
    return;
  }
  const Active last = active_.back();
  active_.pop_back();
  const std::uint64_t total = difference(time, last.began);
  const std::uint64_t self = difference(total, last.below);
  if (--*last.running == 0) {
    last.function->total += total;
    last.by_edge->total += total;
  }
  last.function->self += self;
  last.by_edge->self += self;
  CallCount& node = nodes_[last.node].count;
  node.self += self;
  node.total += last.has_node ? total : 0;
  if (!active_.empty()) {
    active_.back().below += total;
  }
}

void FoldedStacks::path(const ContextNode& node, std::string& out) const {
  std::vector<const ContextNode*> chain;
  for (const ContextNode* at = &node; at->depth != 0; at = &profile_.nodes()[at->parent]) {
    chain.push_back(at);
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const auto told = names_.find((*at)->function);
    std::string name;
    append_printable(name, told == names_.end() ? hex((*at)->function) : told->second);
    std::ranges::replace(name, ';', ':');  // which stands between functions
    out += (at == chain.rbegin() ? "" : ";") + name;
  }
}

std::string FoldedStacks::next() {
  std::string out;
  for (; at_ < profile_.nodes().size() && out.size() < kBlock; ++at_) {
    check_interrupt_at(at_, kManyEntries);
    const ContextNode& node = profile_.nodes()[at_];
    if (node.count.self != 0) {
      path(node, out);
      out += ' ';
      out += std::to_string(node.count.self);
      out += '\n';
    }
  }
  return out;
}

}  // namespace whocall
