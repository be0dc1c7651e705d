// The words of a file's data that point to its code: to functions, to what runs before and after
// main, and to the cases of switches, which are no functions.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "arch/architecture.h"
#include "base/address.h"
#include "object/elf_file.h"

namespace whocall {

class InstructionDecoder;

// Link addresses throughout.
class CodePointers {
 public:
  // `areas` are the file's code; `tables` are addresses that its instructions take, tables of
  // cases among them. The file and the areas must outlive the object.
  CodePointers(const ElfFile& file, const Architecture& arch,
               const std::vector<AddressRange>& areas, std::vector<Address> tables);
  ~CodePointers();

  // Of init and fini arrays and functions.
  [[nodiscard]] std::span<const Address> initializers() const { return initializers_; }
  // Of what may be called through pointers; labels of computed jumps are among them.
  [[nodiscard]] std::span<const Address> functions() const { return functions_; }
  // Whether a table that an indirect jump may use points there.
  [[nodiscard]] bool is_case(Address address) const { return cases_.contains(address); }
  // All of these, in no order.
  [[nodiscard]] std::vector<Address> cases() const { return {cases_.begin(), cases_.end()}; }

 private:
  struct Pointer {
    Address where = 0;
    Address target = 0;
  };

  void read_initializers();
  void read_jump_tables();
  void read_relative_tables(std::vector<Address> tables);
  void read_tables_relative_to_got();
  void read_words();
  void read_words_of(const ElfSection& section);
  void consider(Address where, Address word);
  void sort_out_labels();
  [[nodiscard]] bool is_where_functions_begin(Address target) const;
  [[nodiscard]] bool stands_behind_last(Address target) const;
  [[nodiscard]] const AddressRange* area_of(Address address) const;
  [[nodiscard]] bool is_initializer_slot(Address where) const;

  const ElfFile& file_;
  const Architecture& arch_;
  const std::vector<AddressRange>& areas_;
  std::unique_ptr<InstructionDecoder> decoder_;  // null where the instruction set is not decoded
  std::vector<AddressRange> initializer_arrays_;
  std::vector<Address> initializers_;
  std::vector<Pointer> pointers_;  // candidates for functions
  std::vector<Address> functions_;
  std::unordered_set<Address> cases_;
};

}  // namespace whocall
