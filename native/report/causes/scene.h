// The moment of a crash: what its causes are read from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/operation.h"
#include "arguments/code_values.h"
#include "base/address.h"
#include "process/process_image.h"
#include "report/causes/accesses.h"
#include "report/form/named_walk.h"

namespace whocall {

inline constexpr Address kNearNull = 4096;    // bytes: the first page, which Linux maps for nobody
inline constexpr Address kLongestFetch = 16;  // bytes of an instruction, with room

// One thing that is known about a crash.
struct Fact {
  std::string_view kind;  // "null-call", "stack-overflow", ...
  std::string text;       // a sentence without its full stop, as "it called address 0"
  std::string proof;      // what shows it
};

// An address, and what shows that it is that.
struct ShownAddress {
  Address address = 0;
  std::string proof;
};

class Scene {
 public:
  // Of a thread that took a signal of this name; `walk` is its whole walk. All must outlive it.
  // `values`: null where nobody asks where values came from.
  Scene(const ProcessImage& image, const Thread& thread, const NamedWalk& walk,
        std::string_view signal, CodeValues* values);

  [[nodiscard]] const ProcessImage& image() const { return image_; }
  [[nodiscard]] const Architecture& arch() const { return *image_.arch; }
  [[nodiscard]] const Thread& thread() const { return thread_; }
  [[nodiscard]] CodeValues* values() const { return values_; }
  [[nodiscard]] const Registers& registers() const { return thread_.registers; }
  [[nodiscard]] const NamedWalk& walk() const { return walk_; }
  [[nodiscard]] std::string_view signal() const { return signal_; }
  [[nodiscard]] std::optional<int> code() const;  // si_code

  [[nodiscard]] bool signal_is(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool is_memory_fault() const { return signal_is({"SIGSEGV", "SIGBUS"}); }

  // The address that the fault is about, where the kernel tells it, or else the instruction and
  // what is mapped.
  [[nodiscard]] const std::optional<ShownAddress>& fault() const { return fault_; }
  // What the kernel says of the fault; empty where it says nothing.
  [[nodiscard]] std::string_view meaning() const;

  // The process that sent the signal, if one did and is told.
  [[nodiscard]] std::optional<std::uint32_t> sender() const;
  // Whether a process sent the signal: nothing that the program did is to blame then.
  [[nodiscard]] bool was_sent() const;

  [[nodiscard]] Address pc() const { return pc_; }
  [[nodiscard]] Address sp() const { return sp_; }
  // The instruction at pc as assemblers write it; empty where none is to be read.
  [[nodiscard]] const std::string& instruction() const { return instruction_; }
  // The same with its operands; a miss where none is to be read.
  [[nodiscard]] const std::optional<Operation>& operation() const { return operation_; }
  // What memory it accesses, as far as the registers tell.
  [[nodiscard]] std::span<const Access> accesses() const { return accesses_.known; }
  // What that is of which they do not tell where.
  [[nodiscard]] std::span<const Use> accesses_elsewhere() const { return accesses_.elsewhere; }
  // The value of its only operand; a miss where that is not known.
  [[nodiscard]] std::optional<std::uint64_t> operand() const;

  // Whether it is proved that no code is at pc.
  [[nodiscard]] bool is_nowhere() const { return is_nowhere_; }
  // Whether an instruction can stand at an address, by the map of the memory. True where that does
  // not tell, as of cores without their files.
  [[nodiscard]] bool is_code(Address address) const;
  // Whether it is an address that the processor can have.
  [[nodiscard]] bool is_canonical(Address address) const;
  [[nodiscard]] Address wrapped(Address address) const { return address & arch().address_mask(); }
  // A code pointer without ARM's bit for T32.
  [[nodiscard]] Address without_mode(Address address) const;
  [[nodiscard]] std::optional<Address> word_at(Address address) const;  // a pointer
  // What calls leave their return address in, where that is a register.
  [[nodiscard]] std::optional<Address> link_register() const;
  [[nodiscard]] std::string_view link_name() const;  // of it
  // Whether the instruction in front of a return address is a call that may have led there: of that
  // address, or of a pointer. A register may still hold the return address of an earlier call.
  [[nodiscard]] bool may_have_called(Address return_address, Address target) const;

  // A miss where there are not so many.
  [[nodiscard]] std::optional<FrameFacts> frame(std::size_t level) const;

 private:
  [[nodiscard]] std::optional<Address> told_address() const;
  [[nodiscard]] std::optional<ShownAddress> find_fault() const;
  [[nodiscard]] std::optional<ShownAddress> seen_fault() const;
  [[nodiscard]] bool find_nowhere() const;
  [[nodiscard]] bool fetch_faulted() const;
  [[nodiscard]] bool allows(const Access& access) const;

  const ProcessImage& image_;
  const Thread& thread_;
  const NamedWalk& walk_;
  std::string_view signal_;
  CodeValues* values_;
  Address pc_ = 0;
  Address sp_ = 0;
  std::string instruction_;
  std::optional<Operation> operation_;
  Accesses accesses_;
  bool is_nowhere_ = false;
  std::optional<ShownAddress> fault_;
};

// `main+14`, or an address where there is no name.
std::string named(const FrameFacts& facts);
// "rw-"
std::string permissions(const Mapping& mapping);

}  // namespace whocall
