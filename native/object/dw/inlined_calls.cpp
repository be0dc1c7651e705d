#include "object/dw/inlined_calls.h"

#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr unsigned kMostScopes = 512;  // nested; damaged files may have any number

bool is_scope(int tag) {
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
         tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

bool has_addresses(Dwarf_Die& die) {
  return dwarf_hasattr(&die, DW_AT_low_pc) != 0 || dwarf_hasattr(&die, DW_AT_ranges) != 0;
}

class ChainSearch {
 public:
  ChainSearch(std::vector<Dwarf_Die>& chain, Address address) : chain_(chain), address_(address) {}

  // Adds what is inlined in `scope`; whether there is any.
  bool descend(Dwarf_Die scope, unsigned depth) {
    Dwarf_Die child;
    if (depth >= kMostScopes || dwarf_child(&scope, &child) != 0) {
      return false;
    }
    do {
      if (!walk_.takes(child)) {
        return false;
      }
      check_interrupt_at(turns_++, kManyEntries);
      const int tag = dwarf_tag(&child);
      if (!is_scope(tag)) {
        continue;
      }
      if (dwarf_haspc(&child, address_) > 0) {
        if (tag == DW_TAG_inlined_subroutine) {
          chain_.push_back(child);
        }
        descend(child, depth + 1);
        return true;
      }
      // A block without addresses is as if it were not there.
      if (tag == DW_TAG_lexical_block && !has_addresses(child) && descend(child, depth + 1)) {
        return true;
      }
    } while (step_to_sibling(child));
    return false;
  }

 private:
  std::vector<Dwarf_Die>& chain_;
  Address address_;
  ForwardWalk walk_;
  std::size_t turns_ = 0;
};

}  // namespace

std::vector<Dwarf_Die> inlined_chain(const Dwarf_Die& function, Address address) {
  std::vector<Dwarf_Die> chain{function};
  ChainSearch(chain, address).descend(function, 0);
  return chain;
}

std::string function_name(Dwarf_Die& die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (const char* name = string_of(die, attribute); name != nullptr && *name != '\0') {
      return name;
    }
  }
  return {};
}

}  // namespace whocall
