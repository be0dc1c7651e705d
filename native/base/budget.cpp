#include "base/budget.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

namespace whocall {
namespace {

struct Limit {
  std::string_view what;
  std::uint64_t least = 0;     // for every input
  std::uint64_t per_byte = 0;  // more for each byte of the input
  bool bytes = true;           // what is counted
};

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;

// In the order of Cost. What compilers and kernels write stays far below: compressed debug
// information is a quarter of itself, and a core has some dozen notes for each thread.
constexpr std::array<Limit, kCosts> kLimits = {{
    {"of compressed parts", 256 * kMega, 16},
    {"of files in memory", 512 * kMega, 0},
    {"notes", kMega, 0, false},
    {"rows in its symbol table", 16 * kMega, 0, false},
    {"of code", 768 * kMega, 0},
    {"to search", 768 * kMega, 0},
    {"of code below its unwind tables", 4 * kMega, 2},
    {"of notes", 64 * kMega, 4},
    {"threads", kMega / 4, 0, false},
    {"modules", kMega / 128, 0, false},
    {"mapped files", kMega / 16, 0, false},
    {"of names", 64 * kMega, 8},
    {"functions of JIT code", 3 * (kMega / 4), 0, false},  // their map falls within half a second
    {"source lines of JIT code", 4 * kMega, 0, false},
    {"mappings", kMega / 4, 0, false},
    {"pieces of memory", kMega, 0, false},
}};

// Which costs the parts of an input share.
constexpr bool is_of_the_whole(Cost cost) {
  return cost == Cost::unpacked || cost == Cost::notes || cost == Cost::note_bytes ||
         cost == Cost::searched;
}

std::uint64_t scale() {
  constexpr std::uint64_t kMost = 1'000'000;
  const char* text = std::getenv(kBudgetVariable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  const std::string_view digits = text == nullptr ? "" : text;
  std::uint64_t value = 1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return std::clamp<std::uint64_t>(value, 1, kMost);
}

std::uint64_t limit_of(const Limit& limit, std::uint64_t size) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t factor = scale();
  const std::uint64_t room = kAll / factor;
  const std::uint64_t by_size =
      limit.per_byte != 0 && size > room / limit.per_byte ? room : size * limit.per_byte;
  return std::min(room, limit.least > room - by_size ? room : limit.least + by_size) * factor;
}

struct Told {
  std::mutex mutex;
  std::vector<std::string> sentences;
};

Told& told() {
  static auto* const kTold = new Told;
  return *kTold;
}

std::string sentence(const std::string& input, const Limit& limit, std::uint64_t most) {
  const std::string amount =
      limit.bytes ? std::to_string(most / kMega) + " MiB" : std::to_string(most);
  return input + " has more than " + amount + " " + std::string(limit.what) +
         ": the rest is left out. Where the file is to be trusted, " + kBudgetVariable +
         "=4 in the environment allows four times as much.";
}

}  // namespace

std::uint64_t Budget::left(Cost cost) const {
  const auto which = static_cast<std::size_t>(cost);
  const std::uint64_t most = limit_of(kLimits[which], size_);
  const std::uint64_t used = used_[which];
  const std::uint64_t own = most - std::min(most, used);
  return whole_ != nullptr && is_of_the_whole(cost) ? std::min(own, whole_->left(cost)) : own;
}

std::uint64_t Budget::cut(Cost cost, std::uint64_t amount) {
  const std::uint64_t room = left(cost);
  if (amount > room) {
    const bool of_whole = whole_ != nullptr && is_of_the_whole(cost) && whole_->left(cost) == room;
    (of_whole ? *whole_ : *this).tell(cost);
  }
  return std::min(amount, room);
}

void Budget::tell(Cost cost) {
  const auto which = static_cast<std::size_t>(cost);
  if (!told_[which].exchange(true)) {
    const std::lock_guard lock(told().mutex);
    told().sentences.push_back(sentence(input_, kLimits[which], limit_of(kLimits[which], size_)));
  }
}

bool Budget::draw(Cost cost, std::uint64_t amount) {
  if (whole_ != nullptr && is_of_the_whole(cost) && !whole_->draw(cost, amount)) {
    return false;
  }
  return draw_alone(cost, amount);
}

bool Budget::draw_alone(Cost cost, std::uint64_t amount) {
  const auto which = static_cast<std::size_t>(cost);
  const std::uint64_t most = limit_of(kLimits[which], size_);
  std::uint64_t used = used_[which];
  do {
    if (amount > most - std::min(most, used)) {
      tell(cost);
      return false;
    }
  } while (!used_[which].compare_exchange_weak(used, used + amount));
  return true;
}

std::vector<std::string> take_exhausted_budgets() {
  const std::lock_guard lock(told().mutex);
  return std::exchange(told().sentences, {});
}

}  // namespace whocall
