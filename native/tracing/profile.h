// Counts and times of calls: by function, by caller and callee, by context.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tracing/call_filter.h"
#include "tracing/trace.h"

namespace whocall {

// Times are nanoseconds. Of calls that are still running, or began before what the ring holds, the
// part that the ring holds counts.
struct CallCount {
  std::uint64_t calls = 0;  // that began
  std::uint64_t total = 0;  // with what they called; of a recursion the outermost call's
  std::uint64_t self = 0;   // without
};

struct ContextNode {
  std::uint32_t parent = 0;  // index; of the first one, which is no call, its own
  std::uint32_t depth = 0;   // of the first one: 0
  Address function = 0;
  CallCount count;
};

// A place that calls: where the callee returns to, or, of an inlined call, the function around it.
struct CallEdge {
  Address from = 0;
  bool inlined = false;
  Address callee = 0;
  friend bool operator<(const CallEdge& left, const CallEdge& right) {
    return std::tie(left.from, left.inlined, left.callee) <
           std::tie(right.from, right.inlined, right.callee);
  }
};

class Profile {
 public:
  Profile(const Trace& trace, const std::vector<std::size_t>& threads, const CallChoice& choice);

  [[nodiscard]] const std::unordered_map<Address, CallCount>& functions() const {
    return functions_;
  }
  [[nodiscard]] const std::map<CallEdge, CallCount>& edges() const { return edges_; }
  // A node stands behind its parent. Contexts deeper than kDeepest, and those beyond kMostNodes,
  // are counted to the one around them.
  [[nodiscard]] const std::vector<ContextNode>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_folded() const { return is_folded_; }

  static constexpr std::uint32_t kDeepest = 512;
  static constexpr std::size_t kMostNodes = std::size_t{1} << 20U;

 private:
  struct Active {
    std::uint64_t began = 0;
    std::uint64_t below = 0;  // spent in calls
    std::uint32_t node = 0;
    bool has_node = false;  // else it is counted to the one around it
    CallEdge edge{};
    CallCount* function = nullptr;
    CallCount* by_edge = nullptr;
    std::uint32_t* running = nullptr;  // activations of the function in this thread
  };
  void add_thread(const Trace& trace, std::size_t thread, const CallChoice& choice);
  void begin(const OpenCall& call, std::uint64_t time, const OpenCall* around, bool counts);
  void end(std::uint64_t time);
  std::uint32_t child(std::uint32_t parent, Address function, bool& is_own);

  std::unordered_map<Address, CallCount> functions_;
  std::map<CallEdge, CallCount> edges_;
  std::vector<ContextNode> nodes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> children_;  // by a hash
  std::vector<Active> active_;
  std::unordered_map<Address, std::uint32_t> running_;
  bool is_folded_ = false;
};

// Lines of folded stacks, "main;work;leaf 1234" (self time in nanoseconds), some 64 KiB at a time.
class FoldedStacks {
 public:
  FoldedStacks(const Profile& profile, const std::unordered_map<Address, std::string>& names)
      : profile_(profile), names_(names) {}
  std::string next();

 private:
  void path(const ContextNode& node, std::string& out) const;

  const Profile& profile_;
  const std::unordered_map<Address, std::string>& names_;
  std::size_t at_ = 1;
};

}  // namespace whocall
