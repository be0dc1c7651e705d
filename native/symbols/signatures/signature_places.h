// Where in a program the code of signatures stands, and where its references lead there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "arch/instruction.h"
#include "base/address.h"
#include "object/elf_file.h"
#include "symbols/signatures/signature_index.h"

namespace whocall {

// A section of the libraries at a link address of the program, where its code and the constants
// that it refers to are the same.
struct SignaturePlace {
  std::uint32_t section = 0;
  Address address = 0;
  std::uint32_t weight = 0;  // how many bytes say so
};

struct SignatureReference {
  std::uint32_t symbol = 0;
  Address target = 0;      // of the symbol, in the program
  bool is_branch = false;  // a call or a jump: the target is code
  bool is_direct = true;   // not through a word of the global offset table
};

class SignatureProgram {
 public:
  // Both outlive the object.
  SignatureProgram(const ElfFile& file, const SignatureIndex& index);

  // Every place of the sections that have an anchor, ascending by address.
  [[nodiscard]] std::vector<SignaturePlace> find_places() const;

  // The place, if the section stands there.
  [[nodiscard]] std::optional<SignaturePlace> place_at(std::uint32_t section,
                                                       Address address) const;

  // Whether the code that the libraries have for a reference's name stands where it leads, with at
  // least so many bytes that say so.
  [[nodiscard]] bool leads_to_definition(const SignatureReference& reference,
                                         std::uint32_t weight) const;

  // Where the references of the section lead when it stands at `address`, as far as that follows
  // from the code.
  [[nodiscard]] std::vector<SignatureReference> references(std::uint32_t section,
                                                           Address address) const;

  [[nodiscard]] bool is_code(Address address) const { return code_end(address) != 0; }
  // Whether nothing but a jump through a word of the data stands there: a slot of the linkage
  // table.
  [[nodiscard]] bool is_stub(Address address) const;
  // Whether the range, which may be empty, holds only what fills gaps between functions.
  [[nodiscard]] bool is_padding(AddressRange range) const;
  [[nodiscard]] std::optional<std::uint8_t> byte_at(Address address) const {
    return file_.at(address).read<std::uint8_t>(0);
  }

 private:
  // Where the area of code ends that holds `address`; 0 when none does.
  [[nodiscard]] Address code_end(Address address) const;
  // Whether nothing but a jump to a fixed place stands there.
  [[nodiscard]] bool is_veneer(Address address) const;
  [[nodiscard]] bool has_code(std::uint32_t section, Address address) const;
  [[nodiscard]] std::optional<Address> got_of(const SignatureSection& section, ByteView code,
                                              Address address) const;
  [[nodiscard]] std::optional<SignatureReference> follow(const SignatureRelocation& relocation,
                                                         const RelocatedPlace& place) const;

  const ElfFile& file_;
  const SignatureIndex& index_;
  const SignatureSet& set_;
  std::vector<AddressRange> areas_;
  std::optional<Address> got_;
  std::unique_ptr<InstructionDecoder> decoder_;
};

}  // namespace whocall
