// An instruction as assemblers write it, by the capstone library.
#pragma once

#include <capstone.h>

#include <string>

#include "base/address.h"
#include "base/byte_view.h"

namespace whocall {

// Of the instruction at the start of `code`, which stands at `address`; empty for what is none.
std::string assembly_text(cs_arch arch, cs_mode mode, ByteView code, Address address);

}  // namespace whocall
