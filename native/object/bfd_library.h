// libbfd behind a narrow interface, in a plugin that is loaded when first needed: its soname is
// tied to one binutils release, and nothing but names of PLT slots and foreign file formats hangs
// on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "object/source_line.h"

namespace whocall {

struct BfdSymbol {
  std::string name;
  Address address = 0;       // link address
  std::uint64_t size = 0;    // bytes, 0 when unknown
  bool is_function = false;  // by BSF_FUNCTION, or in a code section
  bool global = false;       // global or weak binding
  bool weak = false;
  bool dynamic = false;
};

class BfdFile {
 public:
  BfdFile() = default;
  BfdFile(const BfdFile&) = delete;
  BfdFile& operator=(const BfdFile&) = delete;
  virtual ~BfdFile() = default;

  [[nodiscard]] virtual std::string format() const = 0;        // "elf64-x86-64", "pei-x86-64"
  [[nodiscard]] virtual std::vector<BfdSymbol> symbols() = 0;  // static and dynamic
  [[nodiscard]] virtual std::vector<BfdSymbol> synthetic_symbols() = 0;  // "puts@plt"
  // Source position of a link address, with the calls inlined there; empty without debug info.
  [[nodiscard]] virtual std::vector<SourceLine> lines_at(Address address) = 0;
};

class BfdLibrary {
 public:
  BfdLibrary() = default;
  BfdLibrary(const BfdLibrary&) = delete;
  BfdLibrary& operator=(const BfdLibrary&) = delete;
  virtual ~BfdLibrary() = default;

  // Throws Error when libbfd does not recognise the file.
  [[nodiscard]] virtual std::unique_ptr<BfdFile> open(const std::string& path) = 0;
  [[nodiscard]] virtual std::string version() const = 0;

  // The library, loaded at the first call; null when the plugin or libbfd cannot be loaded (then
  // `load_failure()` says why and what to do).
  static BfdLibrary* get();
  static std::string load_failure();
};

}  // namespace whocall
