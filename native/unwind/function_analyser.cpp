#include "unwind/function_analyser.h"

#include <algorithm>
#include <utility>

#include "unwind/linkage_table.h"

namespace whocall {
namespace {

// A function larger than this is data, or code whose start was guessed wrong.
constexpr std::uint64_t kLargestFunction = 1U << 20U;

// A part may be entered from a part that is entered from a part: so far back goes the question how.
constexpr int kDeepestJump = 2;

}  // namespace

FunctionAnalyser::FunctionAnalyser(const ProcessImage& process, CodeMap& code)
    : process_(process),
      code_(code),
      no_return_(process, code),
      landing_pads_(process),
      decoder_(process.arch->make_decoder != nullptr ? process.arch->make_decoder() : nullptr) {}

const UnwindRow* FunctionAnalyser::row_at(Address pc) {
  const auto function = code_.function_at(pc);
  if (decoder_ == nullptr || !function || function->size() > kLargestFunction) {
    return nullptr;
  }
  auto [found, fresh] = rows_.try_emplace(function->begin);
  if (fresh) {
    found->second = make_rows(follow(*function).points);
  }
  return found->second.row_at(pc);
}

std::vector<std::byte> FunctionAnalyser::bytes_of(const AddressRange& range) const {
  std::vector<std::byte> bytes(std::min(range.size(), kLargestFunction));
  bytes.resize(process_.memory->read(range.begin, bytes));
  return bytes;
}

FollowedFunction FunctionAnalyser::follow(const AddressRange& function) {
  return follow(function, kDeepestJump);
}

FollowedFunction FunctionAnalyser::follow(const AddressRange& function, int depth) {
  if (auto entries = linkage_entries(function); !entries.empty()) {
    return follow(function, std::move(entries));
  }
  // What is called, or has a name, is entered at its start; all else may be a part of a function
  // that others jump into.
  if (depth == 0 || code_.is_called(function.begin)) {
    return follow(function, std::vector<FunctionExit>());
  }
  return follow(function, entries_from_outside(function, depth - 1));
}

FollowedFunction FunctionAnalyser::follow(const AddressRange& function,
                                          std::vector<FunctionExit> entries) {
  const std::vector<std::byte> bytes = bytes_of(function);
  const FunctionCode code{ByteView(bytes, process_.arch->endian),
                          function.begin,
                          std::move(entries),
                          landing_pads_.of_function(function.begin),
                          code_.has_exact_bounds(function.begin),
                          [&](Address target) { return no_return_.never_returns(target); }};
  return follow_function(code, *process_.arch, *decoder_);
}

std::vector<FunctionExit> FunctionAnalyser::linkage_entries(const AddressRange& function) {
  const auto table = code_.linkage_table_at(function.begin);
  if (!table || process_.arch->return_address_size_on_stack == 0) {
    return {};
  }
  const std::vector<std::byte> bytes = bytes_of(table->range);
  auto entries = linkage_table_entries(ByteView(bytes, process_.arch->endian), table->range,
                                       table->slot_size, *process_.arch, *decoder_);
  std::erase_if(entries, [&](const auto& entry) { return !function.contains(entry.target); });
  return entries;
}

// Folklore. Situation: compilers move unlikely blocks out of a function, into a part of its own far
// away. Example: gcc's foo.cold in .text.unlikely; it begins with the stack as deep as foo had it.
// Remedy: what nobody calls is entered by jumps, or by exceptions; the parts that they come from
// say how.
std::vector<FunctionExit> FunctionAnalyser::entries_from_outside(const AddressRange& function,
                                                                 int depth) {
  std::vector<AddressRange> sources = code_.functions_jumping_into(function);
  std::ranges::copy(landing_pads_.functions_landing_in(function), std::back_inserter(sources));
  std::vector<FunctionExit> entries;
  for (const AddressRange& source : sources) {
    if (source == function) {
      continue;
    }
    for (FunctionExit& exit : follow(source, depth).exits) {
      if (function.contains(exit.target) && exit.state.knows_frame()) {
        entries.push_back(std::move(exit));
      }
    }
  }
  drop_false_entries(function.begin, entries);
  return entries;
}

// Folklore. Situation: jumps with different depths seem to go to the first instruction of a part.
// Example: the default of a switch that cannot happen is `ja` to the end of the function's cold
// part, where the cold part of the next function begins; and a function that others end by jumping
// to (tail calls) has sources that were read wrong. Remedy: compilers align functions, and not
// their cold parts. At an aligned start those count that arrive as calls do, else the others.
void FunctionAnalyser::drop_false_entries(Address start, std::vector<FunctionExit>& entries) const {
  constexpr Address kFunctionAlignment = 16;
  const AbstractState called(*process_.arch);
  const auto arrives = [&](const FunctionExit& entry, bool as_called) {
    return entry.target == start && entry.state.disagrees(called) != as_called;
  };
  const auto any = [&](bool as_called) {
    return std::ranges::any_of(entries, [&](const auto& one) { return arrives(one, as_called); });
  };
  if (any(true) && any(false)) {
    const bool part = start % kFunctionAlignment != 0;
    std::erase_if(entries, [&](const FunctionExit& entry) { return arrives(entry, part); });
  }
}

}  // namespace whocall
