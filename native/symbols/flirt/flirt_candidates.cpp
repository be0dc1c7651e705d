#include "symbols/flirt/flirt_candidates.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "base/interrupt.h"
#include "base/long_work.h"

namespace whocall {
namespace {

// Bytes without which nothing is a module.
constexpr std::uint32_t kLeast = 8;
// Of all candidates, with their names and references.
constexpr std::size_t kMostKept = std::size_t{1} << 22U;
// Comparing costs no more than this many bytes for each byte of code, and then ends.
constexpr std::uint64_t kMostCompared = 256;

bool tells_something(std::byte byte) {
  return byte != std::byte{0x00} && byte != std::byte{0x90} && byte != std::byte{0xcc};
}

class Finder {
 public:
  Finder(const FlirtProgram& program, const FlirtIndex& index)
      : program_(program), index_(index), set_(index.set()) {}

  std::vector<FlirtCandidate> run() {
    const LongWork work("Comparing with FLIRT signatures", set_.library);
    most_ = program_.code_size() * kMostCompared;
    std::vector<std::uint32_t> patterns;
    std::size_t turn = 0;
    for (const Address start : program_.starts()) {
      check_interrupt_at(turn++, kManyEntries);
      const std::size_t before = found_.size();
      const ByteView code = program_.code_at(start);
      patterns.clear();
      index_.find(code.bytes(), patterns, compared_);
      if (patterns.size() > FlirtIndex::kMost) {
        continue;
      }
      for (const std::uint32_t pattern : patterns) {
        add_modules(start, code, set_.patterns[pattern], before + FlirtIndex::kMost);
      }
      if (found_.size() - before > FlirtIndex::kMost) {
        found_.resize(before);
      }
      if (is_over()) {
        break;
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_over() const { return compared_ > most_ || kept_ > kMostKept; }

  // Until more are found than `most`.
  void add_modules(Address start, ByteView code, const FlirtPattern& pattern, std::size_t most) {
    const std::uint32_t end = pattern.first_module + pattern.modules;
    for (std::uint32_t module = pattern.first_module; module < end; ++module) {
      check_interrupt_at(module, kManyEntries);
      if (found_.size() > most || is_over()) {
        break;
      }
      const auto weight = weight_at(pattern, set_.modules[module], code);
      if (weight && *weight >= kLeast && may_end(start, set_.modules[module])) {
        found_.push_back({start, module, *weight});
        kept_ += 1 + set_.modules[module].names + set_.modules[module].references;
        if (kept_ <= kMostKept) {
          add_branches(found_.back());
        }
      }
    }
  }

  bool may_end(Address start, const FlirtModule& module) {
    compared_ += module.size;
    return program_.may_end_at(start, start + module.size);
  }

  // How many bytes of the module tell that it stands there; a miss where it does not.
  std::optional<std::uint32_t> weight_at(const FlirtPattern& pattern, const FlirtModule& module,
                                         ByteView code) {
    compared_ += 1 + std::uint64_t{pattern.size};
    if (module.size > code.size() || module.size == 0) {
      return std::nullopt;
    }
    std::uint32_t weight = 0;
    for (std::size_t i = 0; i < pattern.size; ++i) {
      weight += (pattern.varies >> i & 1U) == 0 && tells_something(code.bytes()[i]) ? 1 : 0;
    }
    compared_ += std::uint64_t{module.sum_size} + module.runs;
    const auto checked = code.slice(module.checked, module.sum_size);
    if (module.sum_size != 0 && (!checked || flirt_sum(checked->bytes()) != module.sum)) {
      return std::nullopt;
    }
    for (const FlirtRun& run : std::span(set_.runs).subspan(module.first_run, module.runs)) {
      const auto there = code.slice(run.offset, run.size);
      const std::byte* wanted = set_.bytes.data() + run.bytes;
      if (!there || std::memcmp(there->bytes().data(), wanted, run.size) != 0) {
        return std::nullopt;
      }
      weight += run.size;
      compared_ += run.size;
    }
    return weight + module.sum_size;
  }

  void add_branches(FlirtCandidate& candidate) const {
    const FlirtModule& module = set_.modules[candidate.module];
    for (const FlirtReference& each :
         std::span(set_.references).subspan(module.first_reference, module.references)) {
      if (const auto target = program_.branch_target(candidate.address + each.offset)) {
        candidate.branches.push_back({each.text, *target});
      }
    }
  }

  const FlirtProgram& program_;
  const FlirtIndex& index_;
  const FlirtSet& set_;
  std::uint64_t most_ = 0;      // bytes
  std::uint64_t compared_ = 0;  // bytes
  std::uint64_t kept_ = 0;
  std::vector<FlirtCandidate> found_;
};

}  // namespace

std::vector<FlirtCandidate> find_flirt_candidates(const FlirtProgram& program,
                                                  const FlirtIndex& index) {
  return Finder(program, index).run();
}

}  // namespace whocall
