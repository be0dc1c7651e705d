// The capstone library, opened for one dialect, and the instruction that it decoded last.
#pragma once

#include <capstone/capstone.h>

#include "arch/x86/operands.h"
#include "base/byte_view.h"

namespace whocall::x86 {

class LibraryHandle : protected Operands {
 public:
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;

 protected:
  explicit LibraryHandle(Dialect dialect) : Operands(dialect) {
    if (cs_open(CS_ARCH_X86, is_64_ ? CS_MODE_64 : CS_MODE_32, &handle_) == CS_ERR_OK) {
      cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
      decoded_ = cs_malloc(handle_);
    }
  }
  ~LibraryHandle() {
    if (decoded_ != nullptr) {
      cs_free(decoded_, 1);
    }
    if (handle_ != 0) {
      cs_close(&handle_);
    }
  }

  // Whether the library could be opened.
  [[nodiscard]] bool is_open() const { return decoded_ != nullptr; }
  // The instruction at the start of `code`, which stands at `address`; false where it knows none.
  bool decode_at(ByteView code, Address address) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.bytes().data());
    std::size_t size = code.size();
    std::uint64_t at = address;
    return is_open() && cs_disasm_iter(handle_, &bytes, &size, &at, decoded_);
  }

  csh handle_ = 0;
};

}  // namespace whocall::x86
