#include "unwind/code/confirmed_starts.h"

#include <algorithm>

#include "object/elf_decoder.h"

namespace whocall {
namespace {

// What is longer is no function, or one that holds data; then all guesses stand.
constexpr std::uint64_t kLongestSweep = std::uint64_t{1} << 18U;  // bytes

// Only the bytes say so: nobody calls it, no table tells of it, and no section begins there.
bool is_guess(const FunctionStart& start) {
  const StartEvidenceSet& evidence = start.evidence;
  return evidence.is_function() && !evidence.called() && !evidence.certain() &&
         !evidence.has(StartEvidence::section_start);
}

}  // namespace

ConfirmedStarts::ConfirmedStarts(const ElfFile& file, const Architecture& arch,
                                 const FunctionStarts& starts)
    : file_(file), starts_(starts), decoder_(decoder_for(file, arch)) {}

std::optional<AddressRange> ConfirmedStarts::function_at(Address link) {
  const auto all = starts_.all();
  const auto function = starts_.function_at(link);
  if (!function || decoder_ == nullptr) {
    return function;
  }
  auto first = std::ranges::lower_bound(all, function->begin, {}, &FunctionStart::address);
  const auto next = std::ranges::upper_bound(all, link, {}, &FunctionStart::address);
  const bool alone = !is_guess(*first) &&
                     (next == all.end() || next->address != function->end || !is_guess(*next));
  if (alone) {
    return function;
  }
  while (first != all.begin() && is_guess(*first)) {
    --first;
  }
  Address end = function->end;
  auto last = next;
  while (last != all.end() && last->address == end && is_guess(*last)) {
    const auto behind = starts_.function_at(last->address);
    end = behind ? behind->end : end;
    ++last;
  }
  const auto& guesses = guesses_in({first->address, end});
  const auto after = std::ranges::upper_bound(guesses, link);
  return AddressRange{after == guesses.begin() ? first->address : *std::prev(after),
                      after == guesses.end() ? end : *after};
}

const std::vector<Address>& ConfirmedStarts::guesses_in(const AddressRange& range) {
  const auto [found, fresh] = confirmed_.try_emplace(range.begin);
  if (!fresh) {
    return found->second;
  }
  const auto all = starts_.all();
  auto guess = std::ranges::upper_bound(all, range.begin, {}, &FunctionStart::address);
  const ByteView code = file_.at(range.begin);
  Address at = range.begin;
  for (; guess != all.end() && guess->address < range.end; ++guess) {
    while (at < guess->address && guess->address - range.begin <= kLongestSweep) {
      const auto instruction = decoder_->decode(code.from(at - range.begin), at);
      at += instruction && instruction->size != 0 ? instruction->size : 1U;
    }
    if (at == guess->address || guess->address - range.begin > kLongestSweep) {
      found->second.push_back(guess->address);
    }
  }
  return found->second;
}

}  // namespace whocall
