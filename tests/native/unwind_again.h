// Walks that know from earlier ones what there is at an address, beside walks that do not.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string_view>

#include "unwind_process.h"

namespace whocall::test {

inline void check_same(const Backtrace& quick, const Backtrace& full) {
  REQUIRE(quick.frames.size() == full.frames.size());
  for (std::size_t i = 0; i < full.frames.size(); ++i) {
    const Frame& one = quick.frames[i];
    const Frame& other = full.frames[i];
    CHECK(one.pc == other.pc);
    CHECK(one.lookup_pc() == other.lookup_pc());
    CHECK(one.sp == other.sp);
    CHECK(one.cfa == other.cfa);
    CHECK(one.trust == other.trust);
    CHECK(one.evidence.list() == other.evidence.list());
    CHECK(one.interrupted == other.interrupted);
  }
  CHECK(quick.stop.reason == full.stop.reason);
  CHECK(quick.stop.detail == full.stop.detail);
}

// What a walk says after another one went through the same addresses.
struct Again {
  explicit Again(const TestProcess& process) : image(process.image()), walker(*image) {}
  void check(const TestProcess& process, TestProcess::Values values, const WalkOptions& options,
             std::string_view wanted) {
    Thread thread;
    thread.registers = process.registers(values);
    WalkOptions explained = options;
    explained.explain = true;
    const Backtrace full = Walker(*image).walk(thread, explained);
    check_same(walker.walk(thread, options), full);
    check_same(walker.walk(thread, options), full);
    CHECK(pcs(full) == wanted);
  }
  std::unique_ptr<ProcessImage> image;
  Walker walker;
};

}  // namespace whocall::test
