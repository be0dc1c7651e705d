// What is known of the code in static libraries and in linked files: enough to recognise it in a
// program that was linked with those, or in another build of these, and to say where its
// references lead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/architecture.h"
#include "base/byte_view.h"
#include "symbols/signatures/linked_function.h"

namespace whocall {

// "None" where one of the indexes below is meant.
inline constexpr std::uint32_t kNoSignature = ~std::uint32_t{0};

// Texts are places in `SignatureSet::strings`; equal names have equal places.
using SignatureText = std::uint32_t;

// A section of code of one member. The linker copies it as one piece.
struct SignatureSection {
  std::uint32_t member = 0;
  SignatureText group = 0;              // ".text", ".text.unlikely": what linkers keep together
  std::uint32_t alignment = 1;          // bytes
  std::uint32_t code = 0;               // in `SignatureSet::bytes`
  std::uint32_t size = 0;               // bytes
  std::uint32_t anchor = kNoSignature;  // of eight fixed bytes that are rare in these libraries
  // Whether others may have brought the same code under other names: sections of groups, in which
  // compilers put the instances of templates.
  bool is_shared = false;
  std::uint32_t first_function = 0;
  std::uint32_t functions = 0;
  std::uint32_t first_relocation = 0;
  std::uint32_t relocations = 0;
};

struct SignatureFunction {
  std::uint32_t offset = 0;  // in its section, bytes; ascending
  std::uint32_t size = 0;    // bytes; 0 when the library does not say
  SignatureText name = 0;    // of several, the one to show
  // A name that nobody can take away: `name` unless that is weak, and then one that only its member
  // sees; empty where there is none.
  SignatureText sure_name = 0;
};

// What relocations refer to, and every name of code that other members can see.
struct SignatureSymbol {
  SignatureText name = 0;                // empty when no other member can see it
  std::uint32_t section = kNoSignature;  // of the code that it names
  std::uint32_t offset = 0;              // in that section
  // What stands there where it names constant data: in `SignatureSet::bytes`.
  std::uint32_t expected = 0;
  std::uint32_t expected_size = 0;
  bool is_hidden = false;    // meant for the library itself
  bool is_weak = false;      // others may define it instead
  bool is_indirect = false;  // its function chooses another one (STT_GNU_IFUNC)
};

struct SignatureRelocation {
  std::uint32_t offset = 0;  // in its section, bytes; ascending
  std::uint32_t type = 0;    // R_*
  std::uint32_t symbol = 0;
  std::int64_t addend = 0;
};

struct SignatureMember {
  SignatureText library = 0;
  SignatureText name = 0;
};

// A linked program or library whose functions have names.
struct SignatureBuild {
  SignatureText file = 0;      // its base name
  SignatureText build_id = 0;  // lower-case hex; empty when it has none
  SignatureText soname = 0;    // empty when it has none
  std::uint32_t first_function = 0;
  std::uint32_t functions = 0;  // in the order of their addresses
};

struct BuildFunction : LinkedFunction {
  SignatureText name = 0;  // empty where nothing names it
};

struct SignatureSet {
  const Architecture* arch = nullptr;
  std::vector<SignatureMember> members;
  std::vector<SignatureSection> sections;
  std::vector<SignatureFunction> functions;
  std::vector<SignatureSymbol> symbols;
  std::vector<SignatureRelocation> relocations;
  std::vector<SignatureBuild> builds;
  std::vector<BuildFunction> build_functions;
  std::vector<LinkedReference> build_references;
  std::vector<std::byte> bytes;
  std::string strings = std::string(1, '\0');  // each ends in a NUL; the first is empty

  [[nodiscard]] std::string_view text(SignatureText place) const { return strings.c_str() + place; }
  [[nodiscard]] ByteView code_of(const SignatureSection& section) const {
    return *ByteView(bytes, arch->abi.endian).slice(section.code, section.size);
  }
};

// The form of a relocation's type; null when the instruction set has none such.
const RelocationForm* form_of(const Architecture& arch, std::uint32_t type);

// Bytes [begin, end) of a section's code that the linker leaves as they are, ascending. The bytes
// between them depend on where things were put.
struct FixedBytes {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
std::vector<FixedBytes> fixed_bytes(const SignatureSet& set, const SignatureSection& section);

}  // namespace whocall
