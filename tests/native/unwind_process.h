// A process image put together from literal pieces: code with calls in it, stacks, modules.
#pragma once

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "memory/segment_memory.h"
#include "process/process_image.h"
#include "unwind/strategies/strategies.h"
#include "unwind/walk/walker.h"
#include "unwind_module.h"
#include "unwind_stack.h"

namespace whocall::test {

class TestProcess {
 public:
  explicit TestProcess(const Architecture& arch) : arch_(arch) {}

  // `size` bytes of executable memory, filled with int3: nothing in it reads as a call.
  void code(Address begin, std::size_t size) {
    map(begin, std::vector<std::byte>(size, std::byte{0xcc}), "r-x");
  }
  void stack(const Stack& stack) { map(stack.base(), stack.bytes(), "rw-"); }
  void map(Address begin, std::vector<std::byte> bytes, std::string_view protection) {
    regions_.push_back({begin, std::move(bytes), std::string(protection)});
  }
  // A mapping of that path whose bytes nobody kept.
  void map_unread(const std::string& path, AddressRange range, std::string_view protection) {
    regions_.push_back({range.begin, {}, std::string(protection), range.size(), path});
  }
  // Overwrites bytes that were mapped before.
  void put(Address address, const Bytes& bytes) {
    for (Region& region : regions_) {
      if (address >= region.begin && address - region.begin < region.bytes.size()) {
        std::ranges::copy(bytes.get(), region.bytes.begin() + (address - region.begin));
        return;
      }
    }
    throw std::logic_error("nothing is mapped at " + hex(address));
  }
  // A call of `target` that returns to `return_address`.
  void call(Address return_address, Address target) {
    put(return_address - 5, Bytes{0xe8}.u32(target - return_address));
  }
  void indirect_call(Address return_address) {
    put(return_address - 2, {0xff, 0xd0});  // call *%rax
  }
  // Link addresses are runtime addresses minus `bias`.
  void module(const std::string& path, const ModuleParts& parts, bool is_executable = false,
              Address bias = 0) {
    module(path, make_module(arch_, parts), parts.code, is_executable, bias);
  }
  // `range`: link addresses.
  void module(const std::string& path, std::shared_ptr<const ElfFile> file, AddressRange range,
              bool is_executable = false, Address bias = 0) {
    Module module;
    module.path = path;
    module.range = {range.begin + bias, range.end + bias};
    module.bias = bias;
    module.state = ModuleState::found;
    module.is_executable = is_executable;
    module.file = std::move(file);
    modules_.push_back(std::move(module));
  }

  // The image as described so far; the fixture must outlive it.
  [[nodiscard]] std::unique_ptr<ProcessImage> image() const {
    auto image = std::make_unique<ProcessImage>();
    std::vector<SegmentMemory::Segment> segments;
    for (const Region& region : regions_) {
      segments.push_back({region.begin, region.bytes});
      Mapping mapping;
      mapping.range = {region.begin, region.begin + region.bytes.size() + region.unread};
      mapping.path = region.path;
      mapping.readable = region.protection[0] == 'r';
      mapping.writable = region.protection[1] == 'w';
      mapping.executable = region.protection[2] == 'x';
      image->mappings.push_back(mapping);
    }
    std::ranges::sort(image->mappings, {},
                      [](const Mapping& mapping) { return mapping.range.begin; });
    image->arch = &arch_;
    image->memory = std::make_unique<SegmentMemory>(std::move(segments));
    image->modules = modules_;
    std::ranges::sort(image->modules, {}, [](const Module& module) { return module.range.begin; });
    return image;
  }

  using Values = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;
  [[nodiscard]] Registers registers(Values values) const {
    Registers registers;
    for (const auto& [name, value] : values) {
      registers.set(arch_.register_named(name).value(), value);
    }
    return registers;
  }
  [[nodiscard]] Backtrace walk(Values values, const WalkOptions& options = {}) const {
    const auto process = image();
    Thread thread;
    thread.registers = registers(values);
    return Walker(*process).walk(thread, options);
  }

 private:
  struct Region {
    Address begin = 0;
    std::vector<std::byte> bytes;
    std::string protection;
    std::size_t unread = 0;  // bytes
    std::string path{};
  };

  const Architecture& arch_;
  std::deque<Region> regions_;
  std::vector<Module> modules_;
};

// Every strategy but these is switched off.
inline WalkOptions only(std::initializer_list<std::string_view> names) {
  WalkOptions options;
  for (const std::string& name : strategy_names()) {
    if (std::ranges::find(names, name) == names.end()) {
      options.without.push_back(name);
    }
  }
  return options;
}

// "0x401000 0x402000": one word a frame, innermost first.
inline std::string pcs(const Backtrace& backtrace) {
  std::string text;
  for (const Frame& frame : backtrace.frames) {
    text += (text.empty() ? "" : " ") + hex(frame.pc);
  }
  return text;
}

// "context cfi frame-pointer"
inline std::string trusts(const Backtrace& backtrace) {
  std::string text;
  for (const Frame& frame : backtrace.frames) {
    text += (text.empty() ? "" : " ") + std::string(to_string(frame.trust));
  }
  return text;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace whocall::test
