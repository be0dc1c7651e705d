#include "arch/path_state.h"

#include <algorithm>

namespace whocall {
namespace {

constexpr std::size_t kLargest = 32;  // steps of a value

}  // namespace

PathResult plus(PathResult value, std::int64_t amount) {
  if (!value || amount == 0) {
    return value;
  }
  PathStep& last = value->back();
  const bool adds = last.kind != PathStep::Kind::deref && last.kind != PathStep::Kind::minus;
  if (adds) {
    last.value += amount;
  } else {
    value->push_back({PathStep::Kind::plus, 0, amount});
  }
  return value;
}

PathResult minus(PathResult left, const PathResult& right) {
  if (!left || !right || left->size() + right->size() >= kLargest) {
    return std::nullopt;
  }
  left->insert(left->end(), right->begin(), right->end());
  left->push_back({PathStep::Kind::minus});
  return left;
}

std::size_t end_of_last_load(const PathValue& value) {
  const auto last =
      std::ranges::find(value.rbegin(), value.rend(), PathStep::Kind::deref, &PathStep::kind);
  return static_cast<std::size_t>(value.rend() - last);
}

PathState::PathState(Register count) {
  for (Register number = 0; number < count; ++number) {
    registers_.emplace_back(PathValue{{PathStep::Kind::base, number, 0}});
  }
}

PathResult PathState::get(Register number) const {
  return number < registers_.size() ? registers_[number] : std::nullopt;
}

void PathState::set(Register number, PathResult value) {
  if (number < registers_.size()) {
    registers_[number] = std::move(value);
  }
}

PathResult PathState::load(PathResult address) const {
  if (!address || address->size() >= kLargest) {
    return std::nullopt;
  }
  const auto known =
      std::ranges::find(stores_, *address, [](const auto& each) { return each.first; });
  if (known != stores_.end()) {
    return known->second;
  }
  address->push_back({PathStep::Kind::deref});
  return address;
}

void PathState::store(const PathResult& address, const PathResult& value) {
  if (address) {
    std::erase_if(stores_, [&](const auto& each) { return each.first == *address; });
    stores_.emplace_back(*address, value);
  }
}

void PathState::after_call(std::span<const Register> kept) {
  for (std::size_t number = 0; number < registers_.size(); ++number) {
    if (std::ranges::find(kept, static_cast<Register>(number)) == kept.end()) {
      registers_[number].reset();
    }
  }
}

std::optional<ReturnPath> PathState::leaving(Register sp, Register fp) const {
  const PathResult at = get(sp);
  if (!at) {
    return std::nullopt;
  }
  ReturnPath path;
  path.sp = *at;
  path.fp = get(fp);
  const std::size_t end = end_of_last_load(*at);
  if (end != 0) {
    const auto found = at->begin() + static_cast<std::ptrdiff_t>(end);
    const PathResult put_back = stored(PathValue(at->begin(), found - 1));
    const bool from_there =
        put_back && put_back->size() > end && std::equal(at->begin(), found, put_back->begin());
    if (from_there) {
      path.outer = PathValue(put_back->begin() + static_cast<std::ptrdiff_t>(end), put_back->end());
    }
  }
  return path;
}

PathResult PathState::stored(const PathValue& address) const {
  for (const auto& [where, what] : stores_) {
    if (where == address) {
      return what;
    }
  }
  return std::nullopt;
}

std::optional<ReturnPath> agreed(const std::optional<ReturnPath>& straight,
                                 const std::optional<ReturnPath>& taken) {
  if (straight && taken) {
    return *straight == *taken ? straight : std::nullopt;
  }
  return straight ? straight : taken;
}

}  // namespace whocall
