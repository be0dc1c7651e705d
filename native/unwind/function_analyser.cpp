#include "unwind/function_analyser.h"

#include <algorithm>
#include <utility>

namespace whocall {
namespace {

// A function larger than this is data, or code whose start was guessed wrong.
constexpr std::uint64_t kLargestFunction = 1U << 20U;

}  // namespace

FunctionAnalyser::FunctionAnalyser(const ProcessImage& process, CodeMap& code)
    : process_(process),
      code_(code),
      no_return_(process, code),
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

FollowedFunction FunctionAnalyser::follow(const AddressRange& function) {
  // What is called, or has a name, is entered at its start; all else may be a part of a function
  // that others jump into.
  if (code_.is_called(function.begin)) {
    return follow(function, {});
  }
  return follow(function, entries_by_jump(function));
}

FollowedFunction FunctionAnalyser::follow(const AddressRange& function,
                                          std::vector<FunctionExit> entries) {
  std::vector<std::byte> bytes(std::min(function.size(), kLargestFunction));
  bytes.resize(process_.memory->read(function.begin, bytes));
  const FunctionCode code{ByteView(bytes, process_.arch->endian), function.begin,
                          std::move(entries), code_.has_exact_bounds(function.begin),
                          [&](Address target) { return no_return_.never_returns(target); }};
  return follow_function(code, *process_.arch, *decoder_);
}

// Folklore. Situation: compilers move unlikely blocks out of a function, into a part of its own far
// away. Example: gcc's foo.cold in .text.unlikely; it begins with the stack as deep as foo had it.
// Remedy: what nobody calls is entered by jumps; the parts that jump into it say how.
std::vector<FunctionExit> FunctionAnalyser::entries_by_jump(const AddressRange& function) {
  std::vector<FunctionExit> entries;
  const AbstractState called(*process_.arch);
  for (const AddressRange& source : code_.functions_jumping_into(function)) {
    for (FunctionExit& exit : follow(source, {}).exits) {
      if (function.contains(exit.target) && exit.state.knows_frame()) {
        entries.push_back(std::move(exit));
      }
    }
  }
  // Tail calls arrive as calls do.
  const bool only_tail_calls = std::ranges::all_of(
      entries, [&](const FunctionExit& entry) { return !entry.state.disagrees(called); });
  return only_tail_calls ? std::vector<FunctionExit>() : entries;
}

}  // namespace whocall
