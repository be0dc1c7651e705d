// Exception tables as GCC writes them: the entry of a function in .eh_frame, and its call sites.
#pragma once

#include "unwind_code.h"

namespace whocall::test {

struct CallSiteEntry {
  std::uint64_t start = 0;   // bytes from the function's start
  std::uint64_t length = 0;  // bytes
  std::uint64_t pad = 0;     // bytes from the base of the landing pads; 0: none
};

// `landing_base` 0: pads count from the function's start. Everything is uleb128.
inline Bytes exception_table(const std::vector<CallSiteEntry>& sites, Address landing_base = 0) {
  Bytes table;
  Bytes entries;
  for (const CallSiteEntry& site : sites) {
    entries.uleb(site.start).uleb(site.length).uleb(site.pad).uleb(0);
  }
  if (landing_base == 0) {
    table.u8(0xff);
  } else {
    table.u8(0x00).u64(landing_base);
  }
  return table.u8(0xff).u8(0x01).uleb(entries.size()).append(entries);
}

// .eh_frame of x86-64 functions, with absolute addresses; `table` 0: no exceptions are caught.
class ExceptionFrames {
 public:
  ExceptionFrames() {
    Bytes body = Bytes().u32(0).u8(1).text("zL").uleb(1).sleb(-8).u8(16).uleb(1).u8(0x00);
    entry(body.append(Bytes{0x0c, 7, 8, 0x80 | 16, 1}));  // CFA = rsp + 8, ra at CFA - 8
  }
  void function(AddressRange range, Address table) {
    Bytes body = Bytes().u32(bytes_.size() + 4).u64(range.begin).u64(range.size());
    entry(body.uleb(8).u64(table));
  }
  [[nodiscard]] CodeSection section() const {
    Bytes all = bytes_;
    return {.name = ".eh_frame", .address = 0x408000, .bytes = all.u32(0)};
  }

 private:
  void entry(Bytes body) {
    body.align(4);
    bytes_.u32(body.size()).append(body);
  }
  Bytes bytes_;
};

}  // namespace whocall::test
