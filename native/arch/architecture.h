// What an instruction set is, as data, by question. To add one: make a folder like aarch64 beside
// this file, and give it a row in architectures.cpp; CONTRIBUTING.md tells the steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "arch/abi.h"
#include "arch/code_model.h"
#include "arch/frame_model.h"
#include "arch/linkage.h"
#include "arch/minidump_form.h"
#include "arch/os_abi.h"
#include "arch/registers.h"
#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

struct Architecture {
  std::string_view name;                          // "x86_64": the word in JSON
  std::string_view family;                        // "x86": what several rows have in common
  std::span<const std::string_view> gdb_names{};  // see architecture_choice.h

  Abi abi;
  RegisterFile registers;
  FrameModel frame;
  CodeModel code;
  OsAbi os{};
  Linkage linkage{};
  MinidumpForm minidump{};

  [[nodiscard]] Address code_address(std::uint64_t word) const { return word & code.pointer_mask; }
  // All ones in the low pointer_size bytes: addresses wrap here.
  [[nodiscard]] Address address_mask() const {
    return abi.pointer_size >= 8 ? ~Address{0} : (Address{1} << (8 * abi.pointer_size)) - 1;
  }
  // From the stack word that holds a return address up to the CFA of the frame that returns there,
  // where nothing but convention tells.
  [[nodiscard]] std::int64_t cfa_above_return_slot() const {
    return frame.chain && frame.chain->kind != FrameChain::Kind::frame_record
               ? std::int64_t{frame.chain->cfa_offset} - frame.chain->return_address_offset
               : std::int64_t{registers.size};
  }
  [[nodiscard]] std::optional<Register> register_named(std::string_view register_name) const;
};

// All instruction sets that whocall knows.
std::span<const Architecture* const> architectures();

// By what an ELF header says; null when unknown.
const Architecture* find_architecture(const ElfIdentity& file);
// By our own name ("x86_64"); null when unknown.
const Architecture* find_architecture(std::string_view name);

// "x86_64, i386": the names of those that `has` is true of, for messages.
std::string architecture_names(bool (*has)(const Architecture&));

}  // namespace whocall
