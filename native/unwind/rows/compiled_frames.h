// The unwind tables of one file, and the FDEs of them that were compiled so far.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "object/call_frame_info.h"
#include "unwind/rows/row.h"

namespace whocall {

// One row and whose tables gave it.
struct CfiRow {
  const UnwindRow* row = nullptr;  // null where the FDE says nothing at this address
  std::string_view owner;          // the path of the module
  AddressRange function;           // of the FDE, runtime addresses; empty: none is known
  CallFrameInfo::Format format = CallFrameInfo::Format::eh_frame;
};

class CompiledFrames {
 public:
  // `bias`: runtime address = link address + bias (modulo 2^64).
  CompiledFrames(std::string owner, Address bias) : owner_(std::move(owner)), bias_(bias) {}

  // Asked after those that were added before. False: there is nothing to add.
  bool add(const CallFrameInfo* info);

  // What the first table with an FDE for `runtime` says. Rows live as long as the object.
  CfiRow at(Address runtime);
  // Whether there is an FDE; compiles nothing.
  [[nodiscard]] bool covers(Address runtime) const;

 private:
  struct Section {
    const CallFrameInfo* info;
    std::unordered_map<std::uint64_t, std::vector<UnwindRow>> compiled{};  // by FDE offset
  };
  [[nodiscard]] CfiRow row_of(Section& section, const Fde& fde, Address link) const;

  std::string owner_;
  Address bias_;
  std::vector<Section> sections_;
};

}  // namespace whocall
