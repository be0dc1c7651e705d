#include "unwind/analysis/function_analyser.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "process/process_decoder.h"
#include "unwind/analysis/function_reader.h"
#include "unwind/analysis/linkage_table.h"
#include "unwind/analysis/pushed_before.h"
#include "unwind/analysis/return_flow.h"

namespace whocall {
namespace {

// A function larger than this is data, or code whose start was guessed wrong.
constexpr std::uint64_t kLargestFunction = 1U << 20U;
constexpr std::uint64_t kLargestGuess = 1U << 18U;  // where nothing tells the bounds

// A part may be entered from a part that is entered from a part: so far back goes the question how.
constexpr int kDeepestJump = 2;

// Folklore. Situation: a part stands so near that a short jump reaches it, which the search for
// jumps between functions leaves out. Example: die.cold.0, 32 bytes behind die. Remedy: where
// nothing else leads to it, the function before it and the one behind it are asked.
std::vector<AddressRange> neighbours_of(const AddressRange& function, CodeMap& code) {
  std::vector<AddressRange> found;
  for (const Address place : {function.begin - 1, function.end}) {
    if (const auto neighbour = code.function_at(place);
        neighbour && *neighbour != function && neighbour->size() <= kLargestFunction) {
      found.push_back(*neighbour);
    }
  }
  return found;
}

}  // namespace

FunctionAnalyser::FunctionAnalyser(const ProcessImage& process, CodeMap& code)
    : process_(process),
      code_(code),
      no_return_(process, code),
      callee_pops_(process, code, no_return_),
      landing_pads_(process),
      decoder_(decoder_for(process)) {}

const UnwindRow* FunctionAnalyser::row_at(Address pc) {
  const auto function = code_.function_at(pc);
  const AnalysedFunction* analysed = function ? rows_of(*function) : nullptr;
  return analysed != nullptr ? analysed->row_at(pc) : nullptr;
}

const UnwindRow* FunctionAnalyser::row_behind_call(Address return_address) {
  if (decoder_ == nullptr) {
    return nullptr;
  }
  auto [found, fresh] = rows_behind_calls_.try_emplace(return_address);
  AnalysedFunction& known = found->second;
  if (fresh) {
    if (auto row =
            whocall::row_behind_call(return_address, process_, *decoder_, known.expressions)) {
      known.rows.push_back(std::move(*row));
    }
  }
  return known.rows.empty() ? nullptr : &known.rows.front();
}

const UnwindRow* FunctionAnalyser::row_to_return(Address pc) {
  if (decoder_ == nullptr) {
    return nullptr;
  }
  auto [found, fresh] = rows_to_return_.try_emplace(pc);
  AnalysedFunction& known = found->second;
  if (fresh) {
    const auto never_returns = [&](Address target) { return no_return_.never_returns(target); };
    if (auto row = whocall::row_to_return(pc, process_, *decoder_, never_returns, known.expressions,
                                          followed_)) {
      known.rows.push_back(std::move(*row));
    }
  }
  return known.rows.empty() ? nullptr : &known.rows.front();
}

const AnalysedFunction* FunctionAnalyser::rows_of(const AddressRange& function) {
  const bool delimited = code_.end_of_delimited(function) != function.begin;
  const std::uint64_t largest = delimited ? kLargestFunction : kLargestGuess;
  if (decoder_ == nullptr || function.size() > largest) {
    return nullptr;
  }
  auto [found, fresh] = rows_.try_emplace(function.begin);
  if (fresh) {
    found->second = make_rows(follow(function).points);
  }
  return &found->second;
}

const std::vector<UnwindRow>& FunctionAnalyser::rows_at_jumps(Address target) {
  constexpr std::uint64_t kLongest = 512;  // bytes: such functions do little else
  const auto [known, fresh] = rows_at_jumps_.try_emplace(target);
  const auto function = fresh ? code_.function_at(target) : std::nullopt;
  if (decoder_ == nullptr || !function || function->begin != target ||
      function->size() > kLongest) {
    return known->second.rows;
  }
  const std::vector<std::byte> bytes = bytes_of(*function);
  const ByteView code(bytes, process_.arch->abi.endian);
  std::vector<AnalysedPoint> jumps = follow(*function).points;
  std::erase_if(jumps, [&](const AnalysedPoint& point) {
    const auto jump = decoder_->decode(code.from(point.range.begin - target), point.range.begin);
    return !jump || jump->flow != Instruction::Flow::indirect_jump;
  });
  known->second = make_rows(jumps);
  std::erase_if(known->second.rows, [&](const UnwindRow& row) {
    return row.cfa.kind == CfaRule::Kind::register_offset &&
           (row.cfa.base != process_.arch->registers.sp ||
            row.cfa.offset <= process_.arch->frame.pushed_by_call);
  });
  return known->second.rows;
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
  std::vector<FunctionExit> entries;
  if (!code_.is_called(function.begin)) {
    if (depth == 0 && function.begin % process_.arch->code.function_alignment != 0) {
      return {};  // a part, of which too little is known
    }
    entries = depth > 0 ? entries_from_outside(function, depth - 1) : entries;
  }
  FollowedFunction followed = follow(function, entries);
  if (depth == 0 || !followed.has_unreached) {
    return followed;
  }
  auto returns = returns_from_parts(function, followed.exits);
  if (returns.empty()) {
    return followed;
  }
  if (entries.empty()) {
    entries.push_back({function.begin, AbstractState(*process_.arch)});
  }
  std::ranges::move(returns, std::back_inserter(entries));
  return follow(function, std::move(entries));
}

// Folklore. Situation: some blocks of a function are entered only from its cold part. Example: gcc
// puts the call that raises an error into foo.cold, and the return behind it back into foo. Remedy:
// where code of a function is left unreached, its parts are followed from where it jumps to them.
std::vector<FunctionExit> FunctionAnalyser::returns_from_parts(
    const AddressRange& function, const std::vector<FunctionExit>& exits) {
  constexpr std::size_t kEnough = 8;
  std::map<Address, std::pair<AddressRange, std::vector<FunctionExit>>> parts;
  for (const FunctionExit& exit : exits) {
    const auto part = code_.function_at(exit.target);
    if (!exit.guessed && part && !code_.is_called(part->begin) &&
        part->size() <= kLargestFunction &&
        (parts.contains(part->begin) || parts.size() < kEnough)) {
      auto& [range, entries] = parts[part->begin];
      range = *part;
      entries.push_back(exit);
    }
  }
  std::vector<FunctionExit> returns;
  for (auto& [begin, part] : parts) {
    for (FunctionExit& exit : follow(part.first, std::move(part.second)).exits) {
      if (!exit.guessed && function.contains(exit.target) && exit.state.knows_frame()) {
        returns.push_back(std::move(exit));
      }
    }
  }
  return returns;
}

std::optional<std::bitset<kRegisterLimit>> FunctionAnalyser::written_by(Address target) {
  constexpr std::uint64_t kLongestHelper = 4096;  // bytes
  const auto [known, fresh] = written_by_.try_emplace(target);
  if (fresh && decoder_ != nullptr) {
    const std::vector<std::byte> bytes = bytes_of({target, target + kLongestHelper});
    const ByteView code(bytes, process_.arch->abi.endian);
    known->second = FunctionReader(code, target, *process_.arch, *decoder_).written_by(0);
  }
  return known->second;
}

FollowedFunction FunctionAnalyser::follow(const AddressRange& function,
                                          std::vector<FunctionExit> entries) {
  const std::vector<std::byte> bytes = bytes_of(function);
  followed_ += bytes.size();
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; })) {
    return {};  // it was blanked
  }
  FunctionCode code{ByteView(bytes, process_.arch->abi.endian),
                    function.begin,
                    std::move(entries),
                    landing_pads_.of_function(function.begin),
                    code_.end_of_delimited(function) - function.begin,
                    [&](Address target) { return no_return_.never_returns(target); },
                    [&](Address target) { return written_by(target); },
                    [&](Address target) { return callee_pops_.popped_by(target); }};
  FollowedFunction followed = follow_function(code, *process_.arch, *decoder_);
  const std::int64_t pushed =
      code.entries.empty() ? pushed_before(followed, code.code, *process_.arch, *decoder_) : 0;
  if (pushed == 0) {
    return followed;
  }
  AbstractState entered(*process_.arch);
  const Register sp = process_.arch->registers.sp;
  entered.apply({Effect::Kind::set, sp, sp, -pushed});
  code.entries.push_back({function.begin, entered});
  return follow_function(code, *process_.arch, *decoder_);
}

std::vector<FunctionExit> FunctionAnalyser::linkage_entries(const AddressRange& function) {
  const auto table = code_.linkage_table_at(function.begin);
  if (!table) {
    return {};
  }
  // Only the slots of this function: a table has thousands, and a damaged file tells any number.
  const Address before = (function.begin - table->range.begin) % table->slot_size;
  const AddressRange slots{function.begin - before, std::min(function.end, table->range.end)};
  const std::vector<std::byte> bytes = bytes_of(slots);
  auto entries =
      linkage_table_entries(ByteView(bytes, process_.arch->abi.endian), slots.begin,
                            table->range.begin, table->slot_size, *process_.arch, *decoder_);
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
  if (sources.empty()) {
    sources = neighbours_of(function, code_);
  }
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
  complete_entries(function.begin, entries);
  return entries;
}

// Folklore. Situation: jumps with different depths seem to go to the first instruction of a part.
// Example: the default of a switch that cannot happen is `ja` to the end of the function's cold
// part, where the cold part of the next function begins; and a function that others end by jumping
// to (tail calls) has sources that were read wrong. Remedy: at an aligned start those count that
// arrive as calls do, elsewhere the others. And an aligned start to which nothing seems to jump is
// called through pointers, though parts of the function jump back into its middle.
void FunctionAnalyser::complete_entries(Address start, std::vector<FunctionExit>& entries) const {
  const AbstractState called(*process_.arch);
  const auto arrives = [&](const FunctionExit& entry, bool as_called) {
    return entry.target == start && entry.state.disagrees(called) != as_called;
  };
  const auto any = [&](bool as_called) {
    return std::ranges::any_of(entries, [&](const auto& one) { return arrives(one, as_called); });
  };
  const bool part = start % process_.arch->code.function_alignment != 0;
  if (!part && !any(true) && !any(false) && !entries.empty()) {
    entries.push_back({start, called});
  }
  if (any(true) && any(false)) {
    std::erase_if(entries, [&](const FunctionExit& entry) { return arrives(entry, part); });
  }
}

}  // namespace whocall
