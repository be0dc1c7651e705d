// Functions in memory that no file holds, in mappings small and huge.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "arch/x86/x86_64_facts.h"
#include "unwind/code/anonymous_code.h"

namespace whocall::test {
namespace {

constexpr Address kHeap = 0x7000'0000'0000;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kFunction = 64;  // bytes, of each

// One function behind the other, in all of a heap. It counts what is read of it.
class FunctionsEverywhere final : public Memory {
 public:
  explicit FunctionsEverywhere(std::uint64_t size) : end_(kHeap + size) {
    // push %rbp; mov %rsp,%rbp; call *%rax; pop %rbp; ret; and zeros
    constexpr std::array<unsigned, 8> kCode{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd0, 0x5d, 0xc3};
    for (std::size_t at = 0; at < code_.size(); ++at) {
      const std::size_t place = at % kFunction;
      code_[at] = static_cast<std::byte>(place < kCode.size() ? kCode[place] : 0);
    }
  }

  [[nodiscard]] std::span<const std::byte> run_at(Address address) const override {
    if (address < kHeap || address >= end_) {
      return {};
    }
    const auto run = std::span<const std::byte>(code_).subspan((address - kHeap) % code_.size());
    const auto rest = run.first(std::min<std::uint64_t>(run.size(), end_ - address));
    read_ += rest.size();
    return rest;
  }

  [[nodiscard]] std::uint64_t bytes_read() const { return read_; }

 private:
  Address end_;
  std::array<std::byte, 4096> code_{};
  mutable std::uint64_t read_ = 0;
};

struct Heap {
  explicit Heap(std::uint64_t size) {
    auto memory = std::make_unique<FunctionsEverywhere>(size);
    functions = memory.get();
    process.arch = &kX86_64;
    process.memory = std::move(memory);
    Mapping mapping;
    mapping.range = {kHeap, kHeap + size};
    mapping.readable = mapping.executable = true;
    process.mappings.push_back(mapping);
  }

  ProcessImage process;
  const FunctionsEverywhere* functions = nullptr;
};

TEST_CASE("anonymous code: functions have their bounds wherever in a heap they stand") {
  for (const std::uint64_t size : {kMiB, 1024 * kMiB}) {
    const Heap heap(size);
    AnonymousCode code(heap.process);
    for (const std::uint64_t place : {std::uint64_t{0}, size / 2 - 1, size / 2, size - 1}) {
      CAPTURE(place);
      const Address begin = kHeap + place / kFunction * kFunction;
      const auto function = code.function_at(kHeap + place);
      REQUIRE(function);
      CHECK(function->begin == begin);
      CHECK(function->end == begin + kFunction);
    }
    CHECK_FALSE(code.function_at(kHeap - 1));
    CHECK_FALSE(code.function_at(kHeap + size));
    CHECK(heap.functions->bytes_read() < 16 * kMiB);
  }
}

// A recursion whose functions lie all over the heap.
TEST_CASE("anonymous code: no heap is read as a whole") {
  const Heap heap(4096 * kMiB);
  AnonymousCode code(heap.process);
  std::size_t found = 0;
  for (std::uint64_t place = 0; place < 4096 * kMiB; place += 16 * kMiB) {
    found += code.function_at(kHeap + place) ? 1U : 0U;
  }
  CHECK(found > 32);
  CHECK(heap.functions->bytes_read() <= 130 * kMiB);
}

}  // namespace
}  // namespace whocall::test
