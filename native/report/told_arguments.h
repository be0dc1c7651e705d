// What a debugger is told of the values that the functions on a stack were handed.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "process/process_image.h"
#include "report/argument_text.h"
#include "report/form/named_walk.h"
#include "symfile/argument_info.h"

namespace whocall {

// A symbol file for the process, at its own addresses.
struct ArgumentFile {
  std::vector<std::byte> bytes;  // empty when there is nothing to tell
  std::size_t functions = 0;     // of which it tells
};

class ToldArguments {
 public:
  // All must outlive it.
  ToldArguments(CodeValues& code, Symbolizer& symbolizer)
      : code_(code), symbolizer_(symbolizer), texts_(code, symbolizer, {}) {}

  // Takes the innermost frames of a thread: of each kMostFrames, and of all kMostOfProcess. What
  // may have changed since a call, and what debug info tells of itself, is left out.
  void add(const Thread& thread, const NamedWalk& walk);

  // Of the functions of these modules.
  [[nodiscard]] ArgumentFile file_of(const std::vector<const Module*>& modules) const;

  static constexpr std::size_t kMostFrames = 256;
  static constexpr std::size_t kMostOfProcess = std::size_t{1} << 16U;

 private:
  bool is_told_by_debug_info(const FrameFacts& facts);
  void add_frame(const FrameFacts& facts, const FrameArguments& arguments);
  void add_values(WrittenFunction& function, const FrameFacts& facts,
                  const FrameArguments& arguments) const;

  CodeValues& code_;
  Symbolizer& symbolizer_;
  ArgumentText texts_;
  std::map<const Module*, std::map<Address, WrittenFunction>> functions_;  // by link address
  std::size_t frames_ = 0;                                                 // of all threads
};

}  // namespace whocall
