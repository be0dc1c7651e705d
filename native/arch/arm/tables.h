// The tables of switches, which stand in the code behind the jumps that use them.
#pragma once

#include <vector>

#include "base/address.h"
#include "base/byte_view.h"
#include "base/code_reader.h"

namespace whocall::arm {

struct CaseTable {
  AddressRange words{};            // the table itself; empty where there is none
  std::vector<Address> targets{};  // where cases begin; empty where that is not known
};

// That of the jump at `address`, in the order of `data`. How many cases there are a comparison just
// before it must tell.
CaseTable case_table(const CodeReader& around, Address address, bool thumb,
                     Endian data = Endian::little);

// Of the tbb or tbh at the start of `code`, where no comparison tells: how long its table looks,
// bytes; 0 where that cannot be told, and for other instructions.
std::uint64_t length_by_cases(ByteView code, Endian data = Endian::little);

}  // namespace whocall::arm
