#include "symbols/signatures/pair_state.h"

namespace whocall {
namespace {

// Where two rows of numbers have the same one, which stands in each only once: in the order of both
// ("patience diff").
std::vector<std::pair<std::size_t, std::size_t>> common_marks(
    const std::vector<std::uint64_t>& left, const std::vector<std::uint64_t>& right) {
  struct Seen {
    std::size_t left = 0;
    std::size_t right = 0;
    unsigned on_left = 0;
    unsigned on_right = 0;
  };
  std::unordered_map<std::uint64_t, Seen> seen;
  for (std::size_t i = 0; i < left.size(); ++i) {
    Seen& entry = seen[left[i]];
    entry.left = i;
    ++entry.on_left;
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (const auto entry = seen.find(right[i]); entry != seen.end()) {
      entry->second.right = i;
      ++entry->second.on_right;
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> marks;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Seen& entry = seen[left[i]];
    if (left[i] != 0 && entry.on_left == 1 && entry.on_right == 1) {
      marks.emplace_back(i, entry.right);
    }
  }
  std::vector<std::size_t> row;
  row.reserve(marks.size());
  for (const auto& mark : marks) {
    row.push_back(mark.second);
  }
  std::vector<std::pair<std::size_t, std::size_t>> ascending;
  for (const std::size_t index : longest_ascending(row)) {
    ascending.push_back(marks[index]);
  }
  return ascending;
}

// How much of two sorted rows is the same: the share of what either has.
double common_share(const std::vector<std::uint64_t>& left,
                    const std::vector<std::uint64_t>& right) {
  std::size_t same = 0;
  for (std::size_t i = 0, k = 0; i < left.size() && k < right.size();) {
    if (left[i] == right[k]) {
      ++same;
      ++i;
      ++k;
    } else if (left[i] < right[k]) {
      ++i;
    } else {
      ++k;
    }
  }
  const std::size_t all = left.size() + right.size() - same;
  return all == 0 ? 0 : static_cast<double>(same) / static_cast<double>(all);
}

double common_share(const CodeSketch& left, const CodeSketch& right) {
  unsigned same = 0;
  unsigned all = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    all += left.at(i) != kEmptySketch || right.at(i) != kEmptySketch ? 1U : 0U;
    same += left.at(i) != kEmptySketch && left.at(i) == right.at(i) ? 1U : 0U;
  }
  return all == 0 ? 0 : static_cast<double>(same) / all;
}

}  // namespace

std::vector<std::size_t> longest_ascending(std::span<const std::size_t> row) {
  std::vector<std::size_t> ends;  // of the best part of each length
  std::vector<std::size_t> before(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto place =
        std::ranges::lower_bound(ends, row[i], {}, [&](std::size_t index) { return row[index]; });
    before[i] = place == ends.begin() ? row.size() : *std::prev(place);
    if (place == ends.end()) {
      ends.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<std::size_t> found(ends.size());
  std::size_t at = ends.empty() ? row.size() : ends.back();
  for (std::size_t i = ends.size(); i > 0; --i) {
    found[i - 1] = at;
    at = before[at];
  }
  return found;
}

PairState::PairState(const LinkedBuild& known, const LinkedBuild& program)
    : known_(known),
      program_(program),
      to_program_(known.functions.size(), kNoPair),
      to_known_(program.functions.size(), kNoPair),
      proofs_(program.functions.size(), PairProof::given) {
  for (const LinkedFunction& each : known_.functions) {
    ++with_code_[each.code].first;
  }
  for (const LinkedFunction& each : program_.functions) {
    ++with_code_[each.code].second;
  }
}

void PairState::join(std::uint32_t known, std::uint32_t program, PairProof proof) {
  proofs_[program] = proof;
  to_program_[known] = program;
  to_known_[program] = known;
  ++count_;
}

void PairState::part(std::uint32_t known) {
  to_known_[to_program_[known]] = kNoPair;
  to_program_[known] = kNoPair;
  --count_;
}

std::uint32_t PairState::with_code(Side side, std::uint64_t code) const {
  const auto found = with_code_.find(code);
  return found == with_code_.end() ? 0
         : side == Side::known     ? found->second.first
                                   : found->second.second;
}

std::uint64_t PairState::meaning(Side side, const LinkedReference& reference) const {
  const auto number = [&](std::uint64_t value) {
    return mixed(static_cast<std::uint64_t>(reference.kind), value) | 1U;
  };
  switch (reference.kind) {
    case LinkedKind::text:
    case LinkedKind::import:
      return number(reference.value);
    case LinkedKind::function: {
      const auto index = static_cast<std::uint32_t>(reference.value);
      const std::uint32_t other = partner(side, index);
      return other == kNoPair ? 0 : number(side == Side::known ? index : other);
    }
    case LinkedKind::data: {
      const auto& same = side == Side::known ? data_to_program_ : data_to_known_;
      const auto found = same.find(reference.value);
      return found == same.end() ? 0
                                 : number(side == Side::known ? reference.value : found->second);
    }
    case LinkedKind::other:
      break;
  }
  return 0;
}

void PairState::set_data(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& same) {
  data_to_program_.clear();
  data_to_known_.clear();
  for (const auto& [known, program] : same) {
    data_to_program_.emplace(known, program);
    data_to_known_.emplace(program, known);
  }
}

std::vector<std::uint64_t> PairState::meanings(Side side, std::uint32_t index) const {
  std::vector<std::uint64_t> found;
  for (const LinkedReference& each : references(side, index)) {
    if (const std::uint64_t meaning = this->meaning(side, each); meaning != 0) {
      found.push_back(meaning);
    }
  }
  return found;
}

// What both are known to refer to stands for itself; of what stands between two such, as many on
// both sides and of the same kinds, each stands for the other.
PairState::Places PairState::aligned(std::span<const LinkedReference> left,
                                     std::span<const LinkedReference> right) const {
  std::vector<std::uint64_t> one;
  std::vector<std::uint64_t> other;
  for (const LinkedReference& each : left) {
    one.push_back(meaning(Side::known, each));
  }
  for (const LinkedReference& each : right) {
    other.push_back(meaning(Side::program, each));
  }
  auto marks = common_marks(one, other);
  if (marks.empty()) {
    return {};
  }
  marks.emplace_back(left.size(), right.size());
  Places places;
  std::size_t from = 0;
  std::size_t to = 0;
  for (const auto& [end, other_end] : marks) {
    bool same = end - from == other_end - to;
    for (std::size_t i = 0; same && from + i < end; ++i) {
      same = left[from + i].kind == right[to + i].kind;
    }
    for (std::size_t i = 0; same && from + i < end; ++i) {
      places.emplace_back(from + i, to + i);
    }
    if (end < left.size()) {
      places.emplace_back(end, other_end);
    }
    from = end + 1;
    to = other_end + 1;
  }
  return places;
}

PairState::Agreement PairState::agreement(std::uint32_t known, std::uint32_t program) const {
  Agreement found;
  for_each_aligned(known, program, [&](const LinkedReference& left, const LinkedReference& right) {
    const std::uint64_t one = meaning(Side::known, left);
    const std::uint64_t other = meaning(Side::program, right);
    found.same += one != 0 && one == other ? 1U : 0U;
    // Texts and imports are changed in functions that stay what they are.
    const bool tells = left.kind == LinkedKind::function || left.kind == LinkedKind::data;
    found.other += tells && one != other ? 1U : 0U;
  });
  return found;
}

double PairState::likeness(std::uint32_t known, std::uint32_t program) const {
  const LinkedFunction& left = function(Side::known, known);
  const LinkedFunction& right = function(Side::program, program);
  const double code = common_share(left.sketch, right.sketch);
  auto one = meanings(Side::known, known);
  auto other = meanings(Side::program, program);
  std::ranges::sort(one);
  std::ranges::sort(other);
  constexpr double kMany = 6;  // references that tell as much as the code
  const double weight =
      std::min(1.0, static_cast<double>(std::min(one.size(), other.size())) / kMany);
  return (code + weight * common_share(one, other)) / (1 + weight);
}

}  // namespace whocall
